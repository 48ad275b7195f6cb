"""All inputs that a phone accepts. Positions are in native pixels of the screen in its current rotation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from devices.geometry import Point

MIN_SWIPE_MS = 50
MAX_SWIPE_MS = 2000


class Key(StrEnum):
    """The keys of a phone by their common names; the driver maps them to Android key codes."""

    HOME = "home"
    BACK = "back"
    RECENTS = "recents"
    ENTER = "enter"
    DELETE = "delete"
    TAB = "tab"
    ESCAPE = "escape"
    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"
    VOLUME_UP = "volume_up"
    VOLUME_DOWN = "volume_down"
    POWER = "power"
    WAKE = "wake"
    MENU = "menu"
    SEARCH = "search"
    NOTIFICATIONS = "notifications"
    SELECT_ALL = "select_all"
    END = "end"
    """Moves the cursor to the end of the field's whole text."""


KEYS_IN_TEXT: Final[Mapping[str, Key]] = {"\n": Key.ENTER, "\t": Key.TAB}
"""Characters of a text that are typed as keys. Android's own keyboard layout has keys for these two control characters
only (AOSP `Virtual.kcm`); Chromium turns a line end committed by a keyboard into Enter (`ImeAdapterImpl`).
"""
_LINE_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
"""Everything that Unicode treats as the end of a line or paragraph (Unicode 16, 5.8 "Newline Guidelines")."""


def as_typed(text: str) -> str:
    r"""Return the text with all line ends normalised to "\n". Drivers only type text that is already in this form."""
    return _LINE_ENDS.sub("\n", text)


def contains_typed(content: str, text: str) -> bool:
    """Return whether a field's content contains the text that was typed, ignoring case, blanks and punctuation, because
    fields format what is typed (a telephone number gets brackets and spaces).

    In a text without letters and digits, only blanks are ignored.
    """
    form = _letters if _letters(text) else _without_blanks
    return form(text) in form(content)


def _letters(text: str) -> str:
    return "".join(each for each in _without_blanks(text) if each.isalnum())


def _without_blanks(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def keys_in(text: str) -> frozenset[Key]:
    """Return the keys that are pressed when this text is typed."""
    return frozenset(KEYS_IN_TEXT[sign] for sign in as_typed(text) if sign in KEYS_IN_TEXT)


@dataclass(frozen=True, slots=True)
class Tap:
    """A short touch, or two if `times` is 2."""

    at: Point
    times: int = 1


@dataclass(frozen=True, slots=True)
class LongPress:
    """A touch held for `duration_ms` milliseconds."""

    at: Point
    duration_ms: int = 800


@dataclass(frozen=True, slots=True)
class Swipe:
    """A finger movement from `start` to `end`. With `hold`, the finger first presses long at the start (a drag)."""

    start: Point
    end: Point
    duration_ms: int = 300
    hold: bool = False


@dataclass(frozen=True, slots=True)
class TypeText:
    """Text to type into the focused field, or into the field at `at`, which is tapped first. It must be as `as_typed`
    returns it.

    - `clear`: Whether the field is emptied first.
    - `submit`: Whether Enter is pressed afterwards, unless the field is read back and lacks the text.
    - `secret`: Whether the text must not be shown or logged (a password, a code). When the field is read back, only
      the length is compared.
    """

    text: str = field(repr=False)
    at: Point | None = None
    clear: bool = False
    submit: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class PressKey:
    """A single key press."""

    key: Key


@dataclass(frozen=True, slots=True)
class OpenApp:
    """Bring an app to the front, by its launcher label in the phone's language or by its package name."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """Open a URL in the app that the phone uses for it."""

    url: str


Input = Tap | LongPress | Swipe | TypeText | PressKey | OpenApp | OpenUrl
