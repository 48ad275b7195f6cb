"""Rules of schedules: what words mean, when they are due, and what happens where clocks change."""

from __future__ import annotations

import itertools
import string
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.schedule import (
    LONGEST,
    SHORTEST,
    BadRule,
    Oddity,
    Rule,
    RuleKind,
    count_due,
    next_due,
    oddity_of,
)
from bot.domain.schedule_words import read_rule
from bot.texts import say

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"])
MOMENTS = st.integers(1_600_000_000, 2_200_000_000)


def at(text: str, zone: ZoneInfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


NOW = at("2026-11-21 12:00")


def due(kind: str, words: str, *, now: float = NOW, zone: ZoneInfo = BERLIN) -> str:
    """The next time, as the clock shows it there."""
    found = next_due(read_rule(f"{kind} {words}", now=now, zone=zone), after=now, begun=now)
    assert found is not None
    return datetime.fromtimestamp(found, zone).isoformat(" ", "minutes")[:16]


@pytest.mark.parametrize(
    ("kind", "words", "when"),
    [
        ("at", "2026-12-24 18:00", "2026-12-24 18:00"),
        ("AT", "2026-12-24T18:00", "2026-12-24 18:00"),
        ("at", "18:00", "2026-11-21 18:00"),
        ("at", "9:05", "2026-11-22 09:05"),
        ("at", "today 18:00", "2026-11-21 18:00"),
        ("at", "tomorrow at 18:00", "2026-11-22 18:00"),
        ("every", "30m", "2026-11-21 12:30"),
        ("every", "90 minutes", "2026-11-21 13:30"),
        ("every", "hour", "2026-11-21 13:00"),
        ("every", "2d", "2026-11-23 12:00"),
        ("every", "day 07:30", "2026-11-22 07:30"),
        ("every", "Day at 12:01", "2026-11-21 12:01"),
        ("every", "monday 07:30", "2026-11-23 07:30"),
        ("every", "sat 07:30", "2026-11-28 07:30"),
        ("every", "weekday 07:30", "2026-11-23 07:30"),
        ("every", "weekend 07:30", "2026-11-22 07:30"),
        ("cron", '"0 7 * * 1-5"', "2026-11-23 07:00"),
        ("cron", "*/20 * * * *", "2026-11-21 12:20"),
        ("cron", "0 0 29 2 *", "2028-02-29 00:00"),
    ],
)
def test_words(kind: str, words: str, when: str) -> None:
    assert due(kind, words) == when


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("every morning", "2026-11-22 08:00"),
        ("every monday morning", "2026-11-23 08:00"),
        ("every morning at 7", "2026-11-22 07:00"),
        ("every evening 7:30", "2026-11-21 19:30"),
        ("every day at 8pm", "2026-11-21 20:00"),
        ("every day at 12:15 a.m.", "2026-11-22 00:15"),
        ("each weekday at 8 in the morning", "2026-11-23 08:00"),
        ("Every Monday and Thursday, 9 am", "2026-11-23 09:00"),
        ("daily at noon", "2026-11-22 12:00"),
        ("hourly", "2026-11-21 13:00"),
        ("weekends 10:00", "2026-11-22 10:00"),
        ("every half an hour", "2026-11-21 12:30"),
        ("tonight at 8", "2026-11-21 20:00"),
        ("this evening", "2026-11-21 19:00"),
        ("tomorrow morning", "2026-11-22 08:00"),
        ("tomorrow afternoon at 3", "2026-11-22 15:00"),
        ("noon", "2026-11-22 12:00"),
        ("in 2 hours", "2026-11-21 14:00"),
        ("每天早上8点", "2026-11-22 08:00"),
        ("每天 ８：３０", "2026-11-22 08:30"),
        ("每天晚上十点半", "2026-11-21 22:30"),
        ("每个工作日上午九点一刻", "2026-11-23 09:15"),
        ("每周一、周三下午3点20分", "2026-11-23 15:20"),
        ("每星期天中午", "2026-11-22 12:00"),
        ("每周末早上九点", "2026-11-22 09:00"),
        ("每隔两小时", "2026-11-21 14:00"),
        ("每半小时", "2026-11-21 12:30"),
        ("每30分钟", "2026-11-21 12:30"),
        ("每天", "2026-11-22 12:00"),
        ("明天早上8点", "2026-11-22 08:00"),
        ("明早七点", "2026-11-22 07:00"),
        ("今晚8点", "2026-11-21 20:00"),
        ("后天凌晨2点", "2026-11-23 02:00"),
        ("半小时后", "2026-11-21 12:30"),
        ("2026年12月24日18点", "2026-12-24 18:00"),
    ],
)
def test_the_words_that_people_use(words: str, when: str) -> None:
    rule = read_rule(words, now=NOW, zone=BERLIN)
    assert next_due(rule, after=NOW, begun=NOW) == at(when)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("every evening at 12", "clock"),
        ("every night at 2", "clock"),
        ("每天晚上12点", "clock"),
        ("every day at 13 pm", "clock"),
        ("every tomorrow 8:00", "every"),
        ("every 2 days at 8:00", "every"),
        ("every week at 8:00", "every"),
        ("every monday", "every"),
        ("every day 8:00 9:00", "every"),
        ("每天早上8点做", "every"),
        ("每周一次", "every"),
        ("monday 8:00", "kind"),
        ("周末早上九点", "kind"),
        ("8:00 in 2 hours", "at"),
        ("tomorrow", "at"),
        ("", "kind"),
    ],
)
def test_what_could_mean_two_times_is_refused(words: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        read_rule(words, now=NOW, zone=BERLIN)
    assert caught.value.why == why


@pytest.mark.parametrize(
    ("kind", "words", "why"),
    [
        ("on", "monday", "kind"),
        ("at", "teatime", "at"),
        ("at", "2026-02-30 10:00", "at"),
        ("at", "24:00", "clock"),
        ("at", "today 11:00", "past"),
        ("at", "2020-01-01 10:00", "past"),
        ("at", "2062-01-01 10:00", "far"),
        ("every", "day 7:60", "clock"),
        ("every", "blue moon", "every"),
        ("every", "now and then", "every"),
        ("every", "0m", "period"),
        ("every", "400 days", "period"),
        ("cron", "0 7 * *", "cron"),
        ("cron", "0 0 7 * * 1-5", "cron"),
        ("cron", "0 25 * * *", "cron"),
        ("cron", "0 0 31 2 *", "cron"),
    ],
)
def test_what_is_no_rule(kind: str, words: str, why: str) -> None:
    with pytest.raises(BadRule) as caught:
        read_rule(f"{kind} {words}", now=NOW, zone=BERLIN)
    assert caught.value.why == why


def test_a_skipped_local_time_is_made_up_for_right_after_the_gap() -> None:
    before = at("2026-03-28 12:00")
    daily = read_rule("every day 02:30", now=before, zone=BERLIN)
    first = next_due(daily, after=before, begun=before)
    assert first == at("2026-03-29 03:00")
    assert next_due(daily, after=first, begun=before) == at("2026-03-30 02:30")
    once = read_rule("at 2026-03-29 02:30", now=before, zone=BERLIN)
    assert oddity_of(once) is Oddity.SKIPPED
    assert next_due(once, after=before, begun=before) == at("2026-03-29 03:30")


def test_a_local_time_that_comes_twice_counts_once() -> None:
    before = at("2026-10-24 12:00")
    daily = read_rule("every day 02:30", now=before, zone=BERLIN)
    first = next_due(daily, after=before, begun=before)
    assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp()
    assert next_due(daily, after=first, begun=before) == at("2026-10-26 02:30")
    once = read_rule("at 2026-10-25 02:30", now=before, zone=BERLIN)
    assert oddity_of(once) is Oddity.TWICE
    assert next_due(once, after=before, begun=before) == first
    assert next_due(once, after=first, begun=before) is None
    assert oddity_of(read_rule("at 2026-10-25 12:30", now=before, zone=BERLIN)) is None
    assert oddity_of(daily) is None


def test_intervals_do_not_care_for_clocks() -> None:
    before = at("2026-10-25 00:30")
    rule = read_rule("every 2h", now=before, zone=BERLIN)
    assert next_due(rule, after=before, begun=before) == before + 7200
    assert next_due(rule, after=before + 7200, begun=before) == before + 14400
    assert next_due(rule, after=before + 14399, begun=before) == before + 14400


def test_counting_what_was_missed() -> None:
    rule = read_rule("every 10m", now=NOW, zone=BERLIN)
    assert count_due(rule, first=NOW + 600, until=NOW + 3600, begun=NOW, most=100) == 6
    assert count_due(rule, first=NOW + 600, until=NOW + 3600, begun=NOW, most=4) == 4
    once = read_rule("at 18:00", now=NOW, zone=BERLIN)
    assert count_due(once, first=at("2026-11-21 18:00"), until=NOW + 1e6, begun=NOW, most=9) == 1


def read_or_refused(kind: str, words: str, zone: str, now: int) -> None:
    try:
        rule = read_rule(f"{kind} {words}", now=now, zone=ZoneInfo(zone))
    except BadRule as bad:
        say(f"schedule.bad.{bad.why}", example="")
        return
    found = next_due(rule, after=now, begun=now)
    assert found is not None
    assert found > now


@given(st.sampled_from(["at", "every", "cron", ""]), st.text(), ZONES, MOMENTS)
def test_any_text_is_a_rule_with_a_next_time_or_a_known_mistake(kind: str, words: str, zone: str, now: int) -> None:
    read_or_refused(kind, words, zone, now)


TIMELIKE = st.text(alphabet=string.digits + " :-T*/,#LW" + "mhdw" + "每隔天周一十点半后早晚", max_size=20)


@given(st.sampled_from(["at", "every", "cron"]), TIMELIKE, ZONES, MOMENTS)
def test_what_looks_like_a_time_never_fails_otherwise(kind: str, words: str, zone: str, now: int) -> None:
    read_or_refused(kind, words, zone, now)


@given(st.integers(0, 23), st.integers(0, 59), ZONES, MOMENTS)
def test_every_day_is_every_day_once(hour: int, minute: int, zone: str, now: int) -> None:
    here = ZoneInfo(zone)
    rule = read_rule(f"every day {hour}:{minute:02}", now=now, zone=here)
    moment, days = float(now), []
    for _ in range(5):
        found = next_due(rule, after=moment, begun=now)
        assert found is not None
        assert found > moment
        moment = found
        local = datetime.fromtimestamp(found, here)
        days.append(local.date())
        as_written = local.replace(hour=hour, minute=minute, tzinfo=None)
        assert abs(local.replace(tzinfo=None) - as_written) <= timedelta(hours=1)  # only in a gap is it another
    assert [later - earlier for earlier, later in itertools.pairwise(days)] == [timedelta(days=1)] * 4


@given(st.integers(SHORTEST, LONGEST), MOMENTS, st.integers(0, 10**7))
def test_intervals_hit_the_multiples(period: int, begun: int, later: int) -> None:
    rule = Rule(RuleKind.EVERY, str(period), "UTC")
    found = next_due(rule, after=begun + later, begun=begun)
    assert found is not None
    assert begun + later < found <= begun + later + period
    assert (found - begun) % period == 0
