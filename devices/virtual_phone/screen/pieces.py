"""The small parts of pages: text, icons, buttons and switches. Lengths are in dp."""

from __future__ import annotations

from dataclasses import dataclass

from devices.geometry import Bounds
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Fill, Glyph, Node, Paint, Touch, Track, Writing
from devices.virtual_phone.screen.widgets import Meaning, Padding, Scale, inside

LINE_SPACING = 1.32
TEXT = "android.widget.TextView"
IMAGE = "android.widget.ImageView"


@dataclass(slots=True)
class Label:
    """A text of at most `most` lines (0: unlimited). Lengths are in dp."""

    text: str
    size: float = 16
    weight: int = 400
    colour: str = "text"
    align: str = "left"
    most: int = 0
    identifier: str = ""

    def _lines(self, width: int, scale: Scale) -> tuple[str, ...]:
        return fonts.wrapped(self.text, scale.sp(self.size), self.weight, width, self.most)

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        return round(len(self._lines(width, scale)) * scale.sp(self.size) * LINE_SPACING)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        size = scale.sp(self.size)
        writing = Writing(
            self._lines(box.right - box.left, scale),
            size,
            self.weight,
            self.colour,
            round(size * LINE_SPACING),
            self.align,
        )
        return Node(role=TEXT, bounds=box, text=self.text, identifier=self.identifier, paint=((box, writing),))


@dataclass(slots=True)
class Picture:
    """An icon, optionally on a disc of `disc` dp. It can be touched if `on_tap` is given."""

    name: str
    size: float = 24
    colour: str = "muted"
    disc: float = 0
    disc_colour: str = ""
    square: bool = False
    description: str = ""
    identifier: str = ""
    on_tap: Touch | None = None

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        del width
        return scale.px(max(self.size, self.disc, 48 if self.on_tap else 0))

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        paint: list[tuple[Bounds, Paint]] = []
        if self.disc:
            side = scale.px(self.disc)
            middle = box.centre
            disc = Bounds(middle.x - side // 2, middle.y - side // 2, middle.x + side // 2, middle.y + side // 2)
            paint.append((disc, Fill(self.disc_colour, side // 4 if self.square else side // 2)))
        paint.append((box, Glyph(self.name, scale.px(self.size), self.colour)))
        role = "android.widget.ImageButton" if self.on_tap else IMAGE
        return Meaning(role=role, description=self.description, identifier=self.identifier, on_tap=self.on_tap).node(
            box, [], paint
        )


@dataclass(slots=True)
class Gap:
    """An empty space of this height in dp."""

    height: float = 8

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        del width
        return scale.px(self.height)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        del scale
        return Node(role="android.view.View", bounds=box)


@dataclass(slots=True)
class Rule:
    """A thin horizontal line."""

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        del width
        return max(1, scale.px(1))

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        del scale
        return Node(role="android.view.View", bounds=box, paint=((box, Fill("line")),))


@dataclass(slots=True)
class Button:
    """A Material button. Its text is the node's own text for accessibility."""

    text: str
    on_tap: Touch | None
    identifier: str = ""
    filled: bool = True
    enabled: bool = True
    margin: Padding = (0, 0, 0, 0)

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        del width
        return scale.px(48 + self.margin[1] + self.margin[3])

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        own = inside(box, self.margin, scale)
        size = scale.px(15)
        fill, ink = ("primary", "on_primary") if self.filled else ("container", "on_container")
        if not self.enabled:
            fill, ink = "raised", "faint"
        line = round(size * LINE_SPACING)
        middle = own.centre.y
        room = Bounds(own.left, middle - line // 2, own.right, middle - line // 2 + line)
        writing = Writing((self.text,), size, 500, ink, line, "centre")
        return Meaning(
            role="android.widget.Button",
            text=self.text,
            identifier=self.identifier,
            enabled=self.enabled,
            on_tap=self.on_tap,
        ).node(own, [], [(own, Fill(fill, (own.bottom - own.top) // 2)), (room, writing)])


@dataclass(slots=True)
class Switch:
    """A switch that shows a state. The row around it receives touches, as in AOSP's Settings, unless `on_tap` is
    given.
    """

    on: bool
    identifier: str = "switch_widget"
    on_tap: Touch | None = None

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        del width
        return scale.px(32)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        del scale
        meaning = Meaning(
            role="android.widget.Switch",
            identifier=self.identifier,
            checkable=True,
            checked=self.on,
            on_tap=self.on_tap,
        )
        return meaning.node(box, [], [(box, Track(self.on))])
