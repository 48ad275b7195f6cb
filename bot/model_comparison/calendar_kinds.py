"""Makers of calendar tasks: with pickers for dates, times and numbers, sliders, and rows to select or move."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Final

from bot.model_comparison.judging import ExpectedState, Need, Person, TaskDesign
from devices.virtual_phone.ground_truth import chores_in_order
from devices.virtual_phone.state import Event, PhoneState

TODAY: Final = date(2026, 1, 1)
"""The date on the phones used in a comparison: a Thursday."""
_EVENTS: Final = ("Dentist", "Piano lesson", "Book club", "Car check")
_CHORES: Final = ("Water plants", "Buy stamps", "Call Grandma", "Fix the lamp")
_ROWS: Final = ("Date", "Time", "Reminder", "Save", "New event")
_NEED: Final = Need(("calendar",), _ROWS)
_SETTINGS: Final = Need(("calendar",), ("Calendar settings",))
Change = Callable[[PhoneState], None]


def _pickers(whose: str) -> Change:
    def change(state: PhoneState) -> None:
        state.pickers = whose

    return change


def _created(title: str, day: date, time: str = "09:00", reminder: int = 10) -> ExpectedState:
    return ExpectedState(added={"events": (f"{title} {day.isoformat()} {time} {reminder}",)})


def _later(rng: random.Random, most: int = 300) -> date:
    return TODAY + timedelta(days=rng.randrange(2, most))


def on_day(rng: random.Random, whose: str = "android", most: int = 300) -> TaskDesign:
    """Make a task that creates an event on a given date. `whose` names the design of the pickers. The date is fewer
    than `most` days ahead.
    """
    title, day = rng.choice(_EVENTS), _later(rng, most)
    words = f'create the calendar event "{title}" on {day.isoformat()}'
    return TaskDesign(words, _NEED, _created(title, day), before={"change": _pickers(whose)})


def at_time(rng: random.Random, whose: str = "android") -> TaskDesign:
    """Make a task that creates an event on a given date at a given time. `whose` names the design of the pickers."""
    title, day = rng.choice(_EVENTS), _later(rng)
    time = f"{rng.randrange(24):02}:{rng.randrange(60):02}"
    words = f'create the calendar event "{title}" on {day.isoformat()} at {time}'
    return TaskDesign(words, _NEED, _created(title, day, time), before={"change": _pickers(whose)})


def tomorrow(rng: random.Random) -> TaskDesign:
    """Make a task with a date that only the phone's clock reveals."""
    title = rng.choice(_EVENTS)
    return TaskDesign(
        f'create the calendar event "{title}" for tomorrow', _NEED, _created(title, TODAY + timedelta(days=1))
    )


def weekday(rng: random.Random) -> TaskDesign:
    """Make a task with the next day of a given weekday."""
    title, days = rng.choice(_EVENTS), rng.randrange(2, 7)
    day = TODAY + timedelta(days=days)
    return TaskDesign(f'create the calendar event "{title}" for this {day:%A}', _NEED, _created(title, day))


def reminded(rng: random.Random) -> TaskDesign:
    """Make a task with a reminder, a number on a wheel."""
    title, minutes = rng.choice(_EVENTS), rng.choice((0, 20, 45, 60))
    words = f'create the calendar event "{title}" on {TODAY.isoformat()} with a reminder {minutes} minutes before'
    return TaskDesign(words, _NEED, _created(title, TODAY, reminder=minutes))


def _level(words: str, rng: random.Random, name: str, was: int, values: range) -> TaskDesign:
    value = rng.choice([each for each in values if each != was])
    wanted = ExpectedState(removed={"levels": (f"{name} {was}",)}, added={"levels": (f"{name} {value}",)})
    return TaskDesign(words.format(value), _SETTINGS, wanted)


def slider(rng: random.Random) -> TaskDesign:
    """Make a task that sets a slider to a percentage."""
    return _level("in the calendar settings, set the reminder volume to {}%", rng, "volume", 40, range(5, 100, 5))


def own_unit(rng: random.Random) -> TaskDesign:
    """Make a task that sets a slider which has its own unit: its range is only visible in the number that it shows."""
    return _level(
        "in the calendar settings, set the daily goal to {} steps", rng, "steps", 6000, range(2000, 20001, 500)
    )


def chosen(rng: random.Random) -> TaskDesign:
    """Make a task that deletes several rows at once."""
    gone = rng.sample(_CHORES, 2)
    rest = [each for each in _CHORES if each not in gone]
    return TaskDesign(
        f'delete the chores "{gone[0]}" and "{gone[1]}" in the calendar',
        replace(_NEED, pressed=("Chores", "Delete", *gone), approved=True),
        _ordered(rest),
        Person(allows=("",)),
    )


def moved(rng: random.Random) -> TaskDesign:
    """Make a task that drags a row to the place of another."""
    first, second = rng.sample(range(len(_CHORES)), 2)
    order = [each for each in _CHORES if each != _CHORES[first]]
    order.insert(second, _CHORES[first])
    return TaskDesign(
        f'in the calendar, move the chore "{_CHORES[first]}" to the place of "{_CHORES[second]}"',
        replace(_NEED, pressed=("Chores", _CHORES[first])),
        _ordered(order),
    )


def when(rng: random.Random) -> TaskDesign:
    """Make a task that asks for the time of a listed event."""
    title, day, hour = rng.choice(_EVENTS), _later(rng), rng.randrange(8, 20)

    def change(state: PhoneState) -> None:
        state.events.append(Event(title, day.isoformat(), f"{hour:02}:15"))

    words = f'look into the calendar and tell me at what time the event "{title}" is'
    return TaskDesign(words, _NEED, ExpectedState(says=(f"{hour:02}:15",)), before={"change": change})


def _ordered(order: list[str]) -> ExpectedState:
    return ExpectedState(removed={"chores": (chores_in_order(_CHORES),)}, added={"chores": (chores_in_order(order),)})
