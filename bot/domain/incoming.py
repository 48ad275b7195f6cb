"""What comes in from people: messages, typed commands, pressed buttons, and what they bring along."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from bot.domain.address import MessageRef, Person, Place


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
class CommandCall:
    """A command with its options as text, from a prefix line or from typed slash options alike.

    `rest` is the free text (the task of `do`, the note of `resume`).
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""

    def option(self, name: str) -> str:
        """The option's value, "" when it is not given."""
        return self.options.get(name, "").strip()

    def flag(self, name: str) -> bool:
        """Whether a flag is given; typed surfaces send "false" for one that is off."""
        return self.option(name).lower() in {"true", "1", "yes"}


@dataclass(frozen=True, slots=True)
class ForeignText:
    """Marks a text as one that its sender did not write: a forwarded message, or what an inline bot composed."""

    author: str = ""
    """Who wrote it, as the platform names them, on one line; "" where it does not tell. Anybody can choose a name."""


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
    lead: str = ""
    """What commands begin with there, such as "/"."""
    carries: bool = False
    """Whether files came with it, fetched or not."""
    device: str = ""
    """The phone that was picked for it beside the words, by name or id; "" for none."""
    foreign: ForeignText | None = None
    """Set unless the sender wrote the text: then it is no command, answers nothing and begins nothing by itself."""
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
