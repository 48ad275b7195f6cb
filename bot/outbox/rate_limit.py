"""How often a chat may hear from the bot: every call that sends or edits is counted, in windows as chats count them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

from bot.domain.address import Address
from bot.domain.chat import Budget, Capabilities


class Urgency(Enum):
    """What a call is for. The value is the part of a budget that it leaves to what is more urgent."""

    SILENT = 1 / 4
    """Cards and steps: the next one tells the same."""
    ANSWER = 1 / 10
    """Answers to what people type and press, which may be as often as they like."""
    LOUD = 0.0
    """Questions, notices and final messages."""


class Window:
    """At most so many calls within any span of so many seconds."""

    def __init__(self, budget: Budget, clock: Callable[[], float]) -> None:
        self._budget = budget
        self._clock = clock
        self._times: deque[float] = deque(maxlen=budget.calls)

    def spent(self) -> None:
        """A call goes out now."""
        self._times.append(self._clock())

    def delay(self, urgency: Urgency) -> float:
        """Seconds until a call may go out. A budget too small to leave a part of it is left alone that much longer."""
        kept = int(self._budget.calls * urgency.value)
        free = self._budget.calls - kept
        if len(self._times) < free:
            return 0.0
        span = self._budget.seconds * (1.0 if kept else 1.0 + urgency.value)
        return max(0.0, self._times[-free] + span - self._clock())


class Account:
    """What all chats of one bot account share."""

    def __init__(self, budgets: Sequence[Budget], clock: Callable[[], float]) -> None:
        self.windows = tuple(Window(budget, clock) for budget in budgets)


class ChatRateLimit:
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

    def delay(self, urgency: Urgency) -> float:
        """Seconds until the next call of that urgency; 0 for now."""
        waits = [self.silent(), *(window.delay(urgency) for window in self._windows)]
        if urgency is Urgency.SILENT:
            waits.append(self._last + self._interval - self._clock())
        return max(0.0, *waits)


class ChatRateLimits:
    """The paces of all conversations. Whatever goes out to one, an answer to a person too, shares its pace."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._paces: dict[Address, ChatRateLimit] = {}
        self._accounts: dict[tuple[str, str], Account] = {}

    def of(self, capabilities: Capabilities, place: Address, *, group: bool) -> ChatRateLimit:
        """The pace of the place: that of its chat, unless threads have one of their own."""
        conversation = place if capabilities.threads_apart else replace(place, thread="")
        if (pace := self._paces.get(conversation)) is None:
            key = (place.platform, place.account)
            account = self._accounts.setdefault(key, Account(capabilities.account_budgets, self._clock))
            pace = ChatRateLimit(capabilities, self._clock, group=group, account=account)
            self._paces[conversation] = pace
        return pace
