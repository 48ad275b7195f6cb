"""Finds the places that can be touched on a screen, each with the element that a later touch must still hit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agent import actions as act
from agent.graph.executor.anchors import anchor_of
from agent.graph.executor.targets import ResolvedTarget
from agent.observing import ScreenView, screen_of
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation

GRID = (4, 5)
"""Columns and rows of the grid of places that is used if a phone reports no elements."""
MOST_PLACES = 200
"""Maximum places of one screen; more are of no use to a person, and each takes time."""
LARGE_SHARE = 0.5
"""Share of the screen above which an element counts as a page, not a control."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place on a screenshot that can be touched."""

    at: Point
    """Its position in the phone's own pixels."""
    box: Bounds
    """The area to mark on the screenshot."""
    anchor: dict[str, Any] = field(repr=False)
    """Describes the element that must still be there when the place is touched."""


def touchable_places(seen: Observation) -> tuple[Place, ...]:
    """Return the places that can be touched, at most MOST_PLACES, in reading order. If the phone reports no element
    that can be touched, they form a regular grid.
    """
    screen, targets = screen_of(seen.without_picture(), seen.size)
    view = ScreenView(seen.without_picture(), screen, targets)
    able = [e for e in targets if _can_be_touched(e, seen.size)][:MOST_PLACES]
    found = sorted(able, key=lambda e: (e.bounds.top, e.bounds.left))
    wheres = [ResolvedTarget(e, e.bounds.clipped(seen.size).centre) for e in found] or _grid(seen.size)
    return tuple(
        Place(where.point, _box(where, seen.size), anchor_of(where, view))
        for where in wheres
        if where.point is not None
    )


def _can_be_touched(element: Element, size: Size) -> bool:
    does = element.clickable or element.editable or element.checkable or element.long_clickable
    small = element.bounds.clipped(size).area <= LARGE_SHARE * size.width * size.height
    return does and element.enabled and small


def _grid(size: Size) -> list[ResolvedTarget]:
    columns, rows = GRID
    return [
        ResolvedTarget(
            None, Point(size.width * (2 * column + 1) // (2 * columns), size.height * (2 * row + 1) // (2 * rows))
        )
        for row in range(rows)
        for column in range(columns)
    ]


def _box(where: ResolvedTarget, size: Size) -> Bounds:
    if where.element is not None:
        return where.element.bounds.clipped(size)
    assert where.point is not None
    across, down = size.width // (2 * GRID[0]), size.height // (2 * GRID[1])
    at = where.point
    return Bounds(at.x - across, at.y - down, at.x + across, at.y + down).clipped(size)


def tap(at: Point) -> act.Tap:
    """Return a tap at this point, in the phone's own pixels."""
    return act.Tap(target=act.PointTarget(x=at.x, y=at.y))
