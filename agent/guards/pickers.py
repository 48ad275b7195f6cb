"""Recognises controls that hold a value by the structure of the tree: sliders, wheels, calendars and clocks of any app.

Sources: AOSP `NumberPicker`, `SimpleMonthView`, `RadialTimePickerView`, `AbsSeekBar`; Material Components `Slider`,
`MaterialDatePicker`, `MaterialTimePicker`; One UI's `SeslDatePicker` and `SeslTimePicker`, which report wheels as
`android.widget.NumberPicker`. No app name matters here.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, Literal, TypeVar

from agent.told_values import ToldDate, bare_date, date_in
from devices.geometry import Bounds, Point
from devices.phone import Element, is_slider, is_wheel

T = TypeVar("T")

_WHEEL_VALUE: Final = "numberpicker_input"
_MOST_OF_MONTH: Final = 27
"""How many numbered days make a month; no clock has as many numbers."""
_COLUMNS: Final = 7
_FOLLOWING: Final = (
    "next following nächster nächsten suivant prochain siguiente próximo próxima successivo prossimo seguinte volgende "
    "nästa następny sonraki berikutnya следующий наступний التالي अगला 下一 下 次の 다음"
)
_PRECEDING: Final = (
    "previous prev preceding vorheriger vorherigen voriger précédent anterior precedente vorige föregående poprzedni "
    "önceki sebelumnya предыдущий попередній السابق पिछला 上一 上 前の 이전"
)
_OF_MONTH: Final = (
    "change go to the month monat zum wechseln mois mes mese mês maand månad miesiąc ay bulan месяц місяць الشهر महीना "
    "个 個 月 달"
)
_TURN_IDS: Final = {
    "android:id/next": 1,
    "android:id/prev": -1,
    "month_navigation_next": 1,
    "month_navigation_previous": -1,
    "sesl_date_picker_calendar_header_next_button": 1,
    "sesl_date_picker_calendar_header_prev_button": -1,
}
"""Ids of the buttons of AOSP, Material Components and One UI that page a calendar."""
_ALIGNED: Final = 3
"""How many elements below or next to each other make a column or row."""
_UNEVEN: Final = 1.3
"""How many times wider than the narrowest column the widest may be."""
_HEAD: Final = 6
"""How many day heights above the days a calendar's header begins at most."""
_YEAR: Final = re.compile(r"[12]\d{3}")
_TYPING: Final = re.compile(r"(?:^|_)(?:toggle_mode|timepicker_mode)")
"""Ids in AOSP and Material Components of the button that turns a clock into text fields."""
_HOUR: Final = re.compile(r"(?:^|_)hours?(?:_|$)")
_MINUTE: Final = re.compile(r"(?:^|_)minutes?(?:_|$)")
_PERIODS: Final = {
    "am": ("am", "a.m.", "上午", "午前", "오전", "vorm.", "a. m."),
    "pm": ("pm", "p.m.", "下午", "午後", "오후", "nachm.", "p. m."),
}
_PERIOD_ID: Final = re.compile(r"android:id/(am|pm)_label|material_clock_period_(am|pm)_button")
"""The ids of the am/pm choices of AOSP and Material Components, in any language."""
_FACE: Final = 1.3
"""How many times farther from the centre than most a number on a clock face may be."""
_CLOCK_NUMBER: Final = re.compile(
    r"(\d{1,2})\s*(?:o['’]clock|hours?|minutes?|h|min|uhr|stunden?|minuten?|heures?|horas?|minutos?|ore|minuti"
    r"|час(?:а|ов)?|минут[аы]?|点钟?|點鐘?|时|時|分钟?|分鐘?|시|분)?\.?"
)
_LEAN: Final = math.radians(12)
"""How far a number may be from its angle on a clock face."""
_DIAL: Final = 8
"""The minimum number of numbers in a circle."""


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider: its track, and the thumbs on it if the app reports them."""

    track: Element
    thumbs: tuple[Element, ...] = ()

    @property
    def upright(self) -> bool:
        """Whether the slider is vertical, with its maximum at the top."""
        return self.track.bounds.height > 2 * self.track.bounds.width


@dataclass(frozen=True, slots=True)
class Wheel:
    """One wheel of values. `text` is the selected value, `before` and `after` are its neighbours if they are reported,
    and `name` is the wheel's id.
    """

    bounds: Bounds
    name: str
    text: str
    before: Element | None = None
    after: Element | None = None
    rows: int = 3
    """How many values are visible within its bounds."""

    @property
    def row(self) -> int:
        """Pixels from one value to the next."""
        near = self.after or self.before
        return max(1, abs(near.bounds.centre.y - self.bounds.centre.y) if near else self.bounds.height // self.rows)

    @property
    def number(self) -> int | None:
        """The selected value as a number if it is a single whole number or a month (1–12); otherwise None."""
        told = bare_date(self.text)
        if told.month is not None:
            return told.month if told.day is None and told.year is None else None
        found = re.fullmatch(r"[^\d.,/:-]*(\d+)[^\d.,/:]*", self.text)
        return int(found[1]) if found else None

    @property
    def period(self) -> Literal["am", "pm", ""]:
        """Which half of the day the wheel shows; "" if it shows something else."""
        return period_of(self.text)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The page of a calendar that is shown.

    `cells` are pairs of a day of the month and the element to touch. `year` and `month` are None if they cannot be
    read. `next` and `before` are the elements that turn the page.
    """

    cells: tuple[tuple[int, Element], ...]
    year: int | None
    month: int | None
    next: Element | None
    before: Element | None
    years: Element | None
    """The element that opens the list of years."""

    @property
    def bounds(self) -> Bounds:
        """The bounds of all days together."""
        return _around(each for _, each in self.cells)

    def cell(self, day: int) -> Element | None:
        """Return the element that selects this day of the month, or None."""
        return next((each for number, each in self.cells if number == day and each.enabled), None)


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock face.

    `numbers` are pairs of a number on the face and its element. `hour` and `minute` are the elements that switch the
    face to hours or minutes, and `periods` those that select "am" and "pm".
    """

    numbers: tuple[tuple[int, Element], ...]
    hour: Element | None
    minute: Element | None
    periods: dict[str, Element]

    @property
    def centre(self) -> Point:
        """The centre of the face."""
        return _around(each for _, each in self.numbers).centre

    @property
    def by_minutes(self) -> bool:
        """Whether the face shows minutes at the moment, not hours."""
        return any(number > 24 for number, _ in self.numbers)

    @property
    def whole_day(self) -> bool:
        """Whether the face has the hours 0 to 23, without am and pm."""
        return not self.periods

    def place(self, minute: int) -> Point:
        """Return the point of this minute on the face, even if it is between two numbers."""
        for number, element in self.numbers:
            if number == minute:
                return element.bounds.centre
        middle = self.centre
        reach = max(math.hypot(c.x - middle.x, c.y - middle.y) for c in (e.bounds.centre for _, e in self.numbers))
        angle = math.tau * minute / 60
        return Point(round(middle.x + reach * math.sin(angle)), round(middle.y - reach * math.cos(angle)))


def sliders_in(elements: Sequence[Element]) -> list[Slider]:
    """Return the sliders on a screen, each with the thumbs inside it."""
    found = [each for each in elements if is_slider(each) and each.enabled]
    inner = {id(b): a for a in found for b in found if a is not b and _inside(b.bounds, a.bounds)}
    return [Slider(a, tuple(b for b in found if inner.get(id(b)) is a)) for a in found if id(a) not in inner]


def wheels_in(elements: Sequence[Element]) -> list[Wheel]:
    """Return the wheels on a screen, from left to right."""
    boxes = [each for each in elements if is_wheel(each)]
    found = [_wheel(box, [e for e in elements if e is not box and _inside(e.bounds, box.bounds)]) for box in boxes]
    values = (e for e in elements if e.short_id == _WHEEL_VALUE)
    bare = [e for e in values if not any(b.bounds.holds(e.bounds.centre) for b in boxes)]
    found += [_wheel(value, [e for e in elements if e is value or _in_column(e, value)], rows=1) for value in bare]
    return sorted((each for each in found if each.text), key=lambda each: each.bounds.left)


def _wheel(box: Element, inside: list[Element], rows: int = 3) -> Wheel:
    told = sorted((e for e in inside if e.text or e.description), key=lambda e: e.bounds.centre.y)
    middle = box.bounds.centre.y
    value = min(told, key=lambda e: abs(e.bounds.centre.y - middle), default=None)
    if value is None:
        return Wheel(box.bounds, box.short_id, box.text or box.description, rows=rows)
    at = told.index(value)
    before, after = told[at - 1] if at else None, told[at + 1] if at + 1 < len(told) else None
    return Wheel(
        box.bounds,
        box.short_id,
        value.text or value.description,
        before if before is not None and _are_alike(before, value) else None,
        after if after is not None and _are_alike(after, value) else None,
        rows,
    )


def _are_alike(one: Element, other: Element) -> bool:
    """Whether two elements are values of one wheel: same width, horizontal position and form."""
    width = other.bounds.width
    if abs(one.bounds.left - other.bounds.left) + abs(one.bounds.right - other.bounds.right) > width // 5:
        return False
    kind = _kind(other.text or other.description)
    return bool(kind) and all(_kind(label) == kind for label in (one.text, one.description) if label)


def _kind(value: str) -> str:
    """Return what all values of a wheel have in common; "" if their words do not show it."""
    plain = value.strip()
    told = bare_date(plain)
    if plain.isdecimal():
        return "number"
    if period_of(plain):
        return "half"
    if told.month is None:
        return ""
    return "month" if told.day is None else "date"


def _in_column(element: Element, value: Element) -> bool:
    """Whether the element is directly above or below the value."""
    one, other = element.bounds, value.bounds
    near = abs(one.centre.y - other.centre.y) < 2 * other.height
    return near and abs(one.centre.x - other.centre.x) < other.width // 2 and bool(element.label)


def calendar_in(elements: Sequence[Element]) -> Calendar | None:
    """Return the calendar page that these elements show, or None."""
    cells = _grid([(day, each) for each in elements if not each.editable and (day := _read_as(_day, each)) is not None])
    if len({day for day, _ in cells}) < _MOST_OF_MONTH:
        return None
    days = [each for _, each in cells]
    grid, taken = _around(days), {id(each) for each in days}
    others = [e for e in elements if id(e) not in taken and e.label and not _inside(grid, e.bounds)]
    told = Counter((t.year, t.month) for e in days if (t := date_in(e.description)).month is not None)
    year, month = told.most_common(1)[0][0] if told else (None, None)
    near = sorted(others, key=lambda e: abs(e.bounds.bottom - grid.top))
    heads = [t for e in near if (t := date_in(e.label)).month is not None and e.bounds.centre.y < grid.centre.y]
    if month is None and heads:
        month = heads[0].month
    if year is None:
        years = [t.year for t in heads if t.year is not None and t.month == month]
        year = years[0] if years else next((int(e.label) for e in near if _YEAR.fullmatch(e.label)), None)
    high = int(median(e.bounds.height for e in days))
    head = [
        e
        for e in near
        if grid.top - _HEAD * high <= e.bounds.top
        and e.bounds.bottom <= grid.top + high // 4
        and grid.left - high <= e.bounds.centre.x <= grid.right + high
    ]
    return Calendar(
        tuple(cells),
        year,
        month,
        next((e for e in head if _turns(e) == 1), None),
        next((e for e in head if _turns(e) == -1), None),
        next((e for e in head if _opens_years(e)), None),
    )


def _grid(cells: list[tuple[int, Element]]) -> list[tuple[int, Element]]:
    """Return the days that are where a month has them: in seven columns of equal width, each one place after the
    previous day. Anything elsewhere is not a day of it, whatever it says.
    """
    if len(cells) < _MOST_OF_MONTH:
        return []
    width = max(1, int(median(e.bounds.width for _, e in cells)))
    height = max(1, int(median(e.bounds.height for _, e in cells)))
    cells = [(day, e) for day, e in cells if e.bounds.width < 1.5 * width and e.bounds.height < 1.5 * height]
    lefts = _steps((e.bounds.centre.x for _, e in cells), width)
    if len(lefts) != _COLUMNS or max(gaps := _gaps(lefts)) > _UNEVEN * min(gaps):
        return []
    cells = [(day, e) for day, e in cells if min(abs(x - e.bounds.centre.x) for x in lefts) < width // 4]
    tops = _steps((e.bounds.centre.y for _, e in cells), height)
    row = median(_gaps(tops) or [height])
    best: list[tuple[int, Element]] = []
    for way in (1, -1):  # in right-to-left languages, the first day of a week is on the right
        places = [
            round((e.bounds.centre.y - tops[0]) / row) * _COLUMNS + _nearest(lefts[::way], e.bounds.centre.x) - day
            for day, e in cells
        ]
        ((first, many),) = Counter(places).most_common(1)
        if many > len(best):
            best = [cell for cell, place in zip(cells, places, strict=True) if place == first]
    return best


def _steps(places: Iterable[int], size: int) -> list[int]:
    """Return the positions at which three or more elements begin a column or row."""
    found: list[list[int]] = []
    for place in sorted(places):
        if found and place - found[-1][0] < size // 2:
            found[-1].append(place)
        else:
            found.append([place])
    return [round(median(group)) for group in found if len(group) >= _ALIGNED]


def _gaps(places: list[int]) -> list[int]:
    return [after - before for before, after in pairwise(places)]


def _nearest(places: list[int], to: int) -> int:
    return min(range(len(places)), key=lambda n: abs(places[n] - to))


def _turns(element: Element) -> int:
    """Return 1 if the element turns a calendar to the next month, -1 for the previous one, otherwise 0."""
    name = element.resource_id if element.resource_id.startswith("android:") else element.short_id
    return _read_as(_way, element) or (0 if element.text else _TURN_IDS.get(name, 0))


def _way(label: str) -> int:
    rest = label.casefold()
    words = set(re.findall(r"[^\s.,]+", rest))
    of_month = set(_OF_MONTH.split())
    for way, forms in ((1, _FOLLOWING.split()), (-1, _PRECEDING.split())):
        if words & set(forms) and words <= set(forms) | of_month:
            return way
        if re.fullmatch(rf"(?:{'|'.join(forms)})\s*[个個]?[月달]", rest):
            return way
    return 0


def years_in(elements: Sequence[Element]) -> list[tuple[int, Element]]:
    """Return pairs of a year and its element if the screen shows a list of years; otherwise an empty list."""
    found = [(int(e.text), e) for e in elements if _YEAR.fullmatch(e.text)]
    return found if len(found) > 2 else []


def typing_button_in(elements: Sequence[Element]) -> Element | None:
    """Return the button without words that turns a clock face into text fields, or None."""
    return next((e for e in elements if not e.text and _TYPING.search(e.short_id)), None)


def clock_in(elements: Sequence[Element]) -> Clock | None:
    """Return the clock face that these elements show, or None."""
    hour, minute = _named(elements, _HOUR), _named(elements, _MINUTE)
    others = (each for each in elements if each is not hour and each is not minute and not each.editable)
    numbers = [(number, each) for each in others if (number := _clock_number(each)) is not None]
    if len(numbers) < _DIAL:
        return None
    middle = Point(*(round(median(each)) for each in zip(*_centres(numbers), strict=True)))
    reach = median(math.dist(at, (middle.x, middle.y)) for at in _centres(numbers))
    # Hours of the day's second half are in a smaller circle; anything farther out is not on the face.
    numbers = [
        each
        for each, at in zip(numbers, _centres(numbers), strict=True)
        if math.dist(at, (middle.x, middle.y)) < _FACE * reach and _is_at(each[0], at, middle)
    ]
    face = _around(each for _, each in numbers)
    rows = len({each.bounds.centre.y for _, each in numbers})
    if len(numbers) < _DIAL or rows < _DIAL // 2 or not 0.6 < face.width / max(1, face.height) < 1.6:
        return None
    return Clock(tuple(numbers), hour, minute, periods_in(elements))


def _clock_number(element: Element) -> int | None:
    """Return the number that the element says, apart from a unit; None if it says anything else."""
    said = [_CLOCK_NUMBER.fullmatch(label.strip().casefold()) for label in (element.text, element.description) if label]
    numbers = {int(each[1]) if each else -1 for each in said}
    return numbers.pop() if len(numbers) == 1 and -1 not in numbers else None


def _is_at(number: int, at: tuple[int, int], middle: Point) -> bool:
    """Whether a face has this hour or minute at this place."""
    angle = math.atan2(at[0] - middle.x, middle.y - at[1])
    return any(abs(math.remainder(angle - math.tau * number / round_, math.tau)) < _LEAN for round_ in (12, 60))


def _centres(numbers: Iterable[tuple[int, Element]]) -> list[tuple[int, int]]:
    return [(each.bounds.centre.x, each.bounds.centre.y) for _, each in numbers]


def time_fields(elements: Sequence[Element]) -> tuple[Element, Element] | None:
    """Return the two fields in which an hour and a minute are typed, or None."""
    hour, minute = (
        next((e for e in elements if e.editable and pattern.search(e.short_id.casefold())), None)
        for pattern in (_HOUR, _MINUTE)
    )
    return (hour, minute) if hour is not None and minute is not None else None


def period_of(text: str) -> Literal["am", "pm", ""]:
    """Return the half of the day that a text names; "" if it names none."""
    plain = text.strip().casefold()
    return "am" if plain in _PERIODS["am"] else "pm" if plain in _PERIODS["pm"] else ""


def periods_in(elements: Sequence[Element]) -> dict[str, Element]:
    """Return the elements that select "am" and "pm", by these names."""
    return {half: each for each in elements if (half := _half(each))}


def _half(element: Element) -> str:
    """Return the half of the day that is all the element says, or that its id names."""
    named = _PERIOD_ID.fullmatch(element.resource_id) or _PERIOD_ID.fullmatch(element.short_id)
    return _read_as(period_of, element) or ((named[1] or named[2]) if named else "")


def _named(elements: Sequence[Element], pattern: re.Pattern[str]) -> Element | None:
    """Return the element with this id that shows a number and is not a wheel."""
    named = (e for e in elements if pattern.search(e.short_id.casefold()) and _clock_number(e) is not None)
    return next((e for e in named if not is_wheel(e) and not e.editable), None)


def _read_as(read: Callable[[str], T], element: Element) -> T | None:
    """Return as what all words of the element are read; None if they are read differently, or there are none."""
    found = {read(label) for label in (element.text, element.description) if label}
    return found.pop() if len(found) == 1 else None


def _day(label: str) -> int | None:
    """Return the day of the month that is all the label says; None if it says anything else."""
    told = bare_date(label)
    return told.day if label.strip().isdecimal() or told.month is not None else None


def _opens_years(element: Element) -> bool:
    """Whether it says only a year, or a month and year, like an element that opens a list of years."""
    told = bare_date(element.label)
    if told.year is None or told.day is not None:
        return False
    if any(bare_date(label) != told for label in (element.text, element.description) if label):
        return False
    name = element.short_id.casefold()
    return "year" in name or "toggle" in name or "header" in name or (element.clickable and told.month is not None)


def is_part_of_picker(touched: Element, around: Sequence[Element]) -> bool:
    """Whether a touch only changes what a picker shows: a day, a clock number, a wheel's row, or a calendar's page. The
    button that accepts the value does not count.
    """
    if any(touched is each for wheel in wheels_in(around) for each in (wheel.before, wheel.after)):
        return True
    shown = calendar_in(around)
    if shown is not None:
        return any(touched is each for each in (shown.next, shown.before, shown.years, *(e for _, e in shown.cells)))
    face = clock_in(around)
    return face is not None and any(
        touched is each for each in (face.hour, face.minute, *face.periods.values(), *(e for _, e in face.numbers))
    )


def only_sets_value(
    touched: Element | None, around: Sequence[Element], path: tuple[Point, Point] | None = None
) -> bool:
    """Whether an input only changes or shows the value of a picker or slider.

    - `touched`: The element that a touch would press: a part of a picker, a slider, a year in a list of years, or the
      button that turns a clock face into text fields. None if the input presses no element.
    - `around`: All elements on the screen.
    - `path`: The start and end of a finger's movement that presses no element; it must stay on a slider.
    """
    sliders = sliders_in(around)
    if touched is None:
        return path is not None and any(all(map(each.track.bounds.holds, path)) for each in sliders)
    if is_part_of_picker(touched, around):
        return True
    if any(touched is each for slider in sliders for each in (slider.track, *slider.thumbs)):
        return True
    if clock_in(around) is not None:
        return touched is typing_button_in(around)
    if time_fields(around) is not None:
        return any(touched is each for each in periods_in(around).values())
    return _chooses_year(touched, around)


def _chooses_year(touched: Element, around: Sequence[Element]) -> bool:
    """Whether it is a row of a list of years, or the header of a calendar that opens one; all words on it are dates."""
    on_it = [e for e in around if e.label and _inside(e.bounds, touched.bounds)]
    said = [touched.label] if touched.label else [each.label for each in on_it]
    if years_in(around):
        return len(said) == 1 and _YEAR.fullmatch(said[0]) is not None
    shown = calendar_in(around)
    if shown is None or not any(each is shown.years for each in on_it):
        return False
    return all(bare_date(each) != ToldDate() for each in said)


def _around(elements: Iterable[Element]) -> Bounds:
    boxes = [each.bounds for each in elements]
    return Bounds(
        min(b.left for b in boxes), min(b.top for b in boxes), max(b.right for b in boxes), max(b.bottom for b in boxes)
    )


def _inside(inner: Bounds, outer: Bounds) -> bool:
    return inner.area < outer.area and outer.holds(inner.centre)
