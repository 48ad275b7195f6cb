"""The rules for what people write and press, the same on every platform: whether a message comes too late to be acted
on without asking, whether its event is confirmed to the platform, and how it is answered.

Platforms deliver an unconfirmed event once more: to this service, or to the one that takes over its record (the stored
data). So a message that was written while the record was unreachable is not lost.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, replace
from typing import Final, Protocol

from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import ChatError, ChatGone, FloodWait, Record
from bot.domain.incoming import orders_work
from bot.domain.outgoing import Message, Reply, Turn, at_once

logger = logging.getLogger(__name__)

STALE_SECONDS: Final = 300.0
"""Age in seconds at which a message (sent while the service or connection was down) is listed instead of executed;
our choice. Longer than a restart or an update takes, shorter than people wait before they do it on the phone
themselves.
"""

_DOUBT_SECONDS: Final = 1.0
"""Uncertainty of a message's time: some platforms give whole seconds."""


class Lateness:
    """Judges messages by their age, and by when this process began to listen. `clock` returns Unix seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._began = clock()

    def is_late(self, written: float) -> bool:
        """Return whether a message written at this time (Unix seconds) is too old to be acted on without asking."""
        return self._clock() - written > STALE_SECONDS

    def is_stale(self, written: float, command: str | None) -> bool:
        """Return whether a person must confirm the message before it is acted on: because it is too old, or because it
        was written before this process began. `command` is the command in it, None for other text.

        An earlier process may have acted on such a message and been killed before it could confirm that to the
        platform. Only the command `do`, which starts a task, is exempt: a repeated one is recognised by its event id.
        """
        return self.is_late(written) or (written + _DOUBT_SECONDS < self._began and not orders_work(command))


class NotAccepted(Exception):
    """Raised for an event that could not be processed because the record (the stored data) does not answer: the
    platform must get no confirmation.
    """


async def accepted(work: Awaitable[None], title: str, kind: str = "event") -> bool:
    """Handle an event, and return whether it was accepted. Errors are logged, because delivering it again would not
    help; `title` is the platform's name and `kind` what it calls an event.
    """
    try:
        await work
    except NotAccepted:
        return False
    except (ChatError, FloodWait) as refused:
        logger.warning("The answer to somebody on %s was not delivered: %s", title, refused)
    except Exception:
        logger.exception("An %s from %s was lost because of a fault in the program", kind, title)
    return True


async def not_accepted(works: Collection[asyncio.Task[bool]], record: Record) -> set[asyncio.Task[bool]]:
    """Return those of the works whose events must be delivered again; each work returns whether its event was accepted.

    An unfinished work, such as a large download, counts as accepted while the record answers, so that it delays no
    other event. If the record does not answer, it counts as not accepted, because it may be waiting for the record.
    """
    answers = all(work.done() for work in works) or await record.answers()
    return {work for work in works if not (was_accepted(work) if work.done() else answers)}


def was_accepted(work: asyncio.Task[bool]) -> bool:
    """Return whether a finished work has accepted its event."""
    return not work.cancelled() and work.exception() is None and work.result()


WAIT_SECONDS: Final = 60.0
"""Longest flood limit, in seconds, that a reply to a person waits for; our choice."""


class Responder(Protocol):
    """Sends answers below a person's message, in the way of one platform."""

    async def react(self, ref: MessageRef) -> None:
        """Add a reaction to the message to show that it was seen, where the platform allows it."""

    async def tell(self, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
        """Send `message` as the answer to the person's message `own`. `nonce` identifies the answer, so that it is not
        sent twice; `turn` is awaited before it is sent.
        """


class Sending(Protocol):
    """Sends, edits and deletes messages in the way of one platform."""

    async def react(self, ref: MessageRef) -> None:
        """Show a reaction on a message; see `Responder.react`."""

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send a message to a place; see `Chat.send`."""

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn) -> None:
        """Replace the contents of a message; see `Chat.edit`."""

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message; see `Chat.delete`."""

    async def private(self, place: Address, person: Person) -> Address:
        """Return the private chat with a person; see `Chat.private_place`."""


@dataclass(frozen=True, slots=True)
class MessageResponder:
    """Answers a person below their message, or in their private chat if the bot may only read where they wrote."""

    sender: Sending
    person: Person

    async def react(self, ref: MessageRef) -> None:
        """React to the person's message; see `Responder.react`."""
        await self.sender.react(ref)

    async def tell(self, own: MessageRef, message: Message, nonce: str, turn: Turn) -> None:
        """Send the answer below the person's message or, if the bot may not write in that channel, privately; see
        `Responder.tell`.
        """
        reply = as_reply(own, message)
        try:
            await send_with_retry(lambda: self.sender.send(own.address, reply, nonce=nonce, turn=turn))
        except ChatGone:
            if not own.address.guild:
                raise
            private = await self.sender.private(own.address, self.person)
            await self.sender.send(private, reply, nonce=nonce, turn=turn)


def message_of(reply: Reply) -> Message | None:
    """Return the message of a reply, else its toast (a short pop-up text) as a message; None if the reply
    says nothing.
    """
    return reply.message or (Message(body=reply.toast) if reply.toast else None)


async def changed(
    reply: Reply,
    ref: MessageRef,
    edit: Callable[..., Awaitable[None]],
    without_buttons: Callable[..., Awaitable[None]],
) -> bool:
    """Update the pressed message as the reply says. Returns False if it stays unchanged."""
    try:
        if reply.shown is not None:
            await edit(ref, reply.shown, turn=reply.change_turn)
        elif reply.dead:
            await without_buttons(ref, turn=reply.change_turn)
    except (ChatError, FloodWait) as refused:
        logger.info("A pressed message stays as it is for now: %s", refused)
        return False
    return reply.shown is not None or reply.dead


def as_reply(ref: MessageRef, message: Message) -> Message:
    """Return a copy of the message as a reply to `ref` that notifies and mentions nobody."""
    return replace(message, reply_to=ref, notify=False, mention=None)


async def send_with_retry(send: Callable[[], Awaitable[object]]) -> None:
    """Call `send`. If the platform's rate limit refuses it for a short time, wait and call it once more: nothing else
    would repeat it.
    """
    try:
        await send()
    except FloodWait as flood:
        if flood.seconds > WAIT_SECONDS:
            raise
        await asyncio.sleep(flood.seconds)
        await send()


async def answer(chat: Responder, own: MessageRef, reply: Reply, lost: str) -> None:
    """Answer a person's message `own` as `reply` says: with a reaction if a task was started or a mark suffices, else
    with its message, if there is one. `lost` is a text about attached files that were not accepted, "" if there were
    none; it is sent as well if a task was started or the reply says anything.
    """
    where = f"{own.address.chat}:{own.message}"
    if reply.task or reply.mark_suffices:
        await chat.react(own)
    said = message_of(reply)
    if said is not None and not reply.task and not reply.mark_suffices:
        await chat.tell(own, said, f"reply:{where}", reply.turn)
    # Said only to people who are answered at all: strangers must not learn that a bot listens here.
    if lost and (reply.task or said is not None):
        await chat.tell(own, Message(body=lost), f"lost:{where}", reply.turn)
