"""Tools that scroll a list longer than the screen: until certain words appear, or to the end while reading all rows,
each once and in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, Literal

from pydantic import Field

from agent.actions import Action, Direction
from agent.effect_facts import Worded
from agent.graph.executor.action_spec import PhoneContext, PhoneTool
from agent.graph.executor.targets import swipe_length, swipe_over
from agent.listing import listed, words_of
from agent.tools.spec import ActionError, ActionResult, ungated
from agent.wording import Texts, shortened
from devices.errors import PhoneError
from devices.geometry import Bounds
from devices.phone import Element, Observation

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


def cells_in(observation: Observation, area: Bounds, direction: Direction) -> tuple[Row, ...]:
    """Return the parts of rows in this area that have words, ordered along the direction of scrolling."""
    elements = tuple(each for each in observation.elements or () if each.bounds.clipped(observation.size).area)
    places = listed(elements, observation.size, observation.package, tokens=_ALL)
    found: list[Row] = []
    for element, place in zip(elements, places, strict=True):
        words = " · ".join(filter(None, (words_of(element), place.inside)))
        bounds = element.bounds.clipped(observation.size)
        if place.place != "line" or not words or bounds.area >= area.area or not area.holds(bounds.centre):
            continue
        if element.checkable:
            words = f"{words} ({'on' if element.checked else 'off'})"
        found.append(Row(words, *_edges(bounds, direction)))
    return tuple(sorted(found, key=lambda cell: (cell.start, cell.end)))


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


MAX_SCROLLS: Final = 80
MAX_SECONDS: Final = 90.0
MAX_LETTERS: Final = 6_000
"""The maximum letters of rows or text that a model is given, or that is copied, at once: about 1,500 tokens. All words
of so long a text are remembered (`agent.guards.seen_words.MAX_UNITS`), so that none leaves its app without approval.
"""
NO_LIST: Final = "Not done: nothing on this screen scrolls {direction}."
COVERED: Final = (
    "Not done: this app forbids screenshots, and its words are covered. They are not searched or read before a person "
    "has allowed it (read_words)."
)
READ: Final = "You have read {rows} rows of the list, {end}. They are given to you as data."
LEFT: Final = "Another window came up meanwhile, and the list was left at once."
OUT_OF_TIME: Final = "The end of the list was not reached: it was scrolled {scrolls} times. Go on from here."
_NO_LISTS: Final = ("SeekBar", "Slider", "NumberPicker", "Spinner", "RatingBar", "EditText", "WebView")
"""Scrolling or sliding classes that are not lists: moving them sets a value, or the page reports no rows."""
_TEXTS: Final = Texts(
    {
        "scroll_to": "scroll {direction} to '{text}'",
        "read_list": "read the list to its end, {direction}",
        "found": "found after {scrolls} scrolls",
        "missing": "not there: the list was scrolled to its end",
        "stopped": "not found in {scrolls} scrolls",
        "rows": "{number} rows",
    },
    zh={
        "scroll_to": "滚动查找“{text}”（{direction}）",
        "read_list": "把列表读到底（{direction}）",
        "found": "滚动 {scrolls} 次后找到",
        "missing": "没有：列表已滚动到底",
        "stopped": "滚动 {scrolls} 次后仍未找到",
        "rows": "{number} 行",
    },
)


class ScrollTo(Action):
    """Scroll until words appear, or to the end."""

    kind: Literal["scroll_to"] = "scroll_to"
    text: str = Field(min_length=1, max_length=200, description="The words.")
    direction: Direction = Field(default="down", description="down, up, left or right.")


class ReadList(Action):
    """Read all rows of a long list."""

    kind: Literal["read_list"] = "read_list"
    direction: Direction = Field(default="down", description="down, up, left or right.")


class _Scrolling:
    """Scrolls one list to its end. `pages` yields the looks at it; afterwards it is known why it ended."""

    def __init__(self, context: PhoneContext, direction: Direction) -> None:
        self._context = context
        self._direction = direction
        self.scrolls = 0
        self.at_end = False
        self.left = False
        """Whether another window came up."""

    async def pages(self) -> AsyncIterator[tuple[Observation, Bounds]]:
        """Yield the screen and the list's place on it, now and after each scroll. Raises ActionError."""
        clock = asyncio.get_running_loop().time
        until = clock() + MAX_SECONDS
        try:
            seen = await self._look()
            area = list_area(seen, self._direction)
            if area is None:
                raise ActionError(NO_LIST.format(direction=self._direction))
            yield seen, area
            while self.scrolls < MAX_SCROLLS and clock() < until:
                before, seen = seen, await self._scrolled(area)
                now = list_area(seen, self._direction)
                if seen.package != before.package or now is None:
                    self.left = True
                    return
                # The look already waited for a change, which gave the list time to load more.
                if cells_in(seen, now, self._direction) == cells_in(before, area, self._direction):
                    self.at_end = True
                    return
                area = now
                yield seen, area
        except PhoneError as error:
            raise ActionError(f"The list could not be scrolled: {error}") from error

    async def _scrolled(self, area: Bounds) -> Observation:
        context = self._context
        self.scrolls += 1
        swipe = swipe_over(area, self._direction)
        receipt = f"{context.key.receipt}-{self.scrolls}"
        await context.control.guard(context.phone.act(swipe, receipt=receipt))
        return await self._look(moved=True)

    async def _look(self, *, moved: bool = False) -> Observation:
        seen = await self._context.screen.peek(keep=True, moved=moved)
        if self._context.mask.covers_words(seen):
            # Whether a word is there would reveal covered words, and rows without words all look the same.
            raise ActionError(COVERED)
        return seen


def list_area(observation: Observation, direction: Direction) -> Bounds | None:
    """Return the bounds of the largest list on this screen that scrolls in this direction; None if there is none."""
    lists = [each for each in observation.elements or () if each.scrollable and _is_list(each, direction)]
    areas = [each.bounds.clipped(observation.size) for each in lists]
    return max((area for area in areas if area.area), key=lambda area: area.area, default=None)


def _is_list(element: Element, direction: Direction) -> bool:
    name = element.class_name.rpartition(".")[2]
    sideways = "Horizontal" in name or "ViewPager" in name
    if any(each in name for each in _NO_LISTS):
        return False
    return sideways == (direction in {"left", "right"}) or name == "RecyclerView"


async def scroll_to(action: ScrollTo, context: PhoneContext) -> ActionResult:
    """Run the `scroll_to` tool: scroll until the words are on the screen, the list ends, another window comes up, or
    MAX_SCROLLS or MAX_SECONDS is reached.

    Raises ActionError if nothing scrolls, the words of the screen are covered, or the phone fails, and Stopped.
    """
    wanted, scrolling = " ".join(action.text.split()).casefold(), _Scrolling(context, action.direction)
    async for seen, _area in scrolling.pages():
        if any(wanted in " ".join(each.label.split()).casefold() for each in seen.elements or () if not each.editable):
            return ActionResult((Worded.of(_TEXTS.words("found", scrolls=scrolling.scrolls)),))
    key = "missing" if scrolling.at_end else "stopped"
    told = LEFT if scrolling.left else "" if scrolling.at_end else OUT_OF_TIME.format(scrolls=scrolling.scrolls)
    return ActionResult((Worded.of(_TEXTS.words(key, scrolls=scrolling.scrolls)),), notices=(told,) if told else ())


async def read_list(action: ReadList, context: PhoneContext) -> ActionResult:
    """Run the `read_list` tool: scroll to the end, or as far as its limits allow, and return each row once, as data.
    Raises ActionError if nothing scrolls or the phone fails, and Stopped.
    """
    rows, scrolling, app = Rows(action.direction), _Scrolling(context, action.direction), ""
    async for seen, area in scrolling.pages():
        app = seen.package
        rows.add(cells_in(seen, area, action.direction), swipe_length(area, action.direction))
    letters = accumulate(len(line) + 1 for line in rows.words)
    lines = [line for line, total in zip(rows.words, letters, strict=True) if total <= MAX_LETTERS]
    told = [READ.format(rows=len(rows.words), end="to its end" if scrolling.at_end else "not to its end")]
    if left_out := len(rows.words) - len(lines):
        told.append(f"The last {left_out} of them are left out: they would be too long.")
    if scrolling.left:
        told.append(LEFT)
    elif not scrolling.at_end:
        told.append(OUT_OF_TIME.format(scrolls=scrolling.scrolls))
    effect = Worded.of(_TEXTS.words("rows", number=len(rows.words)))
    return ActionResult((effect,), notices=tuple(told), read=("\n".join(lines),), read_in=app)


SCROLL_TO: Final = PhoneTool(
    model=ScrollTo,
    describe=lambda action, _sight: _TEXTS.words(
        "scroll_to", text=shortened(" ".join(action.text.split()), 40), direction=action.direction
    ),
    gate=ungated,
    traits=frozenset({"moves the screen", "waits"}),
    run=scroll_to,
)
READ_LIST: Final = PhoneTool(
    model=ReadList,
    describe=lambda action, _sight: _TEXTS.words("read_list", direction=action.direction),
    gate=ungated,
    traits=frozenset({"moves the screen", "waits"}),
    run=read_list,
)
