"""What a phone can be made to do: the closed set of inputs, in native pixels of the phone's current rotation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from devices.geometry import Point

MIN_SWIPE_MS = 50
MAX_SWIPE_MS = 2000


class Key(StrEnum):
    """Keys by the names people use; the driver knows Android's key codes."""

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
    """To the end of all the text in a field."""


KEYS_IN_TEXT: Final[Mapping[str, Key]] = {"\n": Key.ENTER, "\t": Key.TAB}
"""What of a text is typed as a key. Android's own keyboard layout has keys for these two and for no other control
character (AOSP `Virtual.kcm`); Chromium makes the Enter key of a line end that a keyboard commits (`ImeAdapterImpl`).
"""
_LINE_ENDS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
"""All that Unicode counts as the end of a line or paragraph (Unicode 16, 5.8 "Newline Guidelines")."""


def as_typed(text: str) -> str:
    """The text as it is typed: every end of a line as Android writes it. A driver types nothing that this changes."""
    return _LINE_ENDS.sub("\n", text)


def keys_in(text: str) -> frozenset[Key]:
    """The keys that typing this text presses."""
    return frozenset(KEYS_IN_TEXT[sign] for sign in as_typed(text) if sign in KEYS_IN_TEXT)


@dataclass(frozen=True, slots=True)
class Tap:
    """One short touch, or two when `times` is 2."""

    at: Point
    times: int = 1


@dataclass(frozen=True, slots=True)
class LongPress:
    """A touch held for `duration_ms` milliseconds."""

    at: Point
    duration_ms: int = 800


@dataclass(frozen=True, slots=True)
class Swipe:
    """A finger moved from `start` to `end`; with `hold` the start is pressed long first (a drag)."""

    start: Point
    end: Point
    duration_ms: int = 300
    hold: bool = False


@dataclass(frozen=True, slots=True)
class TypeText:
    """Text for the focused field, or for the field at `at`, which is touched first; as `as_typed` makes it.

    `clear` empties the field before, `submit` presses Enter after. A `secret` text never shows in a repr, and
    its read-back compares the length only.
    """

    text: str = field(repr=False)
    at: Point | None = None
    clear: bool = False
    submit: bool = False
    secret: bool = False


@dataclass(frozen=True, slots=True)
class PressKey:
    """One key press."""

    key: Key


@dataclass(frozen=True, slots=True)
class OpenApp:
    """Brings an app to the front, by launcher label in the phone's language or by package name."""

    name: str


@dataclass(frozen=True, slots=True)
class OpenUrl:
    """Opens an address with the app that the phone has for it."""

    url: str


Input = Tap | LongPress | Swipe | TypeText | PressKey | OpenApp | OpenUrl
