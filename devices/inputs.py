"""What a phone can be made to do: the closed set of inputs, in native pixels of the phone's current rotation."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

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
    """Text for the focused field, or for the field at `at`, which is touched first.

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
