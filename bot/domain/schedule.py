"""A schedule: when it is due (three kinds of rules, in a time zone), and what is given then."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent.standing_yes import StandingYes
from bot.domain.address import Person, Place
from bot.domain.hook import Hook
from bot.domain.task_request import TaskDraft
from bot.domain.trigger import Trigger
from bot.domain.watch import Watch, WatchState

SHORTEST = 60
"""Seconds between two runs at least, as cron has it."""
LONGEST = 366 * 86_400
"""Seconds between two runs at most, and how far ahead a time may lie: a longer plan is a slip of the pen."""


class RuleKind(StrEnum):
    """What a rule is."""

    AT = "at"
    """Once. The rule is the local time, such as 2026-12-24T18:00."""
    EVERY = "every"
    """Again and again after so many seconds, counted from the making; clocks that change do not matter."""
    CRON = "cron"
    """The five fields of cron, in local time."""
    NOTIFICATION = "notification"
    """Whenever a phone gets one (bot.domain.trigger). The rule is empty, and no time is one at which it is due."""
    CALL = "call"
    """Whenever a program calls its address (bot.domain.hook). As before."""


class BadRule(Exception):
    """Words that are no rule. `why` is a key below `schedule.bad`."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind, its text, and the name of the time zone in which it is read."""

    kind: RuleKind
    text: str
    zone: str


def next_due(rule: Rule, *, after: float, begun: float) -> float | None:
    """The first time later than `after`, None when there is none. All are Unix seconds; `begun` is when it was made.

    Where clocks change: a local time that is skipped counts from the old time (02:30 is then 03:30) for `at`, and for
    cron the run is made up for right after the gap. One that comes twice counts the first time. A cron rule that runs
    hourly or oftener (its hour or minute begins with `*`) follows the hours as they pass.
    """
    zone = ZoneInfo(rule.zone)
    match rule.kind:
        case RuleKind.AT:
            due = datetime.fromisoformat(rule.text).replace(tzinfo=zone).timestamp()
            return due if due > after else None
        case RuleKind.EVERY:
            period = int(rule.text)
            return begun + (max(0, int((after - begun) // period)) + 1) * period
        case RuleKind.CRON:
            try:
                found = next(CronSim(rule.text, datetime.fromtimestamp(after, zone)), None)
            except OverflowError:  # behind the last year of the calendar
                return None
            return None if found is None else found.timestamp()
        case RuleKind.NOTIFICATION | RuleKind.CALL:
            return math.inf


def count_due(rule: Rule, *, first: float, until: float, begun: float, most: int) -> int:
    """How many times lie from `first` to `until`, counted up to `most`."""
    number, due = 0, float(first)
    while due <= until and number < most:
        number += 1
        following = next_due(rule, after=due, begun=begun)
        if following is None:
            break
        due = following
    return number


class Oddity(StrEnum):
    """What is odd about a local time, because clocks change there."""

    SKIPPED = "skipped"
    TWICE = "twice"


def oddity_of(rule: Rule) -> Oddity | None:
    """Whether the local time of an `at` does not exist, or comes twice."""
    if rule.kind is not RuleKind.AT:
        return None
    local = datetime.fromisoformat(rule.text).replace(tzinfo=ZoneInfo(rule.zone))
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
        return Oddity.SKIPPED
    return Oddity.TWICE if local.utcoffset() != local.replace(fold=1).utcoffset() else None


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule before it was kept: a task for a person at a place, by a rule."""

    person: Person
    place: Place
    event: str
    """The platform's id of the command that made it: the same one makes no second."""
    rule: Rule
    words: str
    """The rule as it was written."""
    draft: TaskDraft
    """Its phones are named by their ids, or `all`."""
    standing: StandingYes | None = None
    """The one message that its runs may send without a question."""
    watch: Watch | None = None
    """What each run reads, where only some of that is told."""
    trigger: Trigger | None = None
    """Which notifications begin each run, where no time does."""
    hook: Hook | None = None
    """What is called to begin each run, where neither does."""

    @property
    def is_timed(self) -> bool:
        """Whether it runs at times of its own."""
        return self.rule.kind not in {RuleKind.NOTIFICATION, RuleKind.CALL}


@dataclass(frozen=True, slots=True)
class Schedule:
    """A stored schedule. Times are Unix seconds."""

    id: str
    """A number as text."""
    plan: Plan
    created: float
    due: float
    """The next time; infinite for a trigger."""
    paused: bool
    task: str
    """The run that was begun last; "" before the first."""
    skipped: int
    """How many runs were left out since, because that one still worked."""
    readings: WatchState = field(default_factory=WatchState)
    """What it remembers of its readings, where it is a watch."""


_DO = re.compile(r"(?<=\s)(?:do|skill)\s", re.IGNORECASE)


def plan_in(text: str) -> tuple[str, str] | None:
    """When, and the `do` behind it; None when the text has another form."""
    found = _DO.search(text, 1)
    return None if found is None else (text[: found.start()].strip(), text[found.start() :])
