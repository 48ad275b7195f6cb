"""The border to a chat: what a platform can do, what is asked of its adapter, and what the adapter calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.incoming import Incoming, Invocation, Press
from bot.domain.outgoing import Message, Reply, Turn, at_once


@dataclass(frozen=True, slots=True)
class Budget:
    """At most `calls` that send or edit within any `seconds`."""

    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform can do; the only differences that anything outside the adapters knows."""

    threads: bool
    """Whether a task gets a place of its own."""
    edit_interval: float
    """Seconds between two edits of a card."""
    edit_interval_group: float
    caption_limit: int
    file_limit: int
    """Bytes of one uploaded file."""
    card_lifetime: float
    """Seconds after which a card must move to a new message; inf where edits stay possible."""
    knows_delivery: bool
    """Whether sending with the same nonce again shows the message once."""
    deletes: bool
    """Whether a person's message can be deleted."""
    hides_codes: bool = False
    """Whether a code or password is never shown as somebody types it as an answer, so that none has to be deleted."""
    threads_apart: bool = False
    """Whether each thread has a budget of its own, instead of a share in that of its chat."""
    files_beside: bool = True
    """Whether one message shows files beside its picture; else they follow in messages of their own."""
    menu_choices: int = 0
    """How many choices a menu may have; 0 where there are no menus."""
    shows_live: bool = False
    """Whether a phone is touched there on its live picture; elsewhere by numbered buttons below a picture."""
    buttons_in_row: int = 5
    button_rows: int = 5
    """How many buttons a message may have, and how they stand."""
    counts_down: bool = False
    """Whether it shows screen, time, plan and steps of a task by itself, and of a question how long it is open and
    where to answer.
    """
    chat_budgets: tuple[Budget, ...] = ()
    """What one private chat takes."""
    group_budgets: tuple[Budget, ...] = ()
    """What one group or channel takes, its threads included."""
    account_budgets: tuple[Budget, ...] = ()
    """What all chats of the bot's account take together."""


class FloodWait(Exception):
    """The platform asks for silence for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the platform asks for {seconds:.0f} s of silence")
        self.seconds = seconds


class ChatError(Exception):
    """A message could not be sent or changed; the text says why, for a person."""


class ChatRefused(ChatError):
    """The platform does not take this message as it is. Repeating is useless; less of it may go."""


class ChatGone(ChatError):
    """The chat, thread or message does not exist any more, or the bot may not write there. Repeating is useless."""


class Chat(Protocol):
    """One connected platform account, as the outbox uses it. Sends raise FloodWait, ChatGone or ChatError."""

    @property
    def platform(self) -> str:
        """The platform's name, as addresses on it have it."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this platform can do."""
        ...

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        """The place for a task: a thread named `title` begun at message `anchor` (or at a new one), a forum topic's
        own address, or `origin` itself where there are no threads or no right to make one.
        """
        ...

    async def private_place(self, origin: Address, person: Person) -> Address:
        """The one-to-one chat with a person, for what can no longer be told at `origin`; a send shows whether the
        platform lets the bot write there. Raises ChatError where there is no such chat.
        """
        ...

    async def close_place(self, place: Address) -> None:
        """The task is over: archive its thread, where there is one."""
        ...

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send a new message and return its reference (of the first part). `nonce` names this sending; where
        `capabilities.knows_delivery`, the same nonce shown again is the same message. `turn` comes before each part.
        """
        ...

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Change a message in place; "not modified" is success."""
        ...

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message (a person's secret answer). Raises ChatError where that is not allowed."""
        ...


class Connected(Chat, Protocol):
    """A chat that has a connection to keep up."""

    @property
    def online(self) -> bool:
        """Whether the platform answers at the moment."""
        ...

    async def run(self) -> None:
        """Stay connected until cancelled or closed. Raises ChatError, with the reason for a person, when the platform
        refuses the connection. It may be called again after any error.
        """
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


@runtime_checkable
class KnowsRoles(Protocol):
    """A chat that tells the roles of people who are not writing at the moment."""

    async def roles_of(self, person: str, guild: str) -> frozenset[str]:
        """The roles that a person has on a server now, as `guild/role`; none when they are not there any more.

        Raises ChatError or FloodWait when the platform does not tell.
        """
        ...


class Intake(Protocol):
    """What a chat adapter calls. Never raises: every fault becomes a Reply."""

    async def message(self, incoming: Incoming) -> Reply:
        """A message arrived."""
        ...

    async def invoke(self, invocation: Invocation) -> Reply:
        """A typed command arrived."""
        ...

    async def press(self, press: Press) -> Reply:
        """A button was pressed. Always answers, also a button nobody knows any more."""
        ...

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        """At most 25 (label, value) pairs for autocompletion, from memory, within the person's rights."""
        ...
