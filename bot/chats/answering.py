"""What a person reads in answer to their message, the same on every platform."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol

from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatGone, FloodWait
from bot.domain.outgoing import Message, Reply, Turn

WAIT_SECONDS: Final = 60.0
"""A reply to a person waits through a flood limit that is not longer than this; ours."""


class Answering(Protocol):
    """How a platform answers below a person's message."""

    async def react(self, ref: MessageRef) -> None:
        """Show on the message that it was seen, where that goes."""
        ...

    async def tell(self, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
        """Send the message in answer to the one it stands below."""
        ...


class Sending(Protocol):
    """What can send to a place, and privately to a person."""

    async def react(self, ref: MessageRef) -> None:
        """See `Answering.react`."""
        ...

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn) -> MessageRef:
        """See `Chat.send`."""
        ...

    async def private(self, place: Address, person: Person) -> Address:
        """See `Chat.private_place`."""
        ...


@dataclass(frozen=True, slots=True)
class Below:
    """Answers a person below their message, or privately where the bot may read but not write."""

    sender: Sending
    person: Person

    async def react(self, ref: MessageRef) -> None:
        """See `Answering.react`."""
        await self.sender.react(ref)

    async def tell(self, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
        """See `Answering.tell`."""
        reply = below(own, message)
        try:
            await patiently(lambda: self.sender.send(own.address, reply, nonce=nonce, turn=turn))
        except ChatGone:
            if not own.address.guild:
                raise
            private = await self.sender.private(own.address, self.person)
            await self.sender.send(private, reply, nonce=nonce, turn=turn)


def message_of(reply: Reply) -> Message | None:
    """What the reply says, its toast as a message; None when it says nothing."""
    return reply.message or (Message(body=reply.toast) if reply.toast else None)


def below(ref: MessageRef, message: Message) -> Message:
    """The message as a silent reply to `ref`."""
    return replace(message, reply_to=ref, notify=False, mention=None)


async def patiently(send: Callable[[], Awaitable[object]]) -> None:
    """Send it, and once more after a short flood limit: nobody else would send it later."""
    try:
        await send()
    except FloodWait as flood:
        if flood.seconds > WAIT_SECONDS:
            raise
        await asyncio.sleep(flood.seconds)
        await send()


async def answer(chat: Answering, own: MessageRef, reply: Reply, lost: str) -> None:
    """Answer a person's message `own`; `lost` tells which of its files were left behind."""
    where = f"{own.address.chat}:{own.message}"
    if reply.task or reply.mark_suffices:
        await chat.react(own)
    said = message_of(reply)
    if said is not None and not reply.task and not reply.mark_suffices:
        await chat.tell(own, said, f"reply:{where}", reply.turn)
    # Said only to people who are answered at all: strangers must not learn that a bot listens here.
    if lost and (reply.task or said is not None):
        await chat.tell(own, Message(body=lost), f"lost:{where}", reply.turn)
