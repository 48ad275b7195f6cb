"""How often a chat may hear from the bot: every call that sends or edits is counted, in windows as chats count them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.chats.base import Address, Budget, Capabilities

RESERVE = 4
"""One part in so many of a budget is kept free for what notifies: cards and steps do not touch it."""


class Window:
    """At most so many calls within any span of so many seconds."""

    def __init__(self, budget: Budget, clock: Callable[[], float]) -> None:
        self._budget = budget
        self._clock = clock
        self._times: deque[float] = deque()

    def spent(self) -> None:
        """A call goes out now."""
        self._times.append(self._clock())

    def delay(self, *, loud: bool) -> float:
        """Seconds until a call may go out; what is silent leaves the reserve untouched."""
        now, span, calls = self._clock(), self._budget.seconds, self._budget.calls
        while self._times and self._times[0] + span <= now:
            self._times.popleft()
        free = calls if loud else calls - calls // RESERVE
        return 0.0 if len(self._times) < free else self._times[-free] + span - now


class Account:
    """What all chats of one bot account share."""

    def __init__(self, budgets: Sequence[Budget], clock: Callable[[], float]) -> None:
        self.windows = tuple(Window(budget, clock) for budget in budgets)


class Pace:
    """The budget of one conversation within that of its account. A flood answer means silence, for everything."""

    def __init__(
        self, capabilities: Capabilities, clock: Callable[[], float], *, group: bool, account: Account | None = None
    ) -> None:
        self._interval = capabilities.edit_interval_group if group else capabilities.edit_interval
        self._clock = clock
        budgets = capabilities.group_budgets if group else capabilities.chat_budgets
        shared = account.windows if account is not None else ()
        self._windows = (*(Window(budget, clock) for budget in budgets), *shared)
        self._last = float("-inf")
        self.silent_until = float("-inf")
        """Unix seconds until which the platform asked for silence."""

    def spent(self) -> None:
        """A call goes out now."""
        self._last = self._clock()
        for window in self._windows:
            window.spent()

    def silence(self, seconds: float) -> None:
        """The platform asked for silence."""
        self.silent_until = max(self.silent_until, self._clock() + seconds)

    def silent(self) -> float:
        """Seconds of silence that are left."""
        return max(0.0, self.silent_until - self._clock())

    def delay(self, *, loud: bool) -> float:
        """Seconds until the next call for something that notifies (`loud`), or for something silent; 0 for now."""
        waits = [self.silent(), *(window.delay(loud=loud) for window in self._windows)]
        if not loud:
            waits.append(self._last + self._interval - self._clock())
        return max(0.0, *waits)


class Paces:
    """The paces of all conversations. Whatever goes out to one, an answer to a person too, shares its pace."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._paces: dict[Address, Pace] = {}
        self._accounts: dict[tuple[str, str], Account] = {}

    def of(self, capabilities: Capabilities, place: Address, *, group: bool) -> Pace:
        """The pace of the conversation to which the place belongs; the threads of a chat share it."""
        conversation = replace(place, thread="")
        if (pace := self._paces.get(conversation)) is None:
            key = (place.platform, place.account)
            account = self._accounts.setdefault(key, Account(capabilities.account_budgets, self._clock))
            pace = Pace(capabilities, self._clock, group=group, account=account)
            self._paces[conversation] = pace
        return pace
