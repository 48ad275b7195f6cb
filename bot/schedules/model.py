"""What is planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.chats.address import Person, Place
from bot.schedules.rules import Rule


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule before it was kept: the command `do` with its options, for a person at a place, by a rule."""

    person: Person
    place: Place
    event: str
    """The platform's id of the command that made it: the same one makes no second."""
    rule: Rule
    words: str
    """The rule as it was written."""
    options: Mapping[str, str]
    text: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """A stored schedule. Times are Unix seconds."""

    id: str
    """A number as text."""
    plan: Plan
    created: float
    due: float
    """The next time."""
    paused: bool
    task: str
    """The run that was begun last; "" before the first."""
    skipped: int
    """How many runs were left out since, because that one still worked."""
