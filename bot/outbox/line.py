"""The way to one conversation: every single call waits for its turn within the budget."""

from __future__ import annotations

import asyncio

from bot.chats.address import Address, MessageRef
from bot.chats.base import Capabilities, Chat, FloodWait
from bot.chats.outgoing import Message
from bot.outbox.clockwork import Clockwork
from bot.outbox.pace import Pace, Urgency


class Line:
    """A chat as its actor uses it. A message of several parts takes a turn for each of them.

    When something silent may begin is asked with `delay`; what was begun goes on as urgently as the line is.
    """

    def __init__(self, chat: Chat, pace: Pace, time: Clockwork, urgency: Urgency = Urgency.LOUD) -> None:
        self.chat = chat
        self._urgency = urgency
        self._pace = pace
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
        try:
            return await self.chat.send(place, message, nonce=nonce, turn=self.turn)
        except FloodWait as flood:
            self._pace.silence(flood.seconds)
            raise

    async def edit(self, ref: MessageRef, message: Message) -> None:
        """See `Chat.edit`."""
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
