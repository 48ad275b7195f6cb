"""A trigger on a real phone, over adb, in a service that is killed while notifications pour in."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing

import pytest

from bot.cli.remote import running_service
from devices.virtual_phone.happenings import happen
from devices.virtual_phone.scenario import Dismiss, Notify, Reboot
from tests.chaos.records import tasks
from tests.end_to_end.service import Place, Service

PHONE = "Virtual Phone"
CHAT = "com.tencent.mm"
LIMIT = 4
ALL = 1000
AT_ONCE = 50
"""What Android shows of one app."""


async def pour(place: Place, numbers: range) -> None:
    """So many messages, fifty at a time, as fast as a phone may show them."""
    for first in range(numbers.start, numbers.stop, AT_ONCE):
        await happen(place.phone, Dismiss(package=CHAT))
        for number in range(first, first + AT_ONCE):
            text = f"order {'abcdefghij'[number % 10]}{number} is here"
            await happen(place.phone, Notify(package=CHAT, title="Shop", text=text, number=number))
        await asyncio.sleep(0.5)


async def given(place: Place, service: Service, number: int) -> None:
    """Returns once so many tasks were begun."""
    async with asyncio.timeout(60):
        while len([one for one in tasks(place.data) if one.text == "open Clock"]) < number:
            assert service.pid
            await asyncio.sleep(0.05)


@pytest.mark.sqlite
async def test_a_thousand_begin_what_the_limit_allows_and_none_twice_after_a_kill(place: Place) -> None:
    async with place.service() as service:
        async with running_service(place.data) as remote:
            assert remote is not None
            rule = f"{PHONE} gets a notification from WeChat with order do open Clock"
            code, out, err = await place.opengui("when", rule, "--limit", str(LIMIT))
            assert code == 0, err
            assert "gets a notification from WeChat" in out
            (made,) = (await remote.read("/api/v1/triggers"))["data"]["items"]
            assert (made["package"], made["per_hour"], made["paused"]) == (CHAT, LIMIT, False)
        await happen(place.phone, Notify(package=CHAT, title="Shop", text="the order is here", number=1))
        await given(place, service, 1)
        await service.kill()
    async with place.service() as service:
        await pour(place, range(100, 100 + ALL))
        await given(place, service, LIMIT)
        await service.kill()
    async with place.service():
        await asyncio.sleep(12.0)  # two looks
    with closing(sqlite3.connect(place.data / "opengui.sqlite3")) as database:
        marks = database.execute("SELECT mark FROM trigger_marks WHERE begins").fetchall()
        said = database.execute("SELECT json_extract(request, '$.received[0].text') FROM tasks").fetchall()
    begun = [text for (text,) in said if text is not None]
    assert len(marks) == LIMIT
    assert len(begun) == len(set(begun)) == LIMIT
    assert "Shop\nthe order is here" in begun


async def test_a_phone_that_was_started_again_tells_nothing_old(place: Place) -> None:
    async with place.service() as service:
        code, _, err = await place.opengui("when", f"{PHONE} gets a notification from WeChat do open Clock")
        assert code == 0, err
        await happen(place.phone, Notify(package=CHAT, title="Bob", text="hello", number=1))
        await given(place, service, 1)
        await happen(place.phone, Reboot(seconds=0.5, start_seconds=0.5))
        await asyncio.sleep(15.0)  # two looks and more
        assert len(tasks(place.data)) == 1
