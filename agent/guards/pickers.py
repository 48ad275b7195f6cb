"""Controls that hold a value, by the structure of the tree: sliders, wheels, calendars and clocks of any app.

Forms: AOSP `NumberPicker`, `SimpleMonthView`, `RadialTimePickerView`, `AbsSeekBar`; Material Components `Slider`,
`MaterialDatePicker`, `MaterialTimePicker`; One UI's `SeslDatePicker` and `SeslTimePicker`, which tell wheels as
`android.widget.NumberPicker`. No name of an app decides anything here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, Literal

from agent.months import date_in
from devices.geometry import Bounds, Point
from devices.phone import Element, is_slider, is_wheel

_WHEEL_VALUE: Final = "numberpicker_input"
_MOST_OF_MONTH: Final = 27
"""So many days with a number are a month; no clock has so many numbers."""
_NEXT: Final = re.compile(r"next|following|forward|下一?[个個]?月|次の月|다음")
_BEFORE: Final = re.compile(r"prev|previous|backward|上一?[个個]?月|前の月|이전")
_YEAR: Final = re.compile(r"[12]\d{3}")
_HOUR: Final = re.compile(r"(?:^|_)hours?(?:_|$)")
_MINUTE: Final = re.compile(r"(?:^|_)minutes?(?:_|$)")
_PERIODS: Final = {
    "am": ("am", "a.m.", "上午", "午前", "오전", "vorm.", "a. m."),
    "pm": ("pm", "p.m.", "下午", "午後", "오후", "nachm.", "p. m."),
}
_PERIOD_ID: Final = re.compile(r"(?:^|_)(am|pm)(?:_|$)")
_FACE: Final = 1.3
"""How many times as far from the middle as most of them a number of a clock may be."""
_DIAL: Final = 8
"""Numbers in a circle at least."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A track with what is moved on it. An app may tell nothing of the thumbs."""

    track: Element
    thumbs: tuple[Element, ...] = ()

    @property
    def upright(self) -> bool:
        """Whether its greatest value is at its top."""
        return _height(self.track.bounds) > 2 * _width(self.track.bounds)


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of values: that in the middle, and its neighbours where they are told. `name` is its id."""

    bounds: Bounds
    name: str
    text: str
    before: Element | None = None
    after: Element | None = None

    @property
    def row(self) -> int:
        """Pixels from one value to the next; a wheel shows three at least."""
        near = self.after or self.before
        return max(1, abs(near.bounds.centre.y - self.bounds.centre.y) if near else _height(self.bounds) // 3)

    @property
    def number(self) -> int | None:
        """The value, where it is a number or the name of a month."""
        if found := re.search(r"\d+", self.text):
            return int(found[0])
        return date_in(self.text).month

    @property
    def period(self) -> Literal["am", "pm", ""]:
        """Which half of the day it shows, "" where it shows something else."""
        return period_of(self.text)


@dataclass(frozen=True, slots=True)
class Calendar:
    """A month of days that can be touched."""

    cells: tuple[tuple[int, Element], ...]
    year: int | None
    month: int | None
    next: Element | None
    before: Element | None
    years: Element | None
    """What opens the list of years."""

    @property
    def bounds(self) -> Bounds:
        """Of all days together."""
        return _around(each for _, each in self.cells)

    def cell(self, day: int) -> Element | None:
        """The day of the month that is shown; days of its neighbours may stand at both ends."""
        alike = [each for number, each in self.cells if number == day and each.enabled]
        told = [each for each in alike if date_in(each.description).month in {None, self.month}]
        return (told[-1] if day > 14 else told[0]) if told else None


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock face: numbers in a circle, and what switches between hours and minutes."""

    numbers: tuple[tuple[int, Element], ...]
    hour: Element | None
    minute: Element | None
    periods: dict[str, Element]

    @property
    def centre(self) -> Point:
        """The middle of the face."""
        return _around(each for _, each in self.numbers).centre

    @property
    def by_minutes(self) -> bool:
        """Whether it shows minutes now."""
        return any(number > 24 for number, _ in self.numbers)

    @property
    def whole_day(self) -> bool:
        """Whether its hours go up to 23."""
        return not self.periods

    def place(self, minute: int) -> Point:
        """Where this minute lies on the face, also between two numbers."""
        for number, element in self.numbers:
            if number == minute:
                return element.bounds.centre
        middle = self.centre
        reach = max(math.hypot(c.x - middle.x, c.y - middle.y) for c in (e.bounds.centre for _, e in self.numbers))
        angle = math.tau * minute / 60
        return Point(round(middle.x + reach * math.sin(angle)), round(middle.y - reach * math.cos(angle)))


def sliders_in(elements: Sequence[Element]) -> list[Slider]:
    """The sliders of a screen, each with the thumbs that the tree has inside it."""
    found = [each for each in elements if is_slider(each) and each.enabled]
    inner = {id(b): a for a in found for b in found if a is not b and _inside(b.bounds, a.bounds)}
    return [Slider(a, tuple(b for b in found if inner.get(id(b)) is a)) for a in found if id(a) not in inner]


def wheels_in(elements: Sequence[Element]) -> list[Wheel]:
    """The wheels of a screen, from left to right."""
    boxes = [each for each in elements if is_wheel(each)]
    found = [_wheel(box, [e for e in elements if e is not box and _inside(e.bounds, box.bounds)]) for box in boxes]
    bare = [e for e in elements if _id(e) == _WHEEL_VALUE and not any(b.bounds.holds(e.bounds.centre) for b in boxes)]
    found += [_wheel(value, [e for e in elements if _in_column(e, value)]) for value in bare]
    return sorted((each for each in found if each.text), key=lambda each: each.bounds.left)


def _wheel(box: Element, inside: list[Element]) -> Wheel:
    rows = sorted((e for e in inside if e.text or e.description), key=lambda e: e.bounds.centre.y)
    middle = box.bounds.centre.y
    value = min(rows, key=lambda e: abs(e.bounds.centre.y - middle), default=None)
    if value is None:
        return Wheel(box.bounds, _id(box), box.text or box.description)
    at = rows.index(value)
    return Wheel(
        box.bounds,
        _id(box),
        value.text or value.description,
        rows[at - 1] if at else None,
        rows[at + 1] if at + 1 < len(rows) else None,
    )


def _in_column(element: Element, value: Element) -> bool:
    """Whether it stands right above or below."""
    one, other = element.bounds, value.bounds
    near = abs(one.centre.y - other.centre.y) < 2 * _height(other)
    return near and abs(one.centre.x - other.centre.x) < _width(other) // 2 and bool(element.label)


def calendar_in(elements: Sequence[Element]) -> Calendar | None:
    """The month that is shown, where one is."""
    cells = [(day, each) for each in elements if not each.editable and (day := _day(each)) is not None]
    if len({day for day, _ in cells}) < _MOST_OF_MONTH:
        return None
    days = [each for _, each in cells]
    grid = _around(days)
    others = [e for e in elements if e not in days and e.label and not _inside(grid, e.bounds)]
    told = Counter((t.year, t.month) for e in days if (t := date_in(e.description)).month is not None)
    year, month = told.most_common(1)[0][0] if told else (None, None)
    near = sorted(others, key=lambda e: abs(e.bounds.bottom - grid.top))
    heads = [t for e in near if (t := date_in(e.label)).month is not None and e.bounds.centre.y < grid.centre.y]
    if month is None and heads:
        month = heads[0].month
    if year is None:
        years = [t.year for t in heads if t.year is not None and t.month == month]
        year = years[0] if years else next((int(e.label) for e in near if _YEAR.fullmatch(e.label)), None)
    buttons = [e for e in others if e.clickable]
    return Calendar(
        tuple(cells),
        year,
        month,
        next((e for e in buttons if _NEXT.search(f"{_id(e)} {e.label}".casefold())), None),
        next((e for e in buttons if _BEFORE.search(f"{_id(e)} {e.label}".casefold())), None),
        next((e for e in near if _opens_years(e)), None),
    )


def years_in(elements: Sequence[Element]) -> list[tuple[int, Element]]:
    """The years of a list of years."""
    found = [(int(e.text), e) for e in elements if _YEAR.fullmatch(e.text)]
    return found if len(found) > 2 else []


def clock_in(elements: Sequence[Element]) -> Clock | None:
    """The clock face of a screen, where one is."""
    named = {name: _named(elements, pattern) for name, pattern in (("hour", _HOUR), ("minute", _MINUTE))}
    heads = [each for each in named.values() if each is not None]
    numbers = [
        (int(found[0]), each)
        for each in elements
        if each not in heads and not each.editable and (found := re.match(r"\d{1,2}(?!\d|[.:])", each.label))
    ]
    if len(numbers) < _DIAL:
        return None
    middle = Point(*(round(median(each)) for each in zip(*_centres(numbers), strict=True)))
    reach = median(math.dist(at, (middle.x, middle.y)) for at in _centres(numbers))
    # Those of the day's second half stand in a smaller circle; what is further away is no number of the face.
    numbers = [
        each
        for each, at in zip(numbers, _centres(numbers), strict=True)
        if math.dist(at, (middle.x, middle.y)) < _FACE * reach
    ]
    face = _around(each for _, each in numbers)
    rows = len({each.bounds.centre.y for _, each in numbers})
    if len(numbers) < _DIAL or rows < _DIAL // 2 or not 0.6 < _width(face) / max(1, _height(face)) < 1.6:
        return None
    periods = {half: each for each in elements if (half := _half(each))}
    return Clock(tuple(numbers), named["hour"], named["minute"], periods)


def _centres(numbers: Iterable[tuple[int, Element]]) -> list[tuple[int, int]]:
    return [(each.bounds.centre.x, each.bounds.centre.y) for _, each in numbers]


def time_fields(elements: Sequence[Element]) -> tuple[Element, Element] | None:
    """The fields for an hour and a minute that are typed."""
    hour, minute = (
        next((e for e in elements if e.editable and pattern.search(_id(e).casefold())), None)
        for pattern in (_HOUR, _MINUTE)
    )
    return (hour, minute) if hour is not None and minute is not None else None


def period_of(text: str) -> Literal["am", "pm", ""]:
    """Which half of the day a text names, "" for none."""
    plain = text.strip().casefold()
    return "am" if plain in _PERIODS["am"] else "pm" if plain in _PERIODS["pm"] else ""


def periods_in(elements: Sequence[Element]) -> dict[str, Element]:
    """What chooses between the halves of the day, "am" and "pm"."""
    return {half: each for each in elements if (half := _half(each))}


def _half(element: Element) -> str:
    named = _PERIOD_ID.search(_id(element).casefold())
    return period_of(element.label) or (named[1] if named else "")


def _named(elements: Sequence[Element], pattern: re.Pattern[str]) -> Element | None:
    """What is called so and shows a number, and is no wheel."""
    return next(
        (e for e in elements if pattern.search(_id(e).casefold()) and re.match(r"\d{1,2}", e.text) and not is_wheel(e)),
        None,
    )


def _day(element: Element) -> int | None:
    if element.text.strip().isdecimal():
        day = int(element.text)
    else:
        told = date_in(element.text or element.description)
        day = told.day or 0 if told.month is not None else 0
    return day if 1 <= day <= 31 else None


def _opens_years(element: Element) -> bool:
    """Whether it opens a list of years: it names one, by itself or after a month."""
    name, told = _id(element).casefold(), date_in(element.label)
    if told.year is None or told.day is not None:
        return False
    return "year" in name or "toggle" in name or "header" in name or (element.clickable and told.month is not None)


def is_part_of_picker(touched: Element, around: Sequence[Element]) -> bool:
    """Whether a touch of it only changes what a picker shows: a day, a number of a clock, a row of a wheel, or what
    turns a calendar's pages. The button that takes the value over is none of these.
    """
    if any(touched.bounds in {w.before and w.before.bounds, w.after and w.after.bounds} for w in wheels_in(around)):
        return True
    shown = calendar_in(around)
    if shown is not None:
        return any(touched is each for each in (shown.next, shown.before, shown.years, *(e for _, e in shown.cells)))
    face = clock_in(around)
    return face is not None and any(
        touched is each for each in (face.hour, face.minute, *face.periods.values(), *(e for _, e in face.numbers))
    )


def _id(element: Element) -> str:
    return element.resource_id.rsplit("/", 1)[-1]


def _around(elements: Iterable[Element]) -> Bounds:
    boxes = [each.bounds for each in elements]
    return Bounds(
        min(b.left for b in boxes), min(b.top for b in boxes), max(b.right for b in boxes), max(b.bottom for b in boxes)
    )


def _inside(inner: Bounds, outer: Bounds) -> bool:
    return inner.area < outer.area and outer.holds(inner.centre)


def _width(box: Bounds) -> int:
    return box.right - box.left


def _height(box: Bounds) -> int:
    return box.bottom - box.top
