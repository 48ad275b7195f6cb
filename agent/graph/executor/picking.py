"""Sets date and time pickers by code: turns wheels and pages of calendars, scrolls lists of years and presses clock
faces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from datetime import date, time
from typing import Final

from agent.graph.executor.fingers import ControlValue, NotReached, TouchSession, together
from agent.guards.pickers import (
    Calendar,
    Wheel,
    calendar_in,
    clock_in,
    periods_in,
    time_fields,
    typing_button_in,
    wheels_in,
    years_in,
)
from agent.told_values import date_in
from devices.geometry import Point
from devices.phone import Element

_NEAR: Final = 3
"""Steps that are made one by one."""
_STUCK: Final = 3
"""Inputs without any change after which a wheel counts as stuck."""
_TURN_MS: Final = 1500
"""Slow enough that a wheel hardly spins on."""
_MARGIN: Final = 0.08
"""The share of the screen's height at both ends where a finger has another meaning."""


def wheel_at(f: TouchSession, wheel: Wheel) -> Wheel:
    """Return the current state of the wheel at this wheel's place. Raises Missed if it is gone."""
    at = wheel.bounds.centre
    found = next((each for each in wheels_in(f.elements) if each.bounds.holds(at)), None)
    if found is None:
        raise NotReached("The wheel is not there any more.")
    return found


async def turn(f: TouchSession, wheel: Wheel, away: Callable[[Wheel], int | None]) -> Wheel:
    """Turn the wheel until `away` returns 0, and return its state.

    `away` returns how many steps down the wanted value is, negative for up, or None if that is unknown; the wheel is
    then turned to one end, then to the other. Raises Missed if the value is not found, and what `TouchSession.tap`
    raises.
    """
    now, way, still, begun = wheel_at(f, wheel), 1, 0, set[str]()
    while (steps := away(now)) != 0:
        before, unknown = now, steps is None
        steps = way if steps is None else steps
        neighbour = now.after if steps > 0 else now.before
        if abs(steps) <= _NEAR and neighbour is not None:
            await f.tap(neighbour)
        else:
            await far_swipe(f, now, steps)
        now = wheel_at(f, wheel)
        if now.text != before.text:
            still = 0
            if not unknown:
                continue
            if now.text not in begun:
                begun.add(now.text)
                continue
            raise NotReached("It went round once, and this is not on it.")
        still += 1
        if unknown and way > 0:
            way, still = -1, 0
            begun.clear()
        elif still >= _STUCK or unknown:
            raise NotReached("It does not turn that far." if not unknown else "This is not on it.")
    return now


async def far_swipe(f: TouchSession, wheel: Wheel, steps: int) -> None:
    """Swipe over the wheel by this number of steps (negative for up), or as far as the screen allows. The finger may
    begin and end outside the wheel.
    """
    middle, height = wheel.bounds.centre, f.seen.size.height
    room = middle.y - height * _MARGIN if steps > 0 else height * (1 - _MARGIN) - middle.y
    rows = max(1, min(abs(steps), int(room) // wheel.row))
    end = middle.y - rows * wheel.row if steps > 0 else middle.y + rows * wheel.row
    await f.swipe(middle, Point(middle.x, end), _TURN_MS)


_FAR: Final = 11
"""Months beyond which the list of years is faster."""
_MAX_PAGES: Final = 48
_PAGE_MS: Final = 300
_FORMAT: Final = re.compile(r"[dmyjat]{1,4}([-/. ]+)[dmyjat]{1,4}\1[dmyjat]{1,4}", re.IGNORECASE)
"""How a field names the date format that it accepts: "mm/dd/yyyy", "TT.MM.JJJJ"."""


async def set_date(f: TouchSession, wanted: date, locale: str) -> ControlValue | None:
    """Select a day in the picker on the screen, and return what it shows then; None if nothing here accepts a date.
    `locale` is the phone's language. Raises Missed and what `TouchSession.tap` raises.
    """
    if calendar_in(f.elements) is not None:
        return await _on_calendar(f, wanted, locale)
    if columns := _date_columns(wheels_in(f.elements), locale):
        return await _on_wheels(f, columns, wanted)
    field = next((e for e in f.elements if e.editable and _FORMAT.fullmatch(e.hint.strip() or e.text.strip())), None)
    if field is None:
        return None
    text = _in_form(wanted, field.hint.strip() or field.text.strip())
    await f.write(field, text)
    now = f.now(field)
    return ControlValue(text, None) if now is None else ControlValue(now.text, now.text == text)


async def set_time(f: TouchSession, wanted: time) -> ControlValue | None:
    """Select a time in the picker on the screen, and return what it shows then; None if nothing here accepts a time.
    Raises Missed and what `TouchSession.tap` raises.
    """
    if (fields := time_fields(f.elements)) is not None:
        return await _typed_time(f, fields, wanted)
    if clock_in(f.elements) is not None:
        return await _on_clock(f, wanted)
    columns = _time_columns(wheels_in(f.elements))
    if not columns:
        return None
    halves = "half" in columns
    values = {"hour": _hour(wanted, halves=halves), "minute": wanted.minute}
    for name, value in values.items():
        await _to_number(f, columns[name], value)
    if not halves:
        return _standing(f, columns, values)
    half = _half(wanted)
    await turn(f, columns["half"], lambda wheel: 0 if wheel.period == half else None)
    now = wheel_at(f, columns["half"])
    return together(" ", _standing(f, columns, values), ControlValue(now.text, now.period == half))


# Wheels


async def _on_wheels(f: TouchSession, columns: Mapping[str, Wheel], wanted: date) -> ControlValue:
    values = {"year": wanted.year, "month": wanted.month, "day": wanted.day}
    for name, value in values.items():
        if name in columns:
            await _to_number(f, columns[name], value)
    shown = _standing(f, columns, values)
    return replace(shown, right=shown.right and (True if len(columns) == len(values) else None))


def _standing(f: TouchSession, columns: Mapping[str, Wheel], values: Mapping[str, int]) -> ControlValue:
    """Return what the wheels show once all are turned, because one may move others."""
    now = {name: wheel_at(f, columns[name]) for name in values if name in columns}
    return ControlValue(" ".join(each.text for each in now.values()), all(now[n].number == values[n] for n in now))


async def _to_number(f: TouchSession, wheel: Wheel, number: int) -> None:
    """Turn the wheel until it shows this number, or the month with this number."""
    await turn(f, wheel, lambda now: None if now.number is None else number - now.number)


def _date_columns(wheels: Sequence[Wheel], locale: str) -> Mapping[str, Wheel]:
    """Return the wheels of year, month and day; none if the wheels are something else."""
    found = {name: wheel for wheel in wheels for name in ("year", "month", "day") if name in wheel.name.casefold()}
    rest = [wheel for wheel in wheels if wheel not in found.values()]
    for wheel in list(rest):
        told = date_in(wheel.text)
        name = "year" if told.year is not None else "month" if told.month is not None else ""
        if name and name not in found:
            found[name] = wheel
            rest.remove(wheel)
    if "year" not in found and "month" not in found:
        return {}
    names = [name for name in ("month", "day") if name not in found]
    if len(names) == 2 and wheels and wheels[0] is not found.get("year") and not locale.endswith("US"):
        names.reverse()  # if the year comes last, only Americans put the month first
    return found | dict(zip(names, rest, strict=False))


def _time_columns(wheels: Sequence[Wheel]) -> Mapping[str, Wheel]:
    """Return the wheels of hour, minute and half of the day; none if the wheels are something else."""
    halves = [wheel for wheel in wheels if wheel.period]
    numbers = [wheel for wheel in wheels if wheel.text.strip().isdecimal()]
    named = {name: wheel for wheel in numbers for name in ("hour", "minute") if name in wheel.name.casefold()}
    if len(named) < 2:
        if len(numbers) != 2 or any(int(wheel.text) > 59 for wheel in numbers):
            return {}
        named = dict(zip(("hour", "minute"), numbers, strict=True))
    return named | {"half": halves[0]} if halves else named


# Calendars


async def _on_calendar(f: TouchSession, wanted: date, locale: str) -> ControlValue:
    listed = False
    for _ in range(_MAX_PAGES):
        shown = _calendar(f)
        if shown.month is None or shown.year is None:
            raise NotReached("The calendar does not tell which month it shows. Page it and touch the day yourself.")
        away = (wanted.year - shown.year) * 12 + wanted.month - shown.month
        if not away:
            break
        if abs(away) > _FAR and shown.years is not None and not listed:
            await f.tap(shown.years)
            if columns := _date_columns(wheels_in(f.elements), locale):
                return await _on_wheels(f, columns, wanted)
            await _choose_year(f, wanted.year)
            listed = True
        else:
            await _page(f, shown, away)
            now = _calendar(f)
            if (now.year, now.month) == (shown.year, shown.month):
                raise NotReached("The calendar does not go that far.")
    cell = _calendar(f).cell(wanted.day)
    if cell is None:
        raise NotReached("That day cannot be chosen there.")
    before = {(each.resource_id, each.label) for each in f.elements}
    await f.tap(cell)
    return _day_shown(f, wanted, before)


def _calendar(f: TouchSession) -> Calendar:
    shown = calendar_in(f.elements)
    if shown is None:
        raise NotReached("The calendar is not there any more.")
    return shown


async def _page(f: TouchSession, shown: Calendar, away: int) -> None:
    button = shown.next if away > 0 else shown.before
    if button is not None:
        await f.tap(button)
        return
    box = shown.bounds
    reach = (box.right - box.left) // 3 * (1 if away > 0 else -1)
    middle = box.centre
    await f.swipe(Point(middle.x + reach, middle.y), Point(middle.x - reach, middle.y), _PAGE_MS)


async def _choose_year(f: TouchSession, year: int) -> None:
    last: list[int] = []
    while years := years_in(f.elements):
        there = next((element for number, element in years if number == year), None)
        if there is not None:
            await f.tap(there)
            return
        numbers = [number for number, _ in years]
        if numbers == last:
            raise NotReached("The list of years does not go that far.")
        last, column = numbers, [element.bounds for _, element in years]
        top, bottom = min(b.top for b in column), max(b.bottom for b in column)
        x, reach = column[0].centre.x, (bottom - top) // 3
        middle = (top + bottom) // 2
        up = reach if year > max(numbers) else -reach
        await f.swipe(Point(x, middle + up), Point(x, middle - up), _PAGE_MS)
    raise NotReached("There is no list of years.")


def _day_shown(f: TouchSession, wanted: date, before: Container[tuple[str, str]]) -> ControlValue:
    """Return what names the selected day: its mark, or words that were not there `before`, in the header or on the page
    from which the calendar was opened.
    """
    now = calendar_in(f.elements)
    if now is not None and (cell := now.cell(wanted.day)) is not None and (cell.selected or cell.checked):
        return ControlValue(
            f"{now.year}-{now.month:02}-{wanted.day:02}", (now.year, now.month) == (wanted.year, wanted.month)
        )
    cells = [each for _, each in now.cells] if now is not None else []
    for element in f.elements:
        told = date_in(element.label)
        if element in cells or (element.resource_id, element.label) in before:
            continue
        if (told.month, told.day) == (wanted.month, wanted.day):
            return ControlValue(element.label, told.year in {None, wanted.year})
    return ControlValue(wanted.isoformat(), None)


def _in_form(wanted: date, form: str) -> str:
    """Format the date as a field requires it."""
    values = {"d": f"{wanted.day:02}", "t": f"{wanted.day:02}", "m": f"{wanted.month:02}"}
    return re.sub(r"[a-z]+", lambda part: values.get(part[0][0].lower(), str(wanted.year)), form, flags=re.IGNORECASE)


# Clocks


async def _typed_time(f: TouchSession, fields: tuple[Element, Element], wanted: time) -> ControlValue:
    halves = periods_in(f.elements)
    texts = (str(_hour(wanted, halves=bool(halves))), f"{wanted.minute:02}")
    for field, text in zip(fields, texts, strict=True):
        await f.write(f.now(field) or field, text)
    chosen = await _choose_half(f, wanted)
    now = time_fields(f.elements)
    if now is None:
        return ControlValue(":".join(texts), None)
    right = [int(e.text) if e.text.isdecimal() else -1 for e in now] == [int(text) for text in texts]
    return together(" ", ControlValue(f"{now[0].text}:{now[1].text}", right), *chosen)


async def _on_clock(f: TouchSession, wanted: time) -> ControlValue:
    face = clock_in(f.elements)
    assert face is not None
    hour = _hour(wanted, halves=not face.whole_day)
    if face.by_minutes:
        if face.hour is None:
            raise NotReached("The clock shows minutes, and nothing there chooses the hours.")
        await f.tap(face.hour)
        face = clock_in(f.elements)
    number = next((e for n, e in face.numbers if n == hour), None) if face is not None else None
    if face is None or number is None:
        raise NotReached("That hour is not on the clock.")
    await f.tap(number)
    face = clock_in(f.elements)
    if face is not None and not face.by_minutes and face.minute is not None:
        await f.tap(face.minute)
        face = clock_in(f.elements)
    if face is None or not face.by_minutes:
        raise NotReached("The clock does not show its minutes.")
    await f.tap(face.place(wanted.minute))
    face = clock_in(f.elements)
    typing = typing_button_in(f.elements)
    if face is not None and face.minute is not None and _number(face.minute) != wanted.minute and typing is not None:
        await f.tap(typing)  # a finger near a number on the face selects that number
        if (fields := time_fields(f.elements)) is not None:
            return await _typed_time(f, fields, wanted)
    chosen = await _choose_half(f, wanted)
    face = clock_in(f.elements)
    if face is None or face.hour is None or face.minute is None:
        return ControlValue(f"{hour}:{wanted.minute:02}", None)
    told = [_number(face.hour), _number(face.minute)]
    return together(" ", ControlValue(f"{face.hour.text}:{face.minute.text}", told == [hour, wanted.minute]), *chosen)


def _number(element: Element) -> int:
    return int(re.sub(r"\D", "", element.text) or -1)


async def _choose_half(f: TouchSession, wanted: time) -> list[ControlValue]:
    """Select the half of the day if there is a choice. If it does not report its selection, it is trusted."""
    half = _half(wanted)
    there = periods_in(f.elements)
    if half not in there:
        return []
    if not (there[half].checked or there[half].selected):
        await f.tap(there[half])
    now = periods_in(f.elements)
    on = {name for name, each in now.items() if each.checked or each.selected}
    return [ControlValue(half, half in on if on else None)]


def _half(wanted: time) -> str:
    return "pm" if wanted.hour >= 12 else "am"


def _hour(wanted: time, *, halves: bool) -> int:
    return (wanted.hour % 12 or 12) if halves else wanted.hour
