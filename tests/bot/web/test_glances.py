"""Small pictures of phones: seldom, only of idle ones, and nothing that nobody should see."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from PIL import Image

from bot.application.services import Services
from bot.domain.task import TaskState
from bot.web.pictures import GLANCE_EVERY, SHOWN, Thumbnails
from devices.errors import PhoneGone
from devices.phone import Health
from tests.bot.web.standins import PHONE, PhoneList, Tables, TaskTable, task
from tests.bot.web.world import World, asked

IDLE = "/api/devices/pixel/glance"


async def test_an_idle_phone_is_shown_small(world: World, client: aiohttp.ClientSession) -> None:
    async with client.get(IDLE) as response:
        assert response.status == 200
        where = (await response.json())["picture"]
    async with client.get(where) as response:
        assert (response.status, response.content_type) == (200, "image/jpeg")
        assert response.headers["Cache-Control"] == "no-store"
        with Image.open(io.BytesIO(await response.read())) as shown:
            assert shown.size == SHOWN
    assert world.tables.glances == ["pixel"]
    for other in (f"{IDLE}/0", f"{IDLE}/x", "/api/devices/nobody/glance/1"):
        async with client.get(other) as response:
            assert response.status == 404


def behind(tables: Tables) -> Services:
    nobody: Any = SimpleNamespace(held_by=lambda _: "")
    services: Any = SimpleNamespace(phones=PhoneList(tables), task_service=TaskTable(tables), remote_control=nobody)
    found: Services = services
    return found


async def test_the_app_is_told_of_the_same_look_as_the_picture() -> None:
    """Seen failing with the app of the list, which a round of questions may have changed before the next picture."""
    tables, now = Tables(), 100.0
    glances = Thumbnails(behind(tables), lambda: now, lambda _: tables.phones)

    async def look() -> dict[str, str]:
        answer = await glances.glance(asked(IDLE, phone="pixel"))
        assert isinstance(answer.body, bytes)
        told: dict[str, str] = json.loads(answer.body)
        return told

    first = await look()
    assert first == {"picture": f"{IDLE}/1", "app_name": "Settings"}
    tables.phones = [replace(PHONE, app="com.example.shop", app_name="Shop")]
    assert await look() == first
    now += GLANCE_EVERY
    # The same screen is the same picture: nobody loads it anew.
    assert await look() == {"picture": f"{IDLE}/1", "app_name": "Shop"}
    tables.screen = Image.new("RGB", (1080, 2400), "red")
    now += GLANCE_EVERY
    assert (await look())["picture"] == f"{IDLE}/2"


async def test_many_pages_are_one_look(world: World, client: aiohttp.ClientSession) -> None:
    """Seen failing, with ten looks, when the time of the last one was not asked."""

    async def status() -> int:
        async with client.get(IDLE) as response:
            return response.status

    assert set(await asyncio.gather(*(status() for _ in range(10)))) == {200}
    assert world.tables.glances == ["pixel"]


async def test_it_is_looked_at_again_after_a_while_also_when_it_failed() -> None:
    tables, now = Tables(), 100.0
    glances = Thumbnails(behind(tables), lambda: now, lambda _: tables.phones)
    request = asked(IDLE, phone="pixel")
    tables.screen = PhoneGone("unplugged", uncertain=False)
    assert (await glances.glance(request)).status_code == 409
    tables.screen = Image.new("RGB", (90, 200))
    now += GLANCE_EVERY - 0.1
    assert (await glances.glance(request)).status_code == 409
    assert len(tables.glances) == 1
    now += 0.1
    assert (await glances.glance(request)).status_code == 200


@pytest.mark.parametrize("state", [TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED])
async def test_a_phone_that_a_task_holds_is_left_alone(
    world: World, client: aiohttp.ClientSession, state: TaskState
) -> None:
    """Also when the task is only one phone's part. Seen failing without the question for the task."""
    world.tables.parts = [task("8", parent="7", state=state)]
    async with client.get(IDLE) as response:
        assert response.status == 409
    assert world.tables.glances == []


@pytest.mark.parametrize("health", [Health.LOCKED, Health.ASLEEP, Health.OFFLINE, Health.UNAUTHORIZED])
async def test_a_phone_that_is_not_awake_and_open_is_left_alone(
    world: World, client: aiohttp.ClientSession, health: Health
) -> None:
    world.tables.phones = [replace(PHONE, health=health)]
    async with client.get(IDLE) as response:
        assert response.status == 409
    assert world.tables.glances == []


async def test_a_protected_screen_is_not_shown(world: World, client: aiohttp.ClientSession) -> None:
    world.tables.screen = None
    async with client.get(IDLE) as response:
        assert response.status == 409
    async with client.get("/api/devices/nobody/glance") as response:
        assert response.status == 404
