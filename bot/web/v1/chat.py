"""The API as a chat. Conversations store what happens to their tasks, so no messages have to be sent."""

from __future__ import annotations

import math

from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Capabilities, ChatError
from bot.domain.outgoing import Message, Turn, at_once
from bot.domain.right import API_PLATFORM

CAPABILITIES = Capabilities(
    threads=False,
    edit_interval=3600.0,
    edit_interval_group=3600.0,
    caption_limit=100_000,
    file_limit=20 * 1024 * 1024,
    card_lifetime=math.inf,
    knows_delivery=True,
    deletes=False,
    hides_codes=True,
    counts_down=True,
)


class ApiChat:
    """The API as a chat; implements `bot.domain.chat.Chat`. Programs read cards, questions and results from
    the tasks.
    """

    @property
    def platform(self) -> str:
        """The name of this chat platform."""
        return API_PLATFORM

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of this chat, in the form that the outbox reads; almost no limits apply, because nothing is
        sent.
        """
        return CAPABILITIES

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:  # noqa: ARG002 - it has no threads of its own
        """Return the conversation itself, because tasks have no threads of their own."""
        return origin

    async def private_place(self, origin: Address, person: Person) -> Address:
        """Raise ChatError, because a conversation has no separate private chat."""
        raise ChatError(f"{origin} is private already, and {person.id} has no other place there.")

    async def close_place(self, place: Address) -> None:
        """Do nothing: a conversation stays readable."""

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:  # noqa: ARG002 - it is told otherwise
        """Send nothing, because programs read cards, questions and results from the task. Returns a reference
        nevertheless.
        """
        await turn()
        return MessageRef(place, nonce)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Do nothing: programs read the current state from the task itself."""

    async def delete(self, ref: MessageRef) -> None:
        """Do nothing: an answer with a secret is never stored."""
