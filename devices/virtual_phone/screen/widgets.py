"""The layout of pages: widgets, boxes and rows. Lengths are in dp; `Scale` converts them to pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from devices.geometry import Bounds
from devices.virtual_phone.screen.nodes import Fill, Node, Paint, Touch

LAYOUT = "android.widget.LinearLayout"
Padding = tuple[float, float, float, float]
"""Left, top, right and bottom padding in dp."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts dp and sp (Android's units of length and text size) to pixels, for a density in dots per inch and a
    font scale.
    """

    density: int
    font: float = 1.0

    def px(self, dp: float) -> int:
        """Convert a length in dp to pixels."""
        return round(dp * self.density / 160)

    def sp(self, size: float) -> int:
        """Convert a text size in sp to pixels."""
        return round(size * self.font * self.density / 160)


class Widget(Protocol):
    """A part of a page that reports the height it needs and can be placed in a box."""

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels."""

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box."""


class Fixed:
    """The base of widgets whose height is the same at every width."""

    __slots__ = ()
    height: float
    """The height in dp."""

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        del width
        return scale.px(self.height)


@dataclass(slots=True, kw_only=True)
class Meaning:
    """What accessibility reports about a container or button, and what touching it does (`on_tap`)."""

    role: str = LAYOUT
    text: str = ""
    description: str = ""
    identifier: str = ""
    checkable: bool = False
    checked: bool = False
    enabled: bool = True
    on_tap: Touch | None = None

    def node(self, box: Bounds, children: list[Node], paint: Sequence[tuple[Bounds, Paint]]) -> Node:
        """Create the node of this widget, with these children and boxes to paint."""
        return Node(
            role=self.role,
            bounds=box,
            text=self.text,
            description=self.description,
            identifier=self.identifier,
            clickable=self.on_tap is not None,
            checkable=self.checkable,
            checked=self.checked,
            enabled=self.enabled,
            focusable=self.on_tap is not None,
            on_tap=self.on_tap if self.enabled else None,
            paint=tuple(paint),
            children=children,
        )


@dataclass(slots=True, kw_only=True)
class Box(Meaning):
    """A column of widgets, on an optional background (`fill`). Lengths are in dp.

    - `minimum`: The minimum height.
    - `centred`: Whether spare height is split above and below the children.
    """

    children: Sequence[Widget] = ()
    gap: float = 0
    padding: Padding = (0, 0, 0, 0)
    margin: Padding = (0, 0, 0, 0)
    fill: str = ""
    radius: float = 0
    minimum: float = 0
    centred: bool = False

    def _room(self, width: int, scale: Scale) -> int:
        return max(1, width - scale.px(self.padding[0] + self.padding[2] + self.margin[0] + self.margin[2]))

    def _content(self, width: int, scale: Scale) -> int:
        room = self._room(width, scale)
        heights = [child.measure(room, scale) for child in self.children]
        return sum(heights) + scale.px(self.gap) * max(0, len(heights) - 1)

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        inner = self._content(width, scale) + scale.px(self.padding[1] + self.padding[3])
        return max(inner, scale.px(self.minimum)) + scale.px(self.margin[1] + self.margin[3])

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        own = inside(box, self.margin, scale)
        inner = inside(own, self.padding, scale)
        room = inner.right - inner.left
        top = inner.top
        if self.centred:
            top += max(0, (inner.bottom - inner.top - self._content(box.right - box.left, scale)) // 2)
        children: list[Node] = []
        for child in self.children:
            height = child.measure(room, scale)
            children.append(child.place(Bounds(inner.left, top, inner.right, top + height), scale))
            top += height + scale.px(self.gap)
        return self.node(own, children, self._background(own, scale))

    def _background(self, own: Bounds, scale: Scale) -> list[tuple[Bounds, Paint]]:
        return [(own, Fill(self.fill, scale.px(self.radius)))] if self.fill else []


@dataclass(slots=True)
class Wide:
    """A child of a row with a fixed width in dp."""

    width: float
    child: Widget


@dataclass(slots=True, kw_only=True)
class Row(Box):
    """A row of widgets, centred vertically: `Wide` parts have a fixed width, and the others share the rest."""

    parts: Sequence[Widget | Wide] = ()

    def _widths(self, room: int, scale: Scale) -> list[int]:
        fixed = [scale.px(part.width) if isinstance(part, Wide) else -1 for part in self.parts]
        spare = room - sum(width for width in fixed if width > 0) - scale.px(self.gap) * max(0, len(fixed) - 1)
        shared = max(1, spare // max(1, fixed.count(-1)))
        return [shared if width < 0 else width for width in fixed]

    def _content(self, width: int, scale: Scale) -> int:
        widths = self._widths(self._room(width, scale), scale)
        pairs = zip(self.parts, widths, strict=True)
        return max((_child(part).measure(room, scale) for part, room in pairs), default=0)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        own = inside(box, self.margin, scale)
        inner = inside(own, self.padding, scale)
        left = inner.left
        children: list[Node] = []
        for part, width in zip(self.parts, self._widths(inner.right - inner.left, scale), strict=True):
            child = _child(part)
            height = child.measure(width, scale)
            top = inner.top + max(0, (inner.bottom - inner.top - height) // 2)
            children.append(child.place(Bounds(left, top, left + width, top + height), scale))
            left += width + scale.px(self.gap)
        return self.node(own, children, self._background(own, scale))


def _child(part: Widget | Wide) -> Widget:
    return part.child if isinstance(part, Wide) else part


def inside(box: Bounds, room: Padding, scale: Scale) -> Bounds:
    """Return the part of the box that is inside this padding."""
    left, top, right, bottom = (scale.px(each) for each in room)
    return Bounds(box.left + left, box.top + top, box.right - right, box.bottom - bottom)
