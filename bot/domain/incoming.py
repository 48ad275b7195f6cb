"""Types for what people send: messages, typed commands and pressed buttons, with their attachments, and messages
written while the service was not running.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agent.ports.stores import GivenFile
from bot.domain.address import MessageRef, Person, Place


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a message; the adapter has downloaded its bytes, within the platform's limit."""

    name: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice message. `fetch` downloads the recording within the platform's limits and raises ChatError."""

    name: str
    """A file name; its ending tells the format."""
    seconds: float
    size: int
    """Bytes, as the platform reports them."""
    fetch: Callable[[], Awaitable[bytes]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A command with its options as text, whether typed after a prefix or chosen as a slash command.

    `rest` is the free text after the options: the task of `do`, the note of `resume`.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""

    def option(self, name: str) -> str:
        """Return the value of an option without surrounding blanks; "" if it is not given."""
        return self.options.get(name, "").strip()

    def flag(self, name: str) -> bool:
        """Return whether a flag is set. Platforms with typed options send "false" for one that is not."""
        return self.option(name).lower() in {"true", "1", "yes"}


@dataclass(frozen=True, slots=True)
class ForeignText:
    """Marks text that its sender did not write: a forwarded message, or one composed by an inline bot."""

    author: str = ""
    """The author's name as the platform gives it, on one line; "" if unknown. It proves nothing: anybody can choose
    a name.
    """


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message from a person.

    - `event`: The platform's id of the message; the same event is never handled twice.
    - `text`: The whole text.
    - `command`: The text after the command prefix or slash; None when the message is no command.
    - `reply_to`: The message that it natively answers, None for none.
    - `to_bot`: Whether that message was sent by the bot.
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
    """Whether it was written while the service was away; it is then listed, not executed."""
    written: float = 0.0
    """When it was written, in Unix seconds from the platform; 0 where that is not needed."""
    voice: Voice | None = None
    """A voice message to the bot; `text` is then empty."""
    lead: str = ""
    """The prefix of commands there, such as "/"."""
    carries: bool = False
    """Whether the message had files, downloaded or not."""
    device: str = ""
    """The phone that was chosen outside the text, by name or id; "" for none."""
    foreign: ForeignText | None = None
    """Set if the sender did not write the text: it is then not treated as a command or an answer, and starts no task
    without confirmation.
    """
    wordless: str = ""
    """Set if files came without any text and were not downloaded: how to type `do` there, such as "/do"."""


def orders_work(command: str | None) -> bool:
    """Return whether the command text is the command `do`, which also uses the files of the message that it replies
    to.
    """
    return command is not None and command.lower().split(maxsplit=1)[:1] == ["do"]


@dataclass(frozen=True, slots=True)
class Invocation:
    """A slash command with typed options, as the platform reports it. `event` is the platform's id of it."""

    person: Person
    place: Place
    event: str
    call: CommandCall
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Press:
    """A button pressed by a person. `data` is the data that the button was made with; `event` is the platform's id of
    the press.
    """

    person: Person
    place: Place
    event: str
    data: str
    message: MessageRef
    stale: bool = False
    """Whether it was pressed while the service was not running; a press that would start something is then ignored."""


@dataclass(frozen=True, slots=True)
class Late:
    """A command or text that was written while the service was not running. `written` is in Unix seconds."""

    person: Person
    place: Place
    event: str
    """The platform's id of the message, which makes sure that it is stored once and becomes one task at most."""
    message: MessageRef | None
    text: str
    """The text as typed."""
    prefix: str
    call: CommandCall
    """The command that the text was parsed into."""
    files: tuple[GivenFile, ...]
    written: float


@dataclass(frozen=True, slots=True)
class Missed:
    """A stored message that was written while the service was not running."""

    id: str
    """The number of the row, as text."""
    late: Late
    listed: MessageRef | None
    """The message in which the service lists it; None before it is listed."""
    done: bool
    """Whether it is being carried out, because its button was pressed."""
