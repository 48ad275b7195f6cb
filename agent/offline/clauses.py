"""The clauses that an instruction for the offline pilot can consist of, one frozen class for each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from devices.inputs import Key

THE_ANSWER = "\N{OBJECT REPLACEMENT CHARACTER}answer"
"""The placeholder in a clause for the person's answer. Nobody can type this character."""

Gesture = Literal["tap", "double_tap", "long_press"]


@dataclass(frozen=True, slots=True)
class Open:
    """Open an app, or something on the screen that opens when touched."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """Open an address."""

    url: str


@dataclass(frozen=True, slots=True)
class Search:
    """Search in the app in front, or on the web if no app was opened before."""

    query: str


@dataclass(frozen=True, slots=True)
class Tap:
    """Touch a named thing, or the `nth` row of a list (from 1; -1 is the last; 0: by name)."""

    label: str
    nth: int = 0
    gesture: Gesture = "tap"


@dataclass(frozen=True, slots=True)
class TypeText:
    """Type text into the named field, or into the focused one."""

    text: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class EnterSecret:
    """Enter a code or password that only the person knows."""

    what: str


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scroll by `times` screens, to the end of the list (`times` 0), or until a text appears."""

    direction: Literal["up", "down", "left", "right"]
    times: int = 1
    until: str = ""


@dataclass(frozen=True, slots=True)
class Press:
    """Press a key of the phone."""

    key: Key


@dataclass(frozen=True, slots=True)
class Toggle:
    """Set a switch to a state."""

    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class Alarm:
    """Turn an existing alarm on or off, identified by its time (HH:MM, 24 hours)."""

    time: str
    on: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for some seconds, or until a text appears."""

    seconds: float = 0.0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """Read what the person wants to know: the value next to a label, the `nth` row, or the whole screen. With
    `content`, the app's content without buttons.
    """

    what: str = ""
    nth: int = 0
    content: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the person a question."""

    question: str


@dataclass(frozen=True, slots=True)
class SignIn:
    """Sign in with a user name, then the password or code that the app asks for."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class WriteNote:
    """Write a new note."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Send a message to one person."""

    to: str
    text: str


Clause = (
    Open
    | OpenUrl
    | Search
    | Tap
    | TypeText
    | EnterSecret
    | Scroll
    | Press
    | Toggle
    | Alarm
    | Wait
    | Read
    | Ask
    | SignIn
    | WriteNote
    | SendMessage
)


def texts_of(clause: Clause) -> dict[str, str]:
    """Return the text fields of a clause by name."""
    values = {each.name: getattr(clause, each.name) for each in fields(clause)}
    return {name: value for name, value in values.items() if type(value) is str}


def with_texts(clause: Clause, change: Callable[[str], str]) -> Clause:
    """Return the clause with `change` applied to each of its texts."""
    texts: dict[str, Any] = {name: change(text) for name, text in texts_of(clause).items()}
    return replace(clause, **texts)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A parsed instruction. `rests` has, for each clause, the original text after it; "" after the last."""

    clauses: tuple[Clause, ...]
    rests: tuple[str, ...] = ()
    chinese: bool = False


class Unreadable(Exception):
    """The text has a part that is not a literal instruction; `part` is that part in the person's words."""

    def __init__(self, part: str) -> None:
        super().__init__(f"not a literal instruction: {part}")
        self.part = part
