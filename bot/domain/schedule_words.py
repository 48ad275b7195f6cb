"""Reads when a schedule is due from people's words: `every weekday 07:30`, `tomorrow at 8pm`, `每天早上8点`.

A text is read part by part (days, part of the day, time, period). Only a text that is understood completely becomes a
rule: a wrong time would be worse than a refusal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from bot.domain.schedule import LONGEST, SHORTEST, BadRule, Rule, RuleKind, next_due


@dataclass(frozen=True, slots=True)
class _DayPart:
    """A part of the day: its default time, and which hours of the 12-hour clock belong to it."""

    hour: int
    minute: int = 0
    shifted: range = range(0)
    """Hours to which twelve are added."""
    refused: range = range(0)
    """Hours that are refused, as it is unclear which day is meant."""


_MORNING: Final = _DayPart(8)
_NOON: Final = _DayPart(12, shifted=range(1, 4))
_AFTERNOON: Final = _DayPart(15, shifted=range(1, 12))
_EVENING: Final = _DayPart(19, shifted=range(1, 12), refused=range(12, 13))
_NIGHT: Final = _DayPart(21, shifted=range(5, 12), refused=range(5))
_DARK: Final = _DayPart(20, shifted=range(5, 12), refused=range(12, 13))
_SMALL_HOURS: Final = _DayPart(2, refused=range(6, 24))

_PARTS: Mapping[str, _DayPart] = {
    "morning": _MORNING, "noon": _NOON, "midday": _NOON, "afternoon": _AFTERNOON, "evening": _EVENING,
    "night": _NIGHT, "midnight": _DayPart(0),
    "早上": _MORNING, "早晨": _MORNING, "早": _MORNING, "清晨": _DayPart(6), "上午": _DayPart(9), "中午": _NOON,
    "下午": _AFTERNOON, "傍晚": _DayPart(18, shifted=range(1, 12)), "晚上": _DARK, "晚": _DARK, "夜里": _NIGHT,
    "凌晨": _SMALL_HOURS, "半夜": _DayPart(0),
}  # fmt: skip
_DAYS: Mapping[str, str] = {
    **dict.fromkeys(("weekday", "weekdays", "workday", "workdays", "工作日", "周一至周五", "周一到周五"), "1-5"),
    **dict.fromkeys(("weekend", "weekends", "周末"), "6,0"),
    **{
        word: str(number)
        for number, day in enumerate(("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"))
        for word in (day, f"{day}s", day[:3])
    },
    **{
        f"{week}{day}": str(number % 7)
        for week in ("周", "星期", "礼拜")
        for number, days in enumerate(("日天", "一", "二", "三", "四", "五", "六"))
        for day in days
    },
}
_REPEATS: Final = frozenset({"every", "each", "每", "每隔", "每个"})
_ADVERBS: Mapping[str, int] = {"hourly": 3600, "daily": 86_400, "weekly": 7 * 86_400}
_AHEAD: Mapping[str, int] = {
    "today": 0, "this": 0, "tonight": 0, "tomorrow": 1, "今天": 0, "今": 0, "明天": 1, "明": 1, "后天": 2,
}  # fmt: skip
"""How many days ahead a word is."""
_AFTER: Final = frozenset({"in", "后", "之后", "以后"})
_EMPTY: Final = frozenset({"at", "on", "the", "of", "and", "'", "o'clock", ",", "、", "和", "的", "在", "t"})
_UNITS: Mapping[str, int] = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分钟"), 60),
    **dict.fromkeys(("h", "hour", "hours", "小时", "个小时", "钟头", "个钟头"), 3600),
    **dict.fromkeys(("d", "day", "days", "天", "日"), 86_400),
    **dict.fromkeys(("w", "week", "weeks", "周", "星期", "个星期", "礼拜"), 7 * 86_400),
}
_DIGITS: Final = {digit: number for number, digit in enumerate("零一二三四五六七八九")} | {"两": 2}

_NUMBER = r"[0-9]{1,6}|[零一二两三四五六七八九十]{1,3}|半|half\s+an?\b|an?\b"


def _one_of(words: Mapping[str, object] | frozenset[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_TOKEN: Final = re.compile(
    rf"""\s*(?:
      (?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|[0-9]{{4}}年[0-9]{{1,2}}月[0-9]{{1,2}}[日号])
    | (?P<clock>(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-9]{{2}})(?![0-9:]))(?:\s*(?P<half>[ap])\.?m\b\.?)?
    | (?P<twelve>[0-9]{{1,2}})\s*(?P<half_of_twelve>[ap])\.?m\b\.?
    | (?P<o_clock>[0-9]{{1,2}}|[零一二两三四五六七八九十]{{1,3}})[点时]
        (?:钟|整|(?P<half_past>半)|(?P<quarters>[一三])刻|(?P<past>[0-9]{{1,2}}|[零一二三四五六七八九十]{{1,3}})分?)?
    | (?P<word>(?:{_one_of({**_PARTS, **_DAYS, **_AHEAD})})(?![a-z])
        |(?:{_one_of(frozenset(_ADVERBS) | _REPEATS | _AFTER | _EMPTY)})(?![a-z]))
    | (?P<number>{_NUMBER})?\s*(?P<unit>{_one_of(_UNITS)})(?![a-z])
    | (?P<bare>[0-9]{{1,2}})(?![0-9])
    )""",
    re.VERBOSE,
)


@dataclass(slots=True)
class _Found:
    """The parts that were found in a text."""

    repeats: bool = False
    after: bool = False
    days: list[str] = field(default_factory=list)
    part: _DayPart | None = None
    clock: tuple[int, int] | None = None
    noted: str = ""
    """The half of the day given with the clock time: "a" (am) or "p" (pm)."""
    date: str = ""
    ahead: int | None = None
    period: int = 0
    """Seconds."""
    number: bool = False
    """The period has a number, as "2 days" has."""


def read_rule(words: str, *, now: float, zone: ZoneInfo) -> Rule:
    """Return the rule that some words describe, such as `at 2026-12-24 18:00`, `every 30m`, `every monday morning`,
    `每天早上8点` or `cron 0 7 * * 1-5`.

    `now` is in Unix seconds; `zone` is the time zone of the person's times. Raises BadRule if the words are not
    understood, if the rule is never due again, or if a period or the time until a single run is outside `SHORTEST` and
    `LONGEST`.
    """
    text = " ".join(unicodedata.normalize("NFKC", words).replace('"', " ").casefold().split())
    kind, _, rest = text.partition(" ")
    if kind == RuleKind.CRON:
        rule = Rule(RuleKind.CRON, _cron(rest.strip("'")), zone.key)
    else:
        rule = _rule(_read(text), now, zone)
    due = next_due(rule, after=now, begun=now)
    if due is None:
        raise BadRule("past" if rule.kind is RuleKind.AT else "never")
    if due - now > LONGEST and rule.kind is RuleKind.AT:
        raise BadRule("far")
    return rule


def _rule(found: _Found, now: float, zone: ZoneInfo) -> Rule:
    timed = found.clock is not None or found.part is not None
    if found.repeats:
        if found.date or found.after or found.ahead is not None:
            raise BadRule("every")
        if not timed:
            if found.days or not found.period:
                raise BadRule("every")
            return Rule(RuleKind.EVERY, str(_held(found.period)), zone.key)
        if found.number or found.period not in ({0} if found.days else {0, _UNITS["day"]}):
            raise BadRule("every")
        hour, minute = _time(found)
        return Rule(RuleKind.CRON, f"{minute} {hour} * * {','.join(found.days) or '*'}", zone.key)
    if found.days or not (timed or found.after or found.date or found.ahead is not None):
        raise BadRule("kind")
    here = datetime.fromtimestamp(now, zone)
    if found.after:
        if timed or found.date or found.ahead is not None or not found.period:
            raise BadRule("at")
        later = datetime.fromtimestamp(now + _held(found.period) + 59, zone)
        return Rule(RuleKind.AT, later.replace(tzinfo=None, fold=0).isoformat(timespec="minutes"), zone.key)
    if found.period or not timed or (found.date and found.ahead is not None):
        raise BadRule("at")
    return Rule(RuleKind.AT, _moment(found, here).isoformat(timespec="minutes"), zone.key)


def _moment(found: _Found, here: datetime) -> datetime:
    """The local time that is meant; the next such time of the clock where no day is named."""
    hour, minute = _time(found)
    today = here.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)
    try:
        if found.date:
            year, month, day = map(int, re.findall("[0-9]+", found.date))
            today = today.replace(year=year, month=month, day=day)
    except ValueError:
        raise BadRule("at") from None
    moment = today.replace(hour=hour, minute=minute) + timedelta(days=found.ahead or 0)
    if not found.date and found.ahead is None and moment.replace(tzinfo=here.tzinfo) <= here:
        moment += timedelta(days=1)
    return moment


def _read(text: str) -> _Found:
    """Parse the text into its parts. Raises BadRule for an unknown word, and for a part that occurs twice, except
    weekdays, of which there may be several.
    """
    begins = next((word for word in ("every", "每", "at ") if text.startswith(word)), "")
    wrong = BadRule({"": "kind", "at ": "at"}.get(begins, "every"))
    found, at = _Found(), 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise wrong
        at = token.end()
        if token["word"]:
            _take_word(found, token["word"], wrong)
        elif token["date"]:
            if found.date:
                raise wrong
            found.date = token["date"]
        elif token["unit"]:
            if found.period:
                raise wrong
            found.period = _seconds(token["number"], _UNITS[token["unit"]])
            found.number = token["number"] is not None
        else:
            _take_clock(found, token, wrong)
    return found


def _take_word(found: _Found, word: str, wrong: BadRule) -> None:
    if word in _REPEATS:
        found.repeats = True
    elif word in _AFTER and not (word == "in" and found.clock is not None):  # 8 in the morning
        found.after = True
    elif word in _ADVERBS:
        if found.period:
            raise wrong
        found.repeats, found.period = True, _ADVERBS[word]
    elif word in _DAYS:
        # "mondays" and "weekday" say it by themselves; a weekend may be the next one.
        found.days.append(_DAYS[word])
        found.repeats |= word.endswith("s") or _DAYS[word] == "1-5"
    elif word in _AHEAD or word in _PARTS:
        if word in _AHEAD:
            if found.ahead is not None:
                raise wrong
            found.ahead = _AHEAD[word]
        part = _NIGHT if word == "tonight" else _PARTS.get(word)
        if part is not None and found.part is not None:
            raise wrong
        found.part = part or found.part


def _take_clock(found: _Found, token: re.Match[str], wrong: BadRule) -> None:
    if found.clock is not None:
        raise wrong
    past = 30 if token["half_past"] else 15 * _number(token["quarters"] or "零") + _number(token["past"] or "零")
    minute = int(token["minute"]) if token["minute"] else past
    found.clock = (_number(token["hour"] or token["twelve"] or token["o_clock"] or token["bare"]), minute)
    found.noted = token["half"] or token["half_of_twelve"] or ""


def _time(found: _Found) -> tuple[int, int]:
    """Hour and minute on a clock of 24 hours. Raises BadRule."""
    part = found.part
    if found.clock is None:
        assert part is not None, "only what has a time is asked for it"
        return part.hour, part.minute
    hour, minute = found.clock
    if found.noted:
        if not 1 <= hour <= 12:
            raise BadRule("clock")
        hour = hour % 12 + (12 if found.noted == "p" else 0)
    elif part is not None:
        if hour in part.refused:
            raise BadRule("clock")
        hour += 12 if hour in part.shifted else 0
    if hour > 23 or minute > 59:
        raise BadRule("clock")
    return hour, minute


def _seconds(number: str | None, unit: int) -> int:
    if number is None or number in {"a", "an"}:
        return unit
    if number.startswith(("half", "半")):
        return unit // 2
    # 0 is a period too, and too short.
    return _number(number) * unit or 1


def _held(seconds: int) -> int:
    if not SHORTEST <= seconds <= LONGEST:
        raise BadRule("period")
    return seconds


def _number(digits: str) -> int:
    """From digits, or from the characters for 0 to 99."""
    if digits.isdecimal():
        return int(digits)
    tens, ten, ones = digits.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


def _cron(text: str) -> str:
    if len(text.split()) != 5:  # with six the library would read seconds
        raise BadRule("cron")
    try:
        CronSim(text, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError:
        raise BadRule("cron") from None
    return text
