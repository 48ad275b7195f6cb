"""A schedule: when it is due (three kinds of rules, read from words, in a time zone), and what is given then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from agent.standing_yes import StandingYes
from bot.domain.address import Person, Place
from bot.domain.task_request import TaskDraft
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


_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})"
_DAY = r"(?P<date>\d{4}-\d{2}-\d{2})[ T]|(?P<day>today|tomorrow)\s+(?:at\s+)?"
_AT = re.compile(rf"(?:{_DAY})?{_CLOCK}", re.IGNORECASE)
_EVERY_DAY = re.compile(rf"(?P<days>[a-z]+)\s+(?:at\s+)?{_CLOCK}", re.IGNORECASE)
_PERIOD = re.compile(r"(?P<number>\d{1,6})?\s*(?P<unit>[a-z]+)", re.IGNORECASE)
_UNITS: Mapping[str, int] = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86_400),
}
_DAYS: Mapping[str, str] = {
    **dict.fromkeys(("day", "morning", "evening", "night"), "*"),
    **dict.fromkeys(("weekday", "weekdays", "workday"), "1-5"),
    **dict.fromkeys(("weekend", "weekends"), "6,0"),
    **{
        word: str(number)
        for number, day in enumerate(("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"))
        for word in (day, f"{day}s", day[:3])
    },
}


def read_rule(kind: str, words: str, *, now: float, zone: ZoneInfo) -> Rule:
    """The rule in words such as ("at", "2026-12-24 18:00"), ("every", "30m"), ("every", "day 07:30") or
    ("cron", "0 7 * * 1-5"). Raises BadRule; a rule that it returns has a next time.
    """
    text = " ".join(words.strip().strip("\"'").split())
    match kind.lower():
        case RuleKind.AT:
            rule = Rule(RuleKind.AT, _moment(text, now, zone), zone.key)
        case RuleKind.EVERY if (found := _EVERY_DAY.fullmatch(text)) is not None and found["days"].lower() in _DAYS:
            hour, minute = _clock(found)
            rule = Rule(RuleKind.CRON, f"{minute} {hour} * * {_DAYS[found['days'].lower()]}", zone.key)
        case RuleKind.EVERY:
            rule = Rule(RuleKind.EVERY, str(_seconds(text)), zone.key)
        case RuleKind.CRON:
            rule = Rule(RuleKind.CRON, _cron(text), zone.key)
        case _:
            raise BadRule("kind")
    due = next_due(rule, after=now, begun=now)
    if due is None:
        raise BadRule("past" if rule.kind is RuleKind.AT else "never")
    if due - now > LONGEST and rule.kind is RuleKind.AT:
        raise BadRule("far")
    return rule


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


def _moment(text: str, now: float, zone: ZoneInfo) -> str:
    """A date and a time, or the next such time of the clock, as ISO 8601 without a zone."""
    found = _AT.fullmatch(text)
    if found is None:
        raise BadRule("at")
    hour, minute = _clock(found)
    here = datetime.fromtimestamp(now, zone)
    today = here.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
    try:
        day = datetime.fromisoformat(found["date"]) if found["date"] else today
    except ValueError:
        raise BadRule("at") from None
    if (found["day"] or "").lower() == "tomorrow":
        day += timedelta(days=1)
    moment = day.replace(hour=hour, minute=minute)
    if not found["date"] and not found["day"] and moment.replace(tzinfo=zone).timestamp() <= now:
        moment += timedelta(days=1)
    return moment.isoformat(timespec="minutes")


def _clock(found: re.Match[str]) -> tuple[int, int]:
    hour, minute = int(found["hour"]), int(found["minute"])
    if hour > 23 or minute > 59:
        raise BadRule("clock")
    return hour, minute


def _seconds(text: str) -> int:
    found = _PERIOD.fullmatch(text)
    unit = _UNITS.get(found["unit"].lower()) if found is not None else None
    if found is None or unit is None:
        raise BadRule("every")
    seconds = int(found["number"] or 1) * unit
    if not SHORTEST <= seconds <= LONGEST:
        raise BadRule("period")
    return seconds


def _cron(text: str) -> str:
    if len(text.split()) != 5:  # with six the library would read seconds
        raise BadRule("cron")
    try:
        CronSim(text, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError:
        raise BadRule("cron") from None
    return text


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
    readings: WatchState = field(default_factory=WatchState)
    """What it remembers of its readings, where it is a watch."""


_KIND = re.compile(r"(?P<kind>[a-z]+)\s+(?=\S)", re.IGNORECASE)
_DO = re.compile(r"(?<=\s)(?:do|skill)\s", re.IGNORECASE)


def plan_in(text: str) -> tuple[str, str, str] | None:
    """The kind of a plan, when, and the `do` behind it; None when the text has another form.

    Not by one pattern for all: three parts that all take blanks would be tried in every way on a text full of them.
    """
    kind = _KIND.match(text)
    found = None if kind is None else _DO.search(text, kind.end() + 1)
    if kind is None or found is None:
        return None
    return kind["kind"], text[kind.end() : found.start()].rstrip(), text[found.start() :]
