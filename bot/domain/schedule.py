"""Schedules: tasks that are given again by a rule, at set times or on events, and the computation of these times."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from cronsim import CronSim

from agent.questions import StandingYes
from bot.domain.address import Person, Place
from bot.domain.task_request import TaskDraft
from bot.domain.trigger import Trigger
from bot.domain.watch import Watch, WatchState
from bot.domain.webhook import Hook

SHORTEST = 60
"""Shortest time between two runs in seconds, the same as cron's."""
LONGEST = 366 * 86_400
"""Longest time between two runs, and until a single one, in seconds: a longer time is taken for a mistake."""


class RuleKind(StrEnum):
    """The kinds of rules that decide when a schedule is due."""

    AT = "at"
    """Once, at a local time such as 2026-12-24T18:00."""
    EVERY = "every"
    """Repeatedly, every number of seconds since it was created; daylight saving time does not matter."""
    CRON = "cron"
    """At the times of a five-field cron expression, in local time."""
    NOTIFICATION = "notification"
    """Whenever a phone gets a notification that fits (bot.domain.trigger); the rule's text is empty and it is never
    due by time.
    """
    CALL = "call"
    """Whenever a program calls its address (bot.domain.webhook). The rule's text is empty; it is never due by time."""


class BadRule(Exception):
    """A text could not be read as a rule for a schedule. `why` is the key of the reason below `schedule.bad` in the
    text catalogue.
    """

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of when a schedule is due: its kind, its text, and the name of the time zone in which the text is read."""

    kind: RuleKind
    text: str
    zone: str


def next_due(rule: Rule, *, after: float, begun: float) -> float | None:
    """Return the first time later than `after` at which a rule is due; None if there is none, infinity if it is not
    due by time.

    All times are Unix seconds; `begun` is when the schedule was created.

    Where clocks change: a local time that is skipped is read with the old offset (02:30 is then 03:30) for `at`; for
    cron, the run is made up for right after the gap. A local time that occurs twice counts the first time. A cron rule
    that runs hourly or more often (its hour or minute begins with `*`) follows the elapsed hours.
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
    """Return how many times, at most `most`, the rule is due from `first` to `until`, where `first` is one of these
    times.

    All times are Unix seconds; `begun` is when the schedule was created.
    """
    number, due = 0, float(first)
    while due <= until and number < most:
        number += 1
        following = next_due(rule, after=due, begun=begun)
        if following is None:
            break
        due = following
    return number


class Oddity(StrEnum):
    """Why a local time is not unique: it is skipped, or occurs twice, because clocks change."""

    SKIPPED = "skipped"
    TWICE = "twice"


def oddity_of(rule: Rule) -> Oddity | None:
    """Return whether the local time of an `at` rule is skipped or occurs twice because clocks change; None if
    neither.
    """
    if rule.kind is not RuleKind.AT:
        return None
    local = datetime.fromisoformat(rule.text).replace(tzinfo=ZoneInfo(rule.zone))
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != local.replace(tzinfo=None):
        return Oddity.SKIPPED
    return Oddity.TWICE if local.utcoffset() != local.replace(fold=1).utcoffset() else None


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule that is not stored yet: a task for a person at a place, with its rule."""

    person: Person
    place: Place
    event: str
    """The platform's id of the command, which makes sure that it creates one schedule at most."""
    rule: Rule
    words: str
    """The rule as the person wrote it."""
    draft: TaskDraft
    """The task to give. Its phones are named by id, or `all`."""
    standing: StandingYes | None = None
    """The one message that its runs may send without asking."""
    watch: Watch | None = None
    """What each run reads, for a schedule that reports only some of the readings."""
    trigger: Trigger | None = None
    """Which notifications begin a run, if it is a trigger."""
    hook: Hook | None = None
    """The inbound webhook whose calls begin a run, if it is one."""

    @property
    def is_timed(self) -> bool:
        """Whether the plan runs at set times."""
        return self.rule.kind not in {RuleKind.NOTIFICATION, RuleKind.CALL}


@dataclass(frozen=True, slots=True)
class Schedule:
    """A stored schedule. Times are Unix seconds."""

    id: str
    """The number of the schedule, as text."""
    plan: Plan
    created: float
    due: float
    """The next time it runs; infinity if it does not run by time."""
    paused: bool
    task: str
    """The id of its latest run; "" before the first."""
    skipped: int
    """How many runs were skipped because the latest one had not ended."""
    readings: WatchState = field(default_factory=WatchState)
    """The values that it has read so far, if it is a watch."""


_DO = re.compile(r"(?<=\s)(?:do|skill)\s", re.IGNORECASE)


def plan_in(text: str) -> tuple[str, str] | None:
    """Split a text such as "every monday 8:00 do …" into the times and the `do` or `skill` command after them.

    Returns None if the text has another form.
    """
    found = _DO.search(text, 1)
    return None if found is None else (text[: found.start()].strip(), text[found.start() :])
