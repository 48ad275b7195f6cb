"""The date and time that a model is told: words such as "tomorrow" are meant by the phone's, not by the service's."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio

from agent.graph.member.members import Members
from agent.local_time import LocalTime, LocalTimes
from agent.models.base import ModelReply, ModelRequest, Models, Purpose
from devices.phone import Health, PhoneInfo
from tests.agent.graph.rig import Rig, Work, direct_rig, order
from tests.agent.graph.test_main import FINISH
from tests.agent.graph.test_team import COMPLETE, PLAN, TEAM, Cast, World, assign
from tests.fakes.ports import MemoryFrames
from tests.fakes.scripted_model import call, data, models, text

ON_PHONE = datetime(2026, 12, 31, 23, 50, 20, tzinfo=ZoneInfo("Pacific/Auckland"))
"""A Thursday; where the service runs, in Lisbon, it is still the morning."""
READ = re.compile(r"(\w+day) (\d{4}-\d\d-\d\d \d\d:\d\d), (\S+) \(UTC([+-]\d\d:\d\d)\), language ([\w-]+)")


@pytest_asyncio.fixture
async def far(virtual_time: None, real_world: None) -> AsyncIterator[Rig]:  # noqa: ARG001  # for the loop
    async with direct_rig(clock=lambda: ON_PHONE) as made:
        yield made


def told(request: ModelRequest) -> datetime:
    """The time on the phone as the words of a request tell it, and nothing else."""
    words = "\n".join(message.text for message in request.messages)
    (found,) = {match.groups() for match in READ.finditer(words)}
    day, written, zone, offset, language = found
    read = datetime.fromisoformat(f"{written}{offset}")
    assert (zone, language) == ("Pacific/Auckland", "en-US")
    assert read.strftime("%A") == day
    return read


def weekday(name: int) -> Callable[[datetime], str]:
    """That day of the week after this one."""
    return lambda now: f"{now + timedelta(days=7 - now.weekday() + name):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("words", "solve", "meant"),
    [
        ("tomorrow", lambda now: f"{now + timedelta(days=1):%Y-%m-%d}", "2027-01-01"),
        ("next Tuesday", weekday(1), "2027-01-05"),
        ("下周三", weekday(2), "2027-01-06"),
        ("in 20 minutes", lambda now: f"{now + timedelta(minutes=20):%Y-%m-%d %H:%M}", "2027-01-01 00:10"),
        ("heute Abend", lambda now: f"{now:%Y-%m-%d}", "2026-12-31"),
    ],
)
async def test_words_about_time_are_meant_by_the_phone(
    far: Rig, words: str, solve: Callable[[datetime], str], meant: str
) -> None:
    def finish(request: ModelRequest) -> ModelReply:
        return call("finish", status="success", summary="Done.", data=solve(told(request)))

    asked, model = models([finish])
    end = await Work(far.agent(asked), order(f"what is the date {words}?")).ended()
    assert end.data in {meant, meant.replace("00:10", "00:11")}, "a minute may begin meanwhile"
    for request in model.requests:
        assert told(request) - ON_PHONE < timedelta(minutes=2), request.purpose


async def test_everybody_who_thinks_about_a_task_is_told_the_time(far: Rig) -> None:
    model = Cast(
        {
            Purpose.INTENT: [data(kind="complex")],
            Purpose.PLAN: [PLAN],
            Purpose.SUPERVISE: [assign(("researcher", "price of A"), ("executor", "write it down")), COMPLETE],
            Purpose.SUMMARIZE: [text("words")],
            Purpose.ACT: [FINISH],
        },
        {"price of A": [text("1 euro")]},
    )
    members = Members(lambda: TEAM, World().toolbox(), MemoryFrames(), far.saver)
    times = LocalTimes(far.phones.list, ZoneInfo("Europe/Lisbon"))
    agent = far.agent(Models(model, model, model), main={"members": members, "local_times": times})
    await Work(agent, order("compare by Friday", quick=False)).ended()
    for purpose in (Purpose.INTENT, Purpose.PLAN, Purpose.SUPERVISE, Purpose.MEMBER, Purpose.ACT, Purpose.VERIFY):
        assert model.asked(purpose), purpose
        for request in model.asked(purpose):
            assert told(request).date() == ON_PHONE.date(), purpose
            if purpose in {Purpose.INTENT, Purpose.PLAN, Purpose.SUPERVISE}:
                assert request.messages[-1].text.splitlines()[-1].startswith("Date and time on the phone: ")


def test_whose_time_it_is_without_a_clear_phone() -> None:
    clock = datetime(2026, 7, 1, 22, 5, tzinfo=UTC).timestamp
    one = PhoneInfo("a", "a", "A", Health.READY)
    times = LocalTimes(lambda: (one, PhoneInfo("b", "b", "B", Health.READY)), ZoneInfo("Asia/Shanghai"), clock)
    for phone in ("", "a", "elsewhere"):
        sentence = times.on(phone).sentence
        assert sentence == "Date and time where the service runs: Thursday 2026-07-02 06:05, Asia/Shanghai (UTC+08:00)."


def test_a_zone_without_a_name_and_one_that_is_utc() -> None:
    moment = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
    assert LocalTime(moment, of_phone=True).facts == "Tuesday 2026-02-03 04:05, UTC"
    assert LocalTime(moment.astimezone(ZoneInfo("UTC"))).facts == "Tuesday 2026-02-03 04:05, UTC"
