"""Rate limits of chats: every call that sends or edits is counted, in the windows that the platforms use."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from bot.domain.address import Address, MessageRef, Place
from bot.domain.chat import Budget, Capabilities, Chat, FloodWait
from bot.domain.clock import WaitingClock
from bot.domain.outgoing import Message, Turn, at_once


class Urgency(Enum):
    """What a call is for. The value is the share of a budget that it leaves to more urgent calls."""

    LOW = 1 / 4
    """Cards and steps: the next one tells the same."""
    ANSWER = 1 / 10
    """Answers to what people type and press, which may be as often as they like."""
    URGENT = 0.0
    """Questions, notices and final messages."""


class Window:
    """A rate limit: at most so many calls within any span of so many seconds."""

    def __init__(self, budget: Budget, clock: Callable[[], float]) -> None:
        self._budget = budget
        self._clock = clock
        self._times: deque[float] = deque(maxlen=budget.calls)

    def spent(self) -> None:
        """Count a call that goes out now."""
        self._times.append(self._clock())

    def delay(self, urgency: Urgency) -> float:
        """Seconds until a call may go out. If the budget is too small to reserve a share, the wait is longer
        instead.
        """
        kept = int(self._budget.calls * urgency.value)
        free = self._budget.calls - kept
        if len(self._times) < free:
            return 0.0
        span = self._budget.seconds * (1.0 if kept else 1.0 + urgency.value)
        return max(0.0, self._times[-free] + span - self._clock())


class Account:
    """The rate limit that all chats of one bot account share."""

    def __init__(self, budgets: Sequence[Budget], clock: Callable[[], float]) -> None:
        self.windows = tuple(Window(budget, clock) for budget in budgets)


class ChatRateLimit:
    """The budget of one conversation within that of its account. After a flood error, everything waits."""

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
        """Count a call that goes out now."""
        self._last = self._clock()
        for window in self._windows:
            window.spent()

    def silence(self, seconds: float) -> None:
        """Record that the platform asked for silence."""
        self.silent_until = max(self.silent_until, self._clock() + seconds)

    def silent(self) -> float:
        """Seconds of silence that remain."""
        return max(0.0, self.silent_until - self._clock())

    def delay(self, urgency: Urgency) -> float:
        """Seconds until the next call of this urgency may go out; 0 for now."""
        waits = [self.silent(), *(window.delay(urgency) for window in self._windows)]
        if urgency is Urgency.LOW:
            waits.append(self._last + self._interval - self._clock())
        return max(0.0, *waits)


class ChatRateLimits:
    """The rate limits of all conversations. Everything sent to a conversation shares its limit, answers to people
    included.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._rate_limits: dict[Address, ChatRateLimit] = {}
        self._accounts: dict[tuple[str, str], Account] = {}

    def of(self, capabilities: Capabilities, place: Address, *, group: bool) -> ChatRateLimit:
        """The rate limit of a place: that of its chat, unless threads have their own."""
        conversation = place if capabilities.threads_apart else replace(place, thread="")
        if (rate_limit := self._rate_limits.get(conversation)) is None:
            key = (place.platform, place.account)
            account = self._accounts.setdefault(key, Account(capabilities.account_budgets, self._clock))
            rate_limit = ChatRateLimit(capabilities, self._clock, group=group, account=account)
            self._rate_limits[conversation] = rate_limit
        return rate_limit


class RateLimitedChat:
    """A chat as its actor uses it, within the rate limits. Each part of a message takes a turn.

    `delay` says when something silent may begin; what has begun continues at the urgency of the chat. `rate_limit_of`
    returns the limit of a place; it begins at `place` and follows what is sent.
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
        """Unix seconds until which the platform asked for silence."""
        return self._rate_limit.silent_until

    def delay(self, urgency: Urgency) -> float:
        """Seconds until something of this urgency may begin."""
        return self._rate_limit.delay(urgency)

    def hurry(self) -> None:
        """Finish at once what is being sent, because the service stops."""
        self._hurry.set()

    async def ready(self) -> None:
        """Wait until the next call may go out. Raises FloodWait if the platform has asked for silence."""
        while not self._hurry.is_set() and (wait := self._rate_limit.delay(self._urgency)) > 0:
            if self._rate_limit.silent() > 0:
                raise FloodWait(self._rate_limit.silent())
            await self._time.rest(self._hurry, wait)

    async def send(self, place: Address, message: Message, *, nonce: str) -> MessageRef:
        """Send a message within the rate limits; see `Chat.send`."""
        self._rate_limit = self._rate_limit_of(place)
        try:
            return await self.chat.send(place, message, nonce=nonce, turn=self.turn)
        except FloodWait as flood:
            self._rate_limit.silence(flood.seconds)
            raise

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """Edit a message within the rate limits; see `Chat.edit`."""
        self._rate_limit = self._rate_limit_of(ref.address)
        try:
            await self.chat.edit(ref, message, turn=self.turn)
        except FloodWait as flood:
            self._rate_limit.silence(flood.seconds)
            raise

    async def close(self, place: Address) -> None:
        """Close the task's place; see `Chat.close_place`."""
        try:
            await self.chat.close_place(place)
        except FloodWait as flood:
            self._rate_limit.silence(flood.seconds)
            raise

    async def turn(self) -> None:
        """Wait as `ready` does, and count the call that goes out now."""
        await self.ready()
        self._rate_limit.spent()


class ReplyTurns:
    """Makes the turns that answers at a place wait for. `chats` is by platform and may grow."""

    def __init__(self, rate_limits: ChatRateLimits, chats: Mapping[str, Chat], time: WaitingClock) -> None:
        self._rate_limits = rate_limits
        self._chats = chats
        self._time = time

    def __call__(self, place: Place) -> Turn:
        """The turn for answers at this place; it raises FloodWait while the platform wants silence there."""
        return self._turn(place, Urgency.ANSWER)

    def for_a_press(self, place: Place) -> Turn:
        """The turn for editing a pressed message, which a person is looking at: it leaves no reserve."""
        return self._turn(place, Urgency.URGENT)

    def _turn(self, place: Place, urgency: Urgency) -> Turn:
        chat = self._chats.get(place.address.platform)
        if chat is None:
            return at_once

        def rate_limit_of(address: Address) -> ChatRateLimit:
            return self._rate_limits.of(chat.capabilities, address, group=not place.private)

        return RateLimitedChat(chat, rate_limit_of, place.address, self._time, urgency).turn
