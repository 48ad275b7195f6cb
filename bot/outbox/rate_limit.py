"""Rate limits of chats: counts every sent or edited message in the time windows that the platforms use."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum

from bot.domain.address import Address, MessageRef, Place
from bot.domain.chat import Budget, Capabilities, Chat, FloodWait
from bot.domain.clock import WaitingClock
from bot.domain.outgoing import Message, Turn, at_once


class Urgency(Enum):
    """What a call to the platform is for. The value is the share of the rate limit that is reserved for more urgent
    calls.
    """

    LOW = 1 / 4
    """Cards and steps: the next one contains the same information."""
    ANSWER = 1 / 10
    """Answers to what people type and press, which may be frequent."""
    URGENT = 0.0
    """Questions, notices and final messages."""


class Window:
    """Counts the calls of one rate limit: at most `Budget.calls` within any `Budget.seconds`."""

    def __init__(self, budget: Budget, clock: Callable[[], float]) -> None:
        self._budget = budget
        self._clock = clock
        self._times: deque[float] = deque(maxlen=budget.calls)

    def count_call(self) -> None:
        """Count a call to the platform that is made now."""
        self._times.append(self._clock())

    def delay(self, urgency: Urgency) -> float:
        """Return the seconds until a call of this urgency may be made.

        A limit too small to reserve a share of it for urgent calls makes less urgent ones wait longer instead.
        """
        kept = int(self._budget.calls * urgency.value)
        free = self._budget.calls - kept
        if len(self._times) < free:
            return 0.0
        span = self._budget.seconds * (1.0 if kept else 1.0 + urgency.value)
        return max(0.0, self._times[-free] + span - self._clock())


def windows(budgets: Sequence[Budget], clock: Callable[[], float]) -> tuple[Window, ...]:
    """Return a new window for each of these rate limits."""
    return tuple(Window(budget, clock) for budget in budgets)


class ChatRateLimit:
    """The rate limits of one conversation and of its `account`, which all its chats share. While the platform demands
    silence, all calls wait.
    """

    def __init__(
        self, capabilities: Capabilities, clock: Callable[[], float], *, group: bool, account: Sequence[Window] = ()
    ) -> None:
        self._interval = capabilities.edit_interval_group if group else capabilities.edit_interval
        self._clock = clock
        own = windows(capabilities.group_budgets if group else capabilities.chat_budgets, clock)
        self._windows = (*own, *account)
        self._last = float("-inf")
        self.silent_until = float("-inf")
        """Unix seconds until which the platform asked for silence."""

    def count_call(self) -> None:
        """Count a call to the platform that is made now, also in the account's rate limits."""
        self._last = self._clock()
        for window in self._windows:
            window.count_call()

    def silence(self, seconds: float) -> None:
        """Record that the platform demands that nothing be sent for `seconds`."""
        self.silent_until = max(self.silent_until, self._clock() + seconds)

    def silent(self) -> float:
        """Return the remaining seconds of the silence that the platform demands; 0 if there is none."""
        return max(0.0, self.silent_until - self._clock())

    def delay(self, urgency: Urgency) -> float:
        """Return the seconds until the next call of this urgency may be made; 0 for now."""
        waits = [self.silent(), *(window.delay(urgency) for window in self._windows)]
        if urgency is Urgency.LOW:
            waits.append(self._last + self._interval - self._clock())
        return max(0.0, *waits)


class ChatRateLimits:
    """The rate limits of all conversations. Everything sent to a conversation counts in the same limit, answers to
    people included.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rate_limits: dict[Address, ChatRateLimit] = {}
        self._accounts: dict[tuple[str, str], Sequence[Window]] = {}

    def of(self, capabilities: Capabilities, place: Address, *, group: bool) -> ChatRateLimit:
        """Return the rate limit of a place: that of its chat, unless threads have limits of their own. `group` says
        whether the chat is a group.
        """
        conversation = place if capabilities.threads_apart else replace(place, thread="")
        if (rate_limit := self._rate_limits.get(conversation)) is None:
            key = (place.platform, place.account)
            account = self._accounts.setdefault(key, windows(capabilities.account_budgets, self._clock))
            rate_limit = ChatRateLimit(capabilities, self._clock, group=group, account=account)
            self._rate_limits[conversation] = rate_limit
        return rate_limit


class RateLimitedChat:
    """A chat whose calls wait for the rate limits. Each part of a message is counted separately.

    `rate_limit_of` returns the limit of a place. The current limit is that of `place` at first, then that of the last
    call. `urgency` is that of the calls made here.
    """

    def __init__(
        self,
        chat: Chat,
        rate_limit_of: Callable[[Address], ChatRateLimit],
        place: Address,
        time: WaitingClock,
        urgency: Urgency = Urgency.URGENT,
    ) -> None:
        self.chat = chat
        self._urgency = urgency
        self._rate_limit_of = rate_limit_of
        self._rate_limit = rate_limit_of(place)
        self._time = time
        self._hurry = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        """What the platform can do."""
        return self.chat.capabilities

    @property
    def silent_until(self) -> float:
        """The Unix time until which the platform demands that nothing be sent; in the past if it does not."""
        return self._rate_limit.silent_until

    def delay(self, urgency: Urgency) -> float:
        """Return the seconds until a call of this urgency may begin."""
        return self._rate_limit.delay(urgency)

    def hurry(self) -> None:
        """Send without waiting from now on, because the service stops."""
        self._hurry.set()

    async def ready(self) -> None:
        """Wait until the next call may be made. Raises FloodWait if the platform demands silence."""
        while not self._hurry.is_set() and (wait := self._rate_limit.delay(self._urgency)) > 0:
            if self._rate_limit.silent() > 0:
                raise FloodWait(self._rate_limit.silent())
            await self._time.rest(self._hurry, wait)

    async def send(self, place: Address, message: Message, *, nonce: str) -> MessageRef:
        """Send a message within the rate limits; see `Chat.send`."""
        self._rate_limit = self._rate_limit_of(place)
        with self._heeding_floods():
            return await self.chat.send(place, message, nonce=nonce, turn=self.turn)

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Edit a message within the rate limits; see `Chat.edit`."""
        self._rate_limit = self._rate_limit_of(ref.address)
        with self._heeding_floods():
            await self.chat.edit(ref, message, turn=self.turn)

    async def close(self, place: Address) -> None:
        """Close a task's place; see `Chat.close_place`."""
        with self._heeding_floods():
            await self.chat.close_place(place)

    @contextmanager
    def _heeding_floods(self) -> Iterator[None]:
        try:
            yield
        except FloodWait as flood:
            self._rate_limit.silence(flood.seconds)
            raise

    async def turn(self) -> None:
        """Wait until the next call may be made, and count it. Raises FloodWait if the platform demands silence."""
        await self.ready()
        self._rate_limit.count_call()


class ReplyTurns:
    """Makes the turns (functions to await before sending) for answers to people, so that these respect the rate
    limits.

    `chats` are the connected chats by platform and may grow.
    """

    def __init__(self, rate_limits: ChatRateLimits, chats: Mapping[str, Chat], time: WaitingClock) -> None:
        self._rate_limits = rate_limits
        self._chats = chats
        self._time = time

    def __call__(self, place: Place, urgency: Urgency = Urgency.ANSWER) -> Turn:
        """Return the turn for answers at this place. The turn raises FloodWait while the platform demands silence
        there.
        """
        chat = self._chats.get(place.address.platform)
        if chat is None:
            return at_once

        def rate_limit_of(address: Address) -> ChatRateLimit:
            return self._rate_limits.of(chat.capabilities, address, group=not place.private)

        return RateLimitedChat(chat, rate_limit_of, place.address, self._time, urgency).turn
