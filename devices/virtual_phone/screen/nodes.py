"""The laid-out screen: nodes with bounds in pixels, and the shapes, texts and icons that are painted for each of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from devices.geometry import Bounds, Point


@dataclass(frozen=True, slots=True)
class Fill:
    """Paints a rectangle with corners of `radius` pixels and an optional border. Colours are names from the theme."""

    colour: str
    radius: int = 0
    border: str = ""


@dataclass(frozen=True, slots=True)
class Glyph:
    """Paints a centred icon of the icon font, `size` pixels high."""

    name: str
    size: int
    colour: str


@dataclass(frozen=True, slots=True)
class Writing:
    """Paints lines of text from the top; `size` and `line_height` in pixels, `align` is left, centre or right."""

    lines: tuple[str, ...]
    size: int
    weight: int
    colour: str
    line_height: int
    align: str = "left"


@dataclass(frozen=True, slots=True)
class Track:
    """Paints a Material switch, on or off."""

    on: bool


@dataclass(frozen=True, slots=True)
class Wallpaper:
    """Paints the picture behind the launcher and the lock screen; `dim` darkens it."""

    dim: bool = False


@dataclass(frozen=True, slots=True)
class Frost:
    """Lightens what is behind it like frosted glass, with corners of `radius` pixels."""

    radius: int


@dataclass(frozen=True, slots=True)
class Veil:
    """Darkens everything painted before it, like the page behind a dialog."""


Paint = Fill | Glyph | Writing | Track | Wallpaper | Frost | Veil

Touch = Callable[[], object]
"""A handler for a touch. What it returns is ignored."""
Move = Callable[[Point, Point], None]
"""A handler for a finger that moves from one point to another; for a touch, both are the same."""


@dataclass(slots=True, kw_only=True)
class Node:
    """One element of the laid-out screen. Besides `paint`, the handlers (`on_…`) and what is explained here, the fields
    are what accessibility reports.

    - `multiline`: Whether Enter starts a new line in this field.
    - `told`: False for parts that an app draws itself and accessibility does not know.
    - `scrollable`: Whether accessibility reports that it scrolls, although it has no list.
    - `scroll`: Name of the list that scrolls by up to `scroll_range` pixels; "" for none.
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
    """The handler for a long press followed by a drag to another point."""

    def walk(self) -> Iterator[Node]:
        """Yield the node and everything below it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def at(self, point: Point, wanted: Callable[[Node], bool]) -> Node | None:
        """Return the topmost node at a point for which `wanted` is true; None if there is none. Content outside a
        list's bounds is not hit.
        """
        if not self.bounds.holds(point):
            return None
        for child in reversed(self.children):
            found = child.at(point, wanted)
            if found is not None:
                return found
        return self if wanted(self) else None
