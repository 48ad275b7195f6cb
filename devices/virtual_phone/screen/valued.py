"""Widgets that hold a value: sliders, wheels, calendar months and clock faces. Lengths are in dp."""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial

from devices.geometry import Bounds, Point
from devices.virtual_phone.screen.nodes import Fill, Node, Paint, Touch, Writing
from devices.virtual_phone.screen.pieces import LINE_SPACING
from devices.virtual_phone.screen.widgets import Fixed, Scale

VIEW = "android.view.View"
WHEEL_ROWS = 3
_INSET = 16
"""Space at both ends of a slider's track (AOSP `Widget.Material.SeekBar`: 16 dp)."""


def written(box: Bounds, text: str, scale: Scale, colour: str = "text") -> tuple[Bounds, Paint]:
    """Return a line of text to be painted in the middle of a box."""
    high = round(scale.sp(16) * LINE_SPACING)
    middle = box.centre.y - high // 2
    room = Bounds(box.left, middle, box.right, middle + high)
    return room, Writing((text,), scale.sp(16), 400, colour, high, "centre")


def cell(box: Bounds, text: str, scale: Scale, *, role: str, on_tap: Touch | None = None) -> Node:
    """Return a node with a text in its middle, which can be touched if `on_tap` is given."""
    paint = (written(box, text, scale),)
    return Node(role=role, bounds=box, text=text, clickable=on_tap is not None, on_tap=on_tap, paint=paint)


@dataclass(slots=True)
class Choice(Fixed):
    """An option of which exactly one of several is selected (a radio button). `on` says whether this one is."""

    text: str
    identifier: str
    on: bool
    on_tap: Touch
    height = 52

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        node = cell(box, self.text, scale, role="android.widget.RadioButton", on_tap=self.on_tap)
        node.identifier, node.checkable, node.checked = self.identifier, True, self.on
        node.paint = ((box, Fill("container" if self.on else "raised", scale.px(8))), *node.paint)
        return node


@dataclass(slots=True, kw_only=True)
class Track(Fixed):
    """A slider from `least` to `most`, with one thumb for each value.

    - `on_set`: Called with the index of the thumb and its new value.
    - `names`: The thumbs' descriptions.
    - `told`: Whether accessibility reports each thumb (Material `Slider`), or only one view without text (AOSP
      `SeekBar`).
    - `step`: The distance between possible values.
    """

    values: tuple[int, ...]
    least: int
    most: int
    on_set: Callable[[int, int], None]
    identifier: str = ""
    names: tuple[str, ...] = ("",)
    told: bool = False
    step: int = 1
    height = 48

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        low, high = box.left + scale.px(_INSET), box.right - scale.px(_INSET)

        def at(value: int) -> int:
            return round(low + (high - low) * (value - self.least) / (self.most - self.least))

        def move(start: Point, end: Point) -> None:
            share = min(1.0, max(0.0, (end.x - low) / (high - low)))
            value = self.least + round((self.most - self.least) * share / self.step) * self.step
            nearest = min(range(len(self.values)), key=lambda n: abs(at(self.values[n]) - start.x))
            self.on_set(nearest, value)

        half, middle = scale.px(24), box.centre.y
        thumbs = [
            Node(
                role="android.widget.SeekBar",
                bounds=Bounds(at(value) - half, middle - half, at(value) + half, middle + half),
                description=f"{name} {value}".strip(),
                on_move=move,
            )
            for name, value in zip(self.names, self.values, strict=True)
        ]
        line = Bounds(low, middle - scale.px(2), high, middle + scale.px(2))
        paint: list[tuple[Bounds, Paint]] = [(line, Fill("line"))]
        for value in self.values:
            disc = Bounds(at(value) - half // 3, middle - half // 3, at(value) + half // 3, middle + half // 3)
            paint.append((disc, Fill("primary", half // 3)))
        return Node(
            role="android.widget.SeekBar",
            bounds=box,
            identifier=self.identifier,
            paint=tuple(paint),
            children=thumbs if self.told else [],
            on_move=move,
        )


@dataclass(slots=True, kw_only=True)
class Spinner(Fixed):
    """A wheel of `values`, as AOSP's `NumberPicker` reports it: the chosen one in a field, its neighbours as buttons.

    `chosen` is the index of the chosen value; `on_set` is called with the new index.
    """

    values: tuple[str, ...]
    chosen: int
    on_set: Callable[[int], None]
    identifier: str = ""
    round: bool = True
    """Whether the last value is followed by the first."""
    height = 48 * WHEEL_ROWS

    def _beside(self, steps: int) -> int | None:
        at = self.chosen + steps
        if self.round:
            return at % len(self.values)
        return at if 0 <= at < len(self.values) else None

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        row = (box.bottom - box.top) // WHEEL_ROWS

        def move(start: Point, end: Point) -> None:
            steps = round((start.y - end.y) / row)
            at = self.chosen + steps
            self.on_set(at % len(self.values) if self.round else min(len(self.values) - 1, max(0, at)))

        children: list[Node] = []
        for number, steps in enumerate((-1, 0, 1)):
            at = self._beside(steps)
            if at is None:
                continue
            room = Bounds(box.left, box.top + number * row, box.right, box.top + (number + 1) * row)
            if steps:
                children.append(
                    cell(room, self.values[at], scale, role="android.widget.Button", on_tap=partial(self.on_set, at))
                )
            else:
                field = cell(room, self.values[at], scale, role="android.widget.EditText")
                field.identifier = "android:id/numberpicker_input"
                children.append(field)
        return Node(
            role="android.widget.NumberPicker",
            bounds=box,
            identifier=self.identifier,
            scrollable=True,
            children=children,
            on_move=move,
        )


@dataclass(slots=True, kw_only=True)
class Month:
    """The days of a month in seven columns.

    - `first`: A day in the month.
    - `chosen`: The chosen day; `on_set` is called with a new one.
    - `describe`: Returns the description of a day for accessibility.
    - `texted`: Whether accessibility also reports the number of the day.
    - `tails`: Whether days of the months before and after fill the rows; they cannot be chosen.
    """

    first: date
    chosen: date
    on_set: Callable[[date], None]
    describe: Callable[[date], str]
    role: str = VIEW
    identifier: str = ""
    texted: bool = True
    tails: bool = False

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        return width // 7 * 6 if width // 7 < scale.px(44) else scale.px(44) * 6

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        wide, high = (box.right - box.left) // 7, (box.bottom - box.top) // 6
        children: list[Node] = []
        weeks = calendar.Calendar(firstweekday=6).monthdatescalendar(self.first.year, self.first.month)
        for row, week in enumerate(weeks):
            for column, day in enumerate(week):
                own = day.month == self.first.month
                if not own and not self.tails:
                    continue
                left, top = box.left + column * wide, box.top + row * high
                room = Bounds(left, top, left + wide, top + high)
                children.append(
                    Node(
                        role=self.role,
                        bounds=room,
                        text=str(day.day) if self.texted else "",
                        description=self.describe(day),
                        clickable=own,
                        enabled=own,
                        checked=day == self.chosen and self.role == VIEW,
                        selected=day == self.chosen and self.role != VIEW,
                        on_tap=partial(self.on_set, day) if own else None,
                        paint=(
                            *(((room, Fill("container", high // 2)),) if day == self.chosen else ()),
                            written(room, str(day.day), scale, colour="text" if own else "faint"),
                        ),
                    )
                )
        return Node(role=VIEW, bounds=box, identifier=self.identifier, children=children)


@dataclass(slots=True, kw_only=True)
class Dial:
    """A clock face with `numbers` in a circle. A full turn has `around` values, so a touch between two numbers counts
    as well.

    `on_set` is called with the new value.
    """

    numbers: tuple[int, ...]
    around: int
    on_set: Callable[[int], None]
    role: str
    identifier: str
    describe: Callable[[int], tuple[str, str]]
    """Returns the text and description of a number."""

    def measure(self, width: int, scale: Scale) -> int:
        """Return the height in pixels that the widget needs at this width in pixels. See `Widget.measure`."""
        return min(width, scale.px(300))

    def place(self, box: Bounds, scale: Scale) -> Node:
        """Return the laid-out node that fills the box. See `Widget.place`."""
        middle, reach, half = box.centre, (box.bottom - box.top) // 2 - scale.px(28), scale.px(20)

        def move(start: Point, end: Point) -> None:
            del start
            turn = math.atan2(end.x - middle.x, middle.y - end.y) / math.tau
            self.on_set(round(turn * self.around) % self.around)

        children: list[Node] = []
        for number in self.numbers:
            angle = math.tau * number / self.around
            x, y = round(middle.x + reach * math.sin(angle)), round(middle.y - reach * math.cos(angle))
            text, description = self.describe(number)
            room = Bounds(x - half, y - half, x + half, y + half)
            children.append(
                Node(
                    role=self.role,
                    bounds=room,
                    text=text,
                    description=description,
                    clickable=True,
                    on_tap=partial(self.on_set, number % self.around),
                    paint=(written(room, text or description, scale),),
                )
            )
        ground = (box, Fill("raised", (box.bottom - box.top) // 2))
        return Node(role=VIEW, bounds=box, identifier=self.identifier, children=children, on_move=move, paint=(ground,))
