"""A text field, and a list that scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from devices.geometry import Bounds
from devices.simulator.screen import fonts
from devices.simulator.screen.nodes import Fill, Node, Paint, Touch, Writing
from devices.simulator.screen.pieces import LINE_SPACING
from devices.simulator.screen.widgets import Scale, Widget

BULLET = "•"


@dataclass(slots=True)
class Field:
    """A text field. `lines` is the least height in lines; `plain` has no frame.

    An empty field shows its hint, also to accessibility: AOSP TextView.getTextForAccessibility gives the hint when
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
        size = scale.px(self.size)
        text = self._shown() or self.hint
        room = width - 2 * scale.px(self._side())
        if self.lines > 1:
            return fonts.wrapped(text, size, 400, room, 0)
        text = text.replace("\n", " ")
        while text and fonts.width(text, size, 400) > room:
            text = text[1:] if self.value else text[:-1]
        return (text,)

    def _side(self) -> float:
        return 0 if self.plain else 16

    def measure(self, width: int, scale: Scale) -> int:
        """As `Widget` says."""
        count = max(self.lines, len(self._wrapped(width, scale)))
        return round(count * scale.px(self.size) * LINE_SPACING) + scale.px(12 if self.plain else 34)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """As `Widget` says."""
        size = scale.px(self.size)
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
            last = lines[-1] if self.value else ""
            along = left + round(fonts.width(last, size, 400)) + scale.px(1)
            under = top + line * (len(lines) - 1)
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
    """Children below each other in a box of a given height, moved up by `offset` pixels."""

    name: str
    children: Sequence[Widget]
    offset: int
    bottom_room: float = 16

    def measure(self, width: int, scale: Scale) -> int:
        """As `Widget` says."""
        return sum(child.measure(width, scale) for child in self.children) + scale.px(self.bottom_room)

    def place(self, box: Bounds, scale: Scale) -> Node:
        """As `Widget` says."""
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
    """Cuts the bounds of what sticks out of a list, and drops what is wholly outside; the painting stays."""
    node.bounds = Bounds(
        max(node.bounds.left, box.left),
        max(node.bounds.top, box.top),
        min(node.bounds.right, box.right),
        min(node.bounds.bottom, box.bottom),
    )
    node.children = [child for each in node.children if (child := _clipped(each, box)).bounds.area or child.paint]
    return node
