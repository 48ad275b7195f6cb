"""The laid-out screen: nodes with pixel bounds, and how each is painted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from devices.geometry import Bounds, Point


@dataclass(frozen=True, slots=True)
class Fill:
    """A rectangle, rounded by `radius` pixels, with an optional border. Colours are names of the theme."""

    colour: str
    radius: int = 0
    border: str = ""


@dataclass(frozen=True, slots=True)
class Glyph:
    """An icon of the icon font, centred, `size` pixels high."""

    name: str
    size: int
    colour: str


@dataclass(frozen=True, slots=True)
class Writing:
    """Lines of text from the top; `size` and `line_height` in pixels. `align` is left, centre or right."""

    lines: tuple[str, ...]
    size: int
    weight: int
    colour: str
    line_height: int
    align: str = "left"


@dataclass(frozen=True, slots=True)
class Track:
    """A Material switch."""

    on: bool


@dataclass(frozen=True, slots=True)
class Wallpaper:
    """The picture behind the launcher and the lock screen; `dim` darkens it."""

    dim: bool = False


@dataclass(frozen=True, slots=True)
class Frost:
    """Lightens what is behind it, as a pane of frosted glass; rounded by `radius` pixels."""

    radius: int


@dataclass(frozen=True, slots=True)
class Veil:
    """Darkens everything painted before it, as the page behind a dialog."""


Paint = Fill | Glyph | Writing | Track | Wallpaper | Frost | Veil

Touch = Callable[[], None]
Move = Callable[[Point, Point], None]
"""A finger from one place to another; both are the same for a touch."""


@dataclass(slots=True, kw_only=True)
class Node:
    """One element. Everything but `paint` and the handlers is what accessibility tells about it.

    `scroll` is the name of a list that can be scrolled by up to `scroll_range` pixels; with `scrollable` accessibility
    is told that it scrolls, where no list does. In a `multiline` field Enter starts a new line. `told` is false for
    what an app draws itself, and accessibility knows nothing of.
    """

    role: str
    bounds: Bounds
    text: str = ""
    description: str = ""
    hint: str = ""
    identifier: str = ""
    clickable: bool = False
    long_clickable: bool = False
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    focusable: bool = False
    focused: bool = False
    selected: bool = False
    password: bool = False
    multiline: bool = False
    told: bool = True
    scrollable: bool = False
    scroll: str = ""
    scroll_range: int = 0
    paint: tuple[tuple[Bounds, Paint], ...] = ()
    children: list[Node] = field(default_factory=list)
    on_tap: Touch | None = field(default=None, repr=False)
    on_long: Touch | None = field(default=None, repr=False)
    on_enter: Touch | None = field(default=None, repr=False)
    on_slide: Touch | None = field(default=None, repr=False)
    on_move: Move | None = field(default=None, repr=False)
    on_drop: Move | None = field(default=None, repr=False)
    """What is held first, then moved and let go of."""

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def at(self, point: Point, wanted: Callable[[Node], bool]) -> Node | None:
        """The topmost wanted node under a point. What lies outside a list's bounds is not under it."""
        if not self.bounds.holds(point):
            return None
        for child in reversed(self.children):
            found = child.at(point, wanted)
            if found is not None:
                return found
        return self if wanted(self) else None
