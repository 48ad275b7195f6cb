"""A chat in which every single call waits for its turn within the budget; answers to people take theirs in the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from bot.domain.address import Address, MessageRef, Place
from bot.domain.chat import Capabilities, Chat, FloodWait
from bot.domain.clock import WaitingClock
from bot.domain.outgoing import Message, Turn, at_once
from bot.outbox.rate_limit import ChatRateLimit, ChatRateLimits, Urgency


class RateLimitedChat:
    """A chat as its actor uses it. A message of several parts takes a turn for each of them.

    When something silent may begin is asked with `delay`; what was begun goes on as urgently as the line is.
    `pace_of` gives the pace of a place; it begins at `place` and follows what is sent.
    """

    def __init__(
        self,
        chat: Chat,
        pace_of: Callable[[Address], ChatRateLimit],
        place: Address,
        time: WaitingClock,
        urgency: Urgency = Urgency.LOUD,
    ) -> None:
        self.chat = chat
        self._urgency = urgency
        self._pace_of = pace_of
        self._pace = pace_of(place)
        self._time = time
        self._hurry = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        """What the platform can do."""
        return self.chat.capabilities

    @property
    def silent_until(self) -> float:
        """Unix seconds until which the platform asked for silence."""
        return self._pace.silent_until

    def delay(self, urgency: Urgency) -> float:
        """Seconds until something of that urgency may begin."""
        return self._pace.delay(urgency)

    def hurry(self) -> None:
        """The service stops: what is being sent is finished at once."""
        self._hurry.set()

    async def ready(self) -> None:
        """Wait until the next call may go out. Raises FloodWait when the platform asked for silence."""
        while not self._hurry.is_set() and (wait := self._pace.delay(self._urgency)) > 0:
            if self._pace.silent() > 0:
                raise FloodWait(self._pace.silent())
            await self._time.rest(self._hurry, wait)

    async def send(self, place: Address, message: Message, *, nonce: str) -> MessageRef:
        """See `Chat.send`."""
        self._pace = self._pace_of(place)
        try:
            return await self.chat.send(place, message, nonce=nonce, turn=self.turn)
        except FloodWait as flood:
            self._pace.silence(flood.seconds)
            raise

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """See `Chat.edit`."""
        self._pace = self._pace_of(ref.address)
        try:
            await self.chat.edit(ref, message, turn=self.turn)
        except FloodWait as flood:
            self._pace.silence(flood.seconds)
            raise

    async def close(self, place: Address) -> None:
        """See `Chat.close_place`."""
        try:
            await self.chat.close_place(place)
        except FloodWait as flood:
            self._pace.silence(flood.seconds)
            raise

    async def turn(self) -> None:
        """Wait as `ready` does, and count the call that goes out now."""
        await self.ready()
        self._pace.spent()


class ReplyTurns:
    """Gives what an answer at a place waits for. `chats` is by platform and may grow."""

    def __init__(self, paces: ChatRateLimits, chats: Mapping[str, Chat], time: WaitingClock) -> None:
        self._paces = paces
        self._chats = chats
        self._time = time

    def __call__(self, place: Place) -> Turn:
        """The turn of the place's conversation; it raises FloodWait while the platform wants silence there."""
        return self._turn(place, Urgency.ANSWER)

    def for_a_press(self, place: Place) -> Turn:
        """The turn for the change of a pressed message, which somebody looks at: it waits for no reserve."""
        return self._turn(place, Urgency.LOUD)

    def _turn(self, place: Place, urgency: Urgency) -> Turn:
        chat = self._chats.get(place.address.platform)
        if chat is None:
            return at_once

        def pace_of(address: Address) -> ChatRateLimit:
            return self._paces.of(chat.capabilities, address, group=not place.private)

        return RateLimitedChat(chat, pace_of, place.address, self._time, urgency).turn
