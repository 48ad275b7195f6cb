"""The interface between the service and chat platforms: what a platform can do, what its adapter provides, and what
the adapter calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.incoming import Incoming, Invocation, Press
from bot.domain.outgoing import Message, Reply, Turn, at_once


@dataclass(frozen=True, slots=True)
class Budget:
    """A rate limit: at most `calls` messages sent or edited within any `seconds`."""

    calls: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a platform can do. Code outside the adapters treats platforms differently only because of these values."""

    threads: bool
    """Whether each task gets a thread or topic of its own."""
    edit_interval: float
    """Minimum seconds between two edits of a card."""
    edit_interval_group: float
    caption_limit: int
    file_limit: int
    """Maximum bytes of one uploaded file."""
    card_lifetime: float
    """Seconds after which a card must move to a new message; inf if messages can always be edited."""
    knows_delivery: bool
    """Whether sending twice with the same nonce shows the message only once."""
    deletes: bool
    """Whether a person's message can be deleted."""
    hides_codes: bool = False
    """Whether a typed code or password is never visible in the chat, so that no message has to be deleted."""
    threads_apart: bool = False
    """Whether each thread has its own budget instead of sharing that of its chat."""
    files_beside: bool = True
    """Whether one message can carry both a picture and files; otherwise files follow as separate messages."""
    menu_choices: int = 0
    """Maximum number of choices in a menu; 0 if the platform has no menus."""
    shows_live: bool = False
    """Whether people operate a phone on its live picture; elsewhere they use numbered buttons below a screenshot."""
    buttons_in_row: int = 5
    button_rows: int = 5
    """Maximum rows of buttons below a message, each with up to `buttons_in_row`."""
    counts_down: bool = False
    """Whether the platform itself shows a task's screen, time, plan and steps, and for a question the time left and
    where to answer.
    """
    chat_budgets: tuple[Budget, ...] = ()
    """Rate limits of one private chat."""
    group_budgets: tuple[Budget, ...] = ()
    """Rate limits of one group or channel, including its threads."""
    account_budgets: tuple[Budget, ...] = ()
    """Rate limits of the bot's account, over all its chats."""


class FloodWait(Exception):
    """The platform's rate limit was exceeded: nothing may be sent for `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the platform asks for {seconds:.0f} s of silence")
        self.seconds = seconds


class ChatError(Exception):
    """A message could not be sent or changed; the text gives the reason in words for people."""


class ChatRefused(ChatError):
    """The platform rejects this message as it is. Retrying is useless, but a smaller message may be accepted."""


class ChatGone(ChatError):
    """The chat, thread or message no longer exists, or the bot may not write there. Retrying is useless."""


class Chat(Protocol):
    """One connected bot account on a chat platform. Each platform's adapter implements it. Sending raises FloodWait,
    ChatGone or ChatError.

    For example:

        place = await chat.open_place(origin, anchor=None, title="Set an alarm")
        card = await chat.send(place, Message(body="Working …", card=True), nonce="task-12-card")
        await chat.edit(card, Message(body="Done", card=True))
    """

    @property
    def platform(self) -> str:
        """The platform's name, the same as in `Address.platform`."""

    @property
    def capabilities(self) -> Capabilities:
        """What this platform can do."""

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        """Open the place for a task's messages and return its address.

        This is a new thread or topic named `title`, where the platform needs it on the message `anchor` (or on a new
        message). It is `origin` itself if that is a thread already, or if no thread is needed or can be opened there.
        """

    async def private_place(self, origin: Address, person: Person) -> Address:
        """Return the private chat with a person, for messages that can no longer be sent to `origin`.

        Only sending shows whether the bot may write there. Raises ChatError if there is no such chat.
        """

    async def close_place(self, place: Address) -> None:
        """Archive the thread of a finished task, if it has one."""

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Send a new message and return the reference of its first part.

        Where `capabilities.knows_delivery` is set, sending again with the same `nonce` shows no second message. `turn`
        is awaited before each part and delays it according to the rate limits.
        """

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Replace the contents of a message. A message that has these contents already counts as success. `turn` is as
        in `send`.
        """

    async def delete(self, ref: MessageRef) -> None:
        """Delete a message, such as a person's answer with a password. Raises ChatError if that is not allowed."""


class Connected(Chat, Protocol):
    """A chat that keeps a connection to its platform open."""

    @property
    def online(self) -> bool:
        """Whether the platform is reachable at the moment."""

    async def run(self) -> None:
        """Stay connected until cancelled or closed. Raises ChatError, with a reason for people, if the platform
        refuses the connection. It may be called again after any error.
        """

    async def close(self) -> None:
        """Close the connection."""


@runtime_checkable
class KnowsRoles(Protocol):
    """A chat that can look up the roles of people who are not writing at the moment."""

    async def roles_of(self, person: str, guild: str) -> frozenset[str]:
        """Return the roles that a person has on a server now, as "guild/role"; empty if they have left it.

        Raises ChatError or FloodWait if the platform does not answer.
        """


class Record(Protocol):
    """The state of the service's database, as far as a chat needs it: a service that has lost its database to another
    one must send nothing.
    """

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using the database now."""

    async def answers(self) -> bool:
        """Return whether the database can be used now. The check is queued behind everything that was asked of it
        before.
        """


class OwnRecord:
    """A database that no other service can take over, such as a file in a locked directory. Implements `Record`."""

    is_ours = True

    async def answers(self) -> bool:
        """Return True."""
        return True


class Intake(Protocol):
    """What a chat adapter calls with everything that people do. The methods never raise: every error becomes a
    Reply.
    """

    async def message(self, incoming: Incoming) -> Reply:
        """Handle a message that a person has written, and return the answer to it."""

    async def invoke(self, invocation: Invocation) -> Reply:
        """Handle a slash command with typed options, and return the answer to it."""

    async def press(self, press: Press) -> Reply:
        """Handle a pressed button and return the answer. There is one even if the button is unknown or out of date."""

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        """Return up to 25 (label, value) pairs that complete what the person has `typed` for the option.

        Answers from memory without waiting, and offers only what the person may use.
        """
