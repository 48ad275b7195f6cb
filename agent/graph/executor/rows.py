"""Assembles the rows of a list from observations that overlap, so that each row appears once, in order, even if rows
repeat or stay in view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.actions import Direction
from agent.listing import listed, words_of
from devices.geometry import Bounds
from devices.phone import Observation

_ALL: Final = 1_000_000
"""A token limit so high that the element list leaves nothing out."""
_NEAR: Final = 6
"""Pixels by which a position may differ between looks."""


@dataclass(frozen=True, slots=True)
class Row:
    """The words of one row or part of it. `start` and `end` are its edges in pixels along the direction of scrolling,
    `left` and `right` those across it.
    """

    words: str
    start: int
    end: int
    left: int = 0
    right: int = 1


def cells_in(seen: Observation, area: Bounds, direction: Direction) -> tuple[Row, ...]:
    """Return the parts of rows in this area that have words, ordered along the direction of scrolling."""
    elements = tuple(each for each in seen.elements or () if each.bounds.clipped(seen.size).area)
    places = listed(elements, seen.size, seen.package, tokens=_ALL)
    found: list[Row] = []
    for element, place in zip(elements, places, strict=True):
        words = " · ".join(filter(None, (words_of(element), place.inside)))
        bounds = element.bounds.clipped(seen.size)
        if place.place != "line" or not words or bounds.area >= area.area or not _holds(area, bounds):
            continue
        if element.checkable:
            words = f"{words} ({'on' if element.checked else 'off'})"
        found.append(Row(words, *_edges(bounds, direction)))
    return tuple(sorted(found, key=lambda cell: (cell.start, cell.end)))


def _holds(area: Bounds, inner: Bounds) -> bool:
    centre = inner.centre
    return area.left <= centre.x < area.right and area.top <= centre.y < area.bottom


def _edges(bounds: Bounds, direction: Direction) -> tuple[int, int, int, int]:
    match direction:
        case "down":
            return bounds.top, bounds.bottom, bounds.left, bounds.right
        case "up":
            return -bounds.bottom, -bounds.top, bounds.left, bounds.right
        case "right":
            return bounds.left, bounds.right, bounds.top, bounds.bottom
        case "left":
            return -bounds.right, -bounds.left, bounds.top, bounds.bottom


def _joined(cells: Sequence[Row]) -> list[Row]:
    """Merge cells into rows: cells that share more than half of their length belong together."""
    rows: list[Row] = []
    for cell in cells:
        last = rows[-1] if rows else None
        shared = min(last.end, cell.end) - cell.start if last is not None else 0
        if last is not None and 2 * shared > min(cell.end - cell.start, last.end - last.start):
            words = f"{last.words} · {cell.words}"
            rows[-1] = replace(last, words=words, end=max(last.end, cell.end))
        else:
            rows.append(cell)
    return rows


def _floating(before: Sequence[Row], page: Sequence[Row]) -> set[Row]:
    """Return what lies above the rows without moving with them, such as a round button."""
    return {cell for cell in {*before} & {*page} if any(_overlap(cell, other) for other in (*before, *page))}


def _overlap(cell: Row, other: Row) -> bool:
    along, across = (
        min(cell.end, other.end) - max(cell.start, other.start),
        min(cell.right, other.right) - max(cell.left, other.left),
    )
    return cell != other and along > _NEAR and across > 0


class Rows:
    """Collects all rows of a list from observations that overlap."""

    def __init__(self, direction: Direction) -> None:
        self._backwards = direction in {"up", "left"}
        self._rows: list[Row] = []
        self._seen: Sequence[Row] = ()
        self._last: Sequence[Row] = ()
        self._floating: set[Row] = set()
        self._travelled = 0

    @property
    def words(self) -> list[str]:
        """The words of each row, from top to bottom or from left to right."""
        words = [row.words for row in self._rows]
        return words[::-1] if self._backwards else words

    def add(self, cells: Sequence[Row], expected: int) -> None:
        """Add the parts of rows that the next observation shows. `expected` is how many pixels the list should have
        moved since the last observation.
        """
        if not cells:
            return
        self._floating |= _floating(self._seen, cells)
        if self._floating and self._travelled == 0:
            # What floats above the rows of the first look is known from the second.
            self._last = _joined([each for each in self._seen if each not in self._floating])
            self._rows = [*self._last]
        page = _joined([each for each in cells if each not in self._floating])
        moved = self._moved(page, expected) if self._last else 0
        moving = page[_staying(self._last, page, moved) :] if moved else page
        self._travelled += moved
        for row in moving:
            self._take(replace(row, start=row.start + self._travelled, end=row.end + self._travelled))
        self._seen, self._last = cells, page

    def _take(self, row: Row) -> None:
        last = self._rows[-1] if self._rows else None
        if last is None or row.start > last.start + _NEAR:
            if last is None or row.end > last.end + _NEAR:
                self._rows.append(row)
        elif abs(row.start - last.start) <= _NEAR and row.end > last.end:
            self._rows[-1] = row  # the edge of the list had cut it off

    def _moved(self, page: Sequence[Row], expected: int) -> int:
        """Return how many pixels the list moved since the last observation: the distance that contradicts the fewest
        rows and, of several, the closest to the expected one. If no row is seen twice, everything is new.
        """
        ways = {
            old.start - new.start
            for old in self._last
            for new in page
            if old.words == new.words and old.start >= new.start
        }
        if not ways:
            return max(row.end for row in self._last) - min((row.start for row in page), default=0)
        return min(ways, key=lambda way: (_contradictions(self._last, page, way), abs(way - expected)))


def _contradictions(before: Sequence[Row], page: Sequence[Row], moved: int) -> int:
    """Count the rows of either look that should be in the other one but are not. A sticky heading does not move with
    the rows.
    """
    stuck = next((n for n, (old, new) in enumerate(zip(before, page, strict=False)) if old != new), 0) if moved else 0
    return sum(
        1
        for rows, others, way in ((before, page, moved), (page, before, -moved))
        for row in rows[stuck:]
        if others[0].end - _NEAR < row.start - way
        and row.end - way < others[-1].end - _NEAR
        and not any(_is_same(row, each, way) for each in others)
    )


def _is_same(row: Row, other: Row, moved: int) -> bool:
    """Whether one row is the other after moving; an edge of the list may cut off one end."""
    edges = (row.start - moved - other.start, row.end - moved - other.end)
    return row.words == other.words and min(map(abs, edges)) <= _NEAR


def _staying(before: Sequence[Row], page: Sequence[Row], moved: int) -> int:
    """Count the rows at the top of the page that did not move with the rest, such as a sticky heading."""
    old = {(row.words, row.start) for row in before}
    for number, row in enumerate(page):
        gone_on = any(each.words == row.words and abs(each.start - moved - row.start) <= _NEAR for each in before)
        if gone_on or (row.words, row.start) not in old:
            return number
    return len(page)
