"""The border to a chat: what comes in from people, what goes out to them, and what a platform can do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Address:
    """A place where messages go: platform, bot account, guild, chat and thread, all as text ids.

    `guild` is "" where a platform has none; `thread` is "" for the chat itself.
    """

    platform: str
    account: str
    chat: str
    guild: str = ""
    thread: str = ""

    def __str__(self) -> str:
        return "/".join((self.platform, self.account, self.guild, self.chat, self.thread))


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who writes. Rights hang on platform and id, never on the name."""

    platform: str
    id: str
    name: str = ""
    language: str = field(default="", compare=False)
    """The locale that the platform names, such as "zh-CN"; behind the intake a language of the catalogue."""
    roles: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    """The roles on the server where this was written, as `guild/role`; they are never kept."""


@dataclass(frozen=True, slots=True)
class MessageRef:
    """A message that was sent, by where it is and its id there."""

    address: Address
    message: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message; its bytes are fetched by the adapter, within its platform's limit."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Voice:
    """Somebody spoke. `fetch` gets the recording within the platform's limits; it raises ChatError."""

    name: str
    """It ends as its format does."""
    seconds: float
    size: int
    """Bytes, as the platform tells them."""
    fetch: Callable[[], Awaitable[bytes]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message comes from, with what access needs to know: `private` is a one-to-one chat."""

    address: Address
    private: bool = False


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A command with its options as text, from a prefix line or from typed slash options alike.

    `rest` is the free text (the task of `do`, the note of `resume`).
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message from a person.

    `command` is the text behind the platform's prefix or slash, None when the message is no command; `text` is the
    whole text; `event` is the platform's id of the message (the same event never does anything twice);
    `reply_to` is the message that it natively answers, `to_bot` whether that one was sent by the bot.
    """

    person: Person
    place: Place
    event: str
    text: str
    command: str | None = None
    reply_to: MessageRef | None = None
    to_bot: bool = False
    message: MessageRef | None = None
    attachments: tuple[Attachment, ...] = ()
    stale: bool = False
    """Written while the service was away: listed, not executed."""
    written: float = 0.0
    """Unix seconds, as the platform tells them; 0 where nobody asks."""
    voice: Voice | None = None
    """What was spoken to the bot instead of written; there is no text then."""
    wordless: str = ""
    """Set when files came without a word; they were not fetched. It is how `do` is typed there, such as "/do"."""


def orders_work(command: str | None) -> bool:
    """Whether the command is a `do`: then the files of the message that it replies to come along."""
    return command is not None and command.lower().split(maxsplit=1)[:1] == ["do"]


@dataclass(frozen=True, slots=True)
class Invocation:
    """A slash command with typed options."""

    person: Person
    place: Place
    event: str
    call: CommandCall
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Press:
    """A button was pressed. `data` is what the button was made with."""

    person: Person
    place: Place
    event: str
    data: str
    message: MessageRef
    stale: bool = False
    """Pressed while the service was away: what begins something is not done."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button. `data` is at most 64 bytes (Telegram's callback_data), opaque and versioned."""

    label: str
    data: str
    style: str = "secondary"
    """"primary", "secondary", "success" or "danger"."""


@dataclass(frozen=True, slots=True)
class Menu:
    """A list of which one choice is taken: it comes back as a Press with that choice's data.

    The data are as opaque and as durable as a button's. Where `Capabilities.menu_choices` is 0 there are no menus.
    """

    choices: tuple[Button, ...]
    """In their order; at most `Capabilities.menu_choices`. Their styles have no meaning here."""
    prompt: str = ""
    """What stands in the closed menu, a few words."""
    turner: str = ""
    """Where a menu is shown in pages: a press with these data and a page's number behind a colon (from 0) asks for
    that page, which comes as an edit. "" shows all choices at once."""
    page: int = 0
    """The page that is shown, where there are any."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture or file to show; `name` ends as its type does."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """What goes out: plain text throughout. Adapters escape all of it, switch mentions off, and split what is too
    long for the platform (picture, menu and buttons stay with the first part; very long text becomes a file).
    """

    heading: str = ""
    body: str = ""
    footer: str = ""
    picture: Picture | None = None
    files: tuple[Picture, ...] = ()
    buttons: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    """Shown above the buttons; an edit without it takes it away."""
    notify: bool = False
    """Whether the platform should ring. Cards and steps are silent."""
    mention: Person | None = None
    """Who is meant; the only mention that ever goes out."""
    reply_to: MessageRef | None = None
    private: bool = False
    """Only for the person who asked, where the platform can (an ephemeral reply)."""


Turn = Callable[[], Awaitable[None]]
"""Awaited before each call to the platform that sends or edits: it lets the call go when the budget allows it."""


async def at_once() -> None:
    """No budget."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command or a press. None of the fields set: say nothing.

    `task` is set when a task was accepted: its card appears by itself, so that a surface where the card is
    answer enough may leave the message out.
    """

    message: Message | None = None
    task: str = ""
    toast: str = ""
    """A short answer to a press (shown as a notice that goes away), at most 200 characters."""
    turn: Turn = field(default=at_once, compare=False, repr=False)
    """What sending it as a message waits for: it counts in the chat's budget as all that goes there."""


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
    text_limit: int
    caption_limit: int
    file_limit: int
    """Bytes of one uploaded file."""
    card_lifetime: float
    """Seconds after which a card must move to a new message; inf where edits stay possible."""
    knows_delivery: bool
    """Whether sending with the same nonce again shows the message once."""
    deletes: bool
    """Whether a person's message can be deleted."""
    menu_choices: int = 0
    """How many choices a menu may have; 0 where there are no menus."""
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


class ChatGone(ChatError):
    """The chat, thread or message does not exist any more, or the bot may not write there. Repeating is useless."""


class Chat(Protocol):
    """One connected platform account, as the outbox uses it. Sends raise FloodWait, ChatGone or ChatError."""

    @property
    def platform(self) -> str:
        """ "discord", "telegram", "web"."""
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
