"""The parts of pages: text, icons, buttons, switches, text fields and scrolling lists. Lengths are in dp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from devices.geometry import Bounds
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.nodes import Fill, Glyph, Node, Paint, Touch, Track, Writing
from devices.virtual_phone.screen.widgets import Fixed, Meaning, Padding, Scale, Widget, inside

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
class Gap(Fixed):
    """An empty space of this height in dp."""

    height: float = 8

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
class Switch(Fixed):
    """A switch that shows a state. The row around it receives touches, as in AOSP's Settings, unless `on_tap` is
    given.
    """

    on: bool
    identifier: str = "switch_widget"
    on_tap: Touch | None = None
    height = 32

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


BULLET = "•"


@dataclass(slots=True)
class Field:
    """A text field.

    - `value`: Its text.
    - `caret`: Position of the caret in the text.
    - `lines`: Minimum height in lines.
    - `plain`: Whether it has no frame.

    An empty field shows its hint, also to accessibility: AOSP TextView.getTextForAccessibility returns the hint when
    the text is empty, and bullets for a password.
    """

    name: str
    hint: str
    value: str
    focused: bool
    caret: int
    on_tap: Touch
    on_enter: Touch | None = None
    password: bool = False
    lines: int = 1
    plain: bool = False
    size: float = 16
    radius: float = 14

    def _shown(self) -> str:
        return BULLET * len(self.value) if self.password else self.value

    def _wrapped(self, width: int, scale: Scale) -> tuple[str, ...]:
        size = scale.sp(self.size)
        room = width - 2 * scale.px(self._side())
        if self.lines > 1:
            return fonts.wrapped(self._shown() or self.hint, size, 400, room, 0)
        if not self.value:
            return fonts.wrapped(self.hint, size, 400, room, 1)
        text = self._shown().replace("\n", " ")
        return (text[slice(*self._window(text, room, size))],)

    def _window(self, text: str, room: int, size: int) -> tuple[int, int]:
        """The part of a single line that fits, with the caret in it."""
        first, last = 0, len(text)
        caret = self._caret() if self.focused else last
        while self.value and fonts.width(text[first:caret], size, 400) > room:
            first += 1
        while last > first and fonts.width(text[first:last], size, 400) > room:
            last -= 1
        return first, last

    def _caret(self) -> int:
        return max(0, min(self.caret, len(self.value)))

    def _caret_at(self, lines: tuple[str, ...], room: int, size: int) -> tuple[int, int]:
        """Return the line of the caret and its position in that line in pixels; in an empty field it is in front of
        the hint.
        """
        if not self.value:
            return 0, 0
        text, caret = self._shown(), self._caret()
        if self.lines == 1:
            first, _last = self._window(text.replace("\n", " "), room, size)
            return 0, round(fonts.width(text[first:caret].replace("\n", " "), size, 400))
        # Each line is a piece of the text, less the blanks at which it was broken.
        place, start, number = 0, 0, 0
        for index, line in enumerate(lines):
            begin = text.find(line, place)
            if begin > caret or (index and not line and place > caret):
                break
            number, start = index, begin
            place = begin + len(line)
            while text[place : place + 1] == " ":
                place += 1
            place += text[place : place + 1] == "\n"
        along = fonts.width(text[start:caret].rstrip("\n"), size, 400)
        return number, min(room, round(along))

    def _side(self) -> float:
        return 0 if self.plain else 16

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        count = max(self.lines, len(self._wrapped(width, scale)))
        return round(count * scale.sp(self.size) * LINE_SPACING) + scale.px(12 if self.plain else 34)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        size = scale.sp(self.size)
        line = round(size * LINE_SPACING)
        lines = self._wrapped(box.right - box.left, scale)
        top = box.top + scale.px(6 if self.plain else 17)
        left = box.left + scale.px(self._side())
        paint: list[tuple[Bounds, Paint]] = []
        if not self.plain:
            border = "primary" if self.focused else "line"
            paint.append((box, Fill("background", scale.px(self.radius), border)))
        inner = Bounds(left, top, box.right - scale.px(self._side()), top + line * len(lines))
        if self.focused:
            number, width = self._caret_at(lines, inner.right - inner.left, size)
            along = left + width + (scale.px(1) if self.value else -scale.px(3))
            under = top + line * number
            paint.append((Bounds(along, under, along + max(2, scale.px(1.5)), under + line), Fill("primary")))
        paint.append((inner, Writing(lines, size, 400, "text" if self.value else "faint", line)))
        return Node(
            role="android.widget.EditText",
            bounds=box,
            text=self._shown() or self.hint,
            hint=self.hint,
            identifier=self.name,
            clickable=True,
            long_clickable=True,
            focusable=True,
            focused=self.focused,
            password=self.password,
            multiline=self.lines > 1,
            paint=tuple(paint),
            on_tap=self.on_tap,
            on_enter=self.on_enter,
        )


@dataclass(slots=True)
class Scrolling:
    """Children below each other in a box of a given height, scrolled up by `offset` pixels."""

    name: str
    children: Sequence[Widget]
    offset: int
    bottom_room: float = 16

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        return sum(child.measure(width, scale) for child in self.children) + scale.px(self.bottom_room)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        width, height = box.right - box.left, box.bottom - box.top
        spare = max(0, self.measure(width, scale) - height)
        top = box.top - min(self.offset, spare)
        nodes: list[Node] = []
        for child in self.children:
            tall = child.measure(width, scale)
            if top < box.bottom and top + tall > box.top:
                nodes.append(_clipped(child.place(Bounds(box.left, top, box.right, top + tall), scale), box))
            top += tall
        return Node(
            role="androidx.recyclerview.widget.RecyclerView",
            bounds=box,
            identifier=self.name,
            focusable=spare > 0,
            scroll=self.name if spare else "",
            scroll_range=spare,
            children=nodes,
        )


def _clipped(node: Node, box: Bounds) -> Node:
    """Clip a node to a list's bounds, and drop children that are completely outside and paint nothing. What is painted
    is not changed.
    """
    node.bounds = Bounds(
        max(node.bounds.left, box.left),
        max(node.bounds.top, box.top),
        min(node.bounds.right, box.right),
        min(node.bounds.bottom, box.bottom),
    )
    node.children = [child for each in node.children if (child := _clipped(each, box)).bounds.area or child.paint]
    return node
