"""What an instruction can be made of: one frozen class for each kind of clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from devices.inputs import Key

THE_ANSWER = "\N{OBJECT REPLACEMENT CHARACTER}answer"
"""Stands in a clause for what the person will have answered. Nobody types this character."""

Gesture = Literal["tap", "double_tap", "long_press"]


@dataclass(frozen=True, slots=True)
class Open:
    """An app, or something on the screen that opens when it is touched."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """An address."""

    url: str


@dataclass(frozen=True, slots=True)
class Search:
    """A search in the app in front, or on the web when nothing was opened before."""

    query: str


@dataclass(frozen=True, slots=True)
class Tap:
    """Something that is named, or the `nth` row of a list (from 1; -1 is the last; 0: by name)."""

    label: str
    nth: int = 0
    gesture: Gesture = "tap"


@dataclass(frozen=True, slots=True)
class TypeText:
    """Text for the named field, or for the one that is ready."""

    text: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class EnterSecret:
    """A code or password, which only the person knows."""

    what: str


@dataclass(frozen=True, slots=True)
class Scroll:
    """`times` screens, or to the end of the list (`times` 0), or until a text shows."""

    direction: Literal["up", "down", "left", "right"]
    times: int = 1
    until: str = ""


@dataclass(frozen=True, slots=True)
class Press:
    """A key of the phone."""

    key: Key


@dataclass(frozen=True, slots=True)
class Toggle:
    """A switch and the state it is to have."""

    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class Alarm:
    """An existing alarm of the clock, by its time of day (HH:MM, 24 hours)."""

    time: str
    on: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds, or until a text shows."""

    seconds: float = 0.0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """What the person wants to know: the value beside a label, the `nth` row, or the whole screen; of an app's
    `content`, no buttons.
    """

    what: str = ""
    nth: int = 0
    content: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the person."""

    question: str


@dataclass(frozen=True, slots=True)
class SignIn:
    """User name, then password or code as the app asks for them."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class WriteNote:
    """A new note."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class SendMessage:
    """A message to one person."""

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
    """What the clause holds in words, by field."""
    values = {each.name: getattr(clause, each.name) for each in fields(clause)}
    return {name: value for name, value in values.items() if type(value) is str}


def with_texts(clause: Clause, change: Callable[[str], str]) -> Clause:
    """The clause with every text in it changed like this."""
    texts: dict[str, Any] = {name: change(text) for name, text in texts_of(clause).items()}
    return replace(clause, **texts)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A text, understood. `rests` are what the text says after each clause, in its own words; "" after the last."""

    clauses: tuple[Clause, ...]
    rests: tuple[str, ...] = ()
    chinese: bool = False


class Unreadable(Exception):
    """A text with a part that is no literal instruction; `part` is that part, in the person's words."""

    def __init__(self, part: str) -> None:
        super().__init__(f"not a literal instruction: {part}")
        self.part = part
