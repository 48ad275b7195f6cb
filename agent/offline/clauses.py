"""The clauses of which an instruction for the offline pilot consists, with one frozen class for each kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from devices.inputs import Key

THE_ANSWER = "\N{OBJECT REPLACEMENT CHARACTER}answer"
"""The placeholder in a clause for the person's answer to an earlier question. Nobody can type this character."""

Gesture = Literal["tap", "double_tap", "long_press"]


@dataclass(frozen=True, slots=True)
class Open:
    """A clause: open an app, or something on the screen that opens when touched."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """A clause: open an address."""

    url: str


@dataclass(frozen=True, slots=True)
class Search:
    """A clause: search in the app in front, or on the web if no app was opened before."""

    query: str


@dataclass(frozen=True, slots=True)
class Tap:
    """A clause: touch something by its label, or the `nth` row of a list (from 1; -1 is the last; 0 means by label)."""

    label: str
    nth: int = 0
    gesture: Gesture = "tap"


@dataclass(frozen=True, slots=True)
class TypeText:
    """A clause: type a text into the named field or, if `field` is "", into the focused one."""

    text: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class EnterSecret:
    """A clause: enter a code or password that only the person knows. `what` names it."""

    what: str


@dataclass(frozen=True, slots=True)
class Scroll:
    """A clause: scroll by `times` screens, to the end of the list (`times` is 0), or until the text `until` appears."""

    direction: Literal["up", "down", "left", "right"]
    times: int = 1
    until: str = ""


@dataclass(frozen=True, slots=True)
class Press:
    """A clause: press a key of the phone."""

    key: Key


@dataclass(frozen=True, slots=True)
class Toggle:
    """A clause: set the switch with this label to a state."""

    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class Alarm:
    """A clause: turn an existing alarm on or off. It is identified by its time (HH:MM, 24 hours)."""

    time: str
    on: bool


@dataclass(frozen=True, slots=True)
class Wait:
    """A clause: wait for some seconds or, if `text` is given, until it appears on the screen."""

    seconds: float = 0.0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Read:
    """A clause: read what the person wants to know: the value next to the label `what`, the `nth` row of a list, or the
    whole screen. With `content`, buttons and fields are left out.
    """

    what: str = ""
    nth: int = 0
    content: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """A clause: ask the person a question."""

    question: str


@dataclass(frozen=True, slots=True)
class SignIn:
    """A clause: sign in with a user name ("" to ask for it), and then the password or code that the app asks for."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class WriteNote:
    """A clause: write a new note."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class SendMessage:
    """A clause: send a message to one person."""

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
    """Return those fields of a clause that are texts, by name."""
    values = {each.name: getattr(clause, each.name) for each in fields(clause)}
    return {name: value for name, value in values.items() if type(value) is str}


def with_texts(clause: Clause, change: Callable[[str], str]) -> Clause:
    """Return a copy of the clause with `change` applied to each of its texts."""
    texts: dict[str, Any] = {name: change(text) for name, text in texts_of(clause).items()}
    return replace(clause, **texts)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A parsed instruction: its clauses in order.

    `rests` has, for each clause, the original text after it; "" after the last one. `chinese` says whether the text
    contains Chinese characters.
    """

    clauses: tuple[Clause, ...]
    rests: tuple[str, ...] = ()
    chinese: bool = False


class Unreadable(Exception):
    """Raised if the text has a part that is not a literal instruction; `part` is that part in the person's words."""

    def __init__(self, part: str) -> None:
        super().__init__(f"not a literal instruction: {part}")
        self.part = part
