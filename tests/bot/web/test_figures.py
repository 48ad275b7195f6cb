"""State of work, usage and the settings check, as the page gets them."""

from __future__ import annotations

import time
from typing import Any

import aiohttp
import pytest

from agent.questions import QuestionKind
from agent.run import Outcome
from bot.chats.installed import installed, model_of
from bot.checks.settings import shown
from bot.domain.address import Person
from bot.domain.task import TaskState
from bot.domain.task_request import Origin, TaskRequest
from bot.store.tasks import Tasks
from bot.web.chat import HOME, OPERATOR
from tests.bot.web.standins import ended, question, task
from tests.bot.web.world import World


async def get(client: aiohttp.ClientSession, path: str) -> dict[str, Any]:
    async with client.get(path) as response:
        assert response.status == 200, await response.text()
        answer: dict[str, Any] = await response.json()
        return answer


async def test_parts_count_for_their_phone_and_for_the_task_that_people_know(
    world: World, client: aiohttp.ClientSession
) -> None:
    world.tables.tasks = [task("7", parts=2, phone="")]
    world.tables.parts = [
        task("8", parent="7", phone="pixel"),
        task("9", parent="7", phone="galaxy", state=TaskState.QUEUED),
    ]
    world.tables.places = {"9": 2}
    world.tables.questions = [question(QuestionKind.ASK, "8")]
    state = await get(client, "/api/state")
    assert [(one["task"], one["called"], one["phone"], one["holds"], one["place"]) for one in state["work"]] == [
        ("7", "7.1", "pixel", True, None),
        ("7", "7.2", "galaxy", False, 2),
    ]
    assert [one["task"] for one in state["questions"]] == ["7"]
    assert [one["task"] for one in state["tasks"]] == ["7"]


async def test_a_task_that_waits_for_long_is_still_listed(world: World, client: aiohttp.ClientSession) -> None:
    """Seen failing when only the latest hundred were told."""
    world.tables.tasks = [task(str(number), state=TaskState.ENDED) for number in range(150, 1, -1)] + [task("1")]
    state = await get(client, "/api/state")
    assert [one["task"] for one in state["tasks"]][-2:] == ["51", "1"]


async def test_usage_by_day_and_by_person(world: World, client: aiohttp.ClientSession) -> None:
    tasks = Tasks(world.database)

    async def used(transaction: Any) -> None:
        kept = await tasks.add(transaction, TaskRequest("x", OPERATOR, Origin(HOME, "e1")), now=time.time())
        working = task(kept.id, steps=4, state=TaskState.WORKING)
        await tasks.save(transaction, working, now=time.time())

    await world.database.write(used)
    by_day = await get(client, "/api/v1/statistics")
    assert [(row["tasks"], row["steps"], row["tokens"]["input"]) for row in by_day["data"]["items"]] == [(1, 4, 1200)]
    assert by_day["total"]["tasks"] == 1
    (person,) = (await get(client, "/api/v1/statistics?by=person&days=7"))["data"]["items"]
    assert (person["key"], person["label"]) == ("web:operator", "operator")


@pytest.mark.parametrize("query", ["by=secret", "days=0", "days=x", "days=1000"])
async def test_what_cannot_be_summed_is_refused(client: aiohttp.ClientSession, query: str) -> None:
    async with client.get(f"/api/v1/statistics?{query}") as response:
        assert response.status == 422


async def test_the_check_shows_what_is_set_and_no_secret(client: aiohttp.ClientSession) -> None:
    async with client.get("/api/check") as response:
        text = await response.text()
        found = await response.json()
    assert "hush-hush" not in text
    settings = {one["name"]: one for one in found["settings"]}
    assert (settings["VLM_API_KEY"]["kind"], settings["VLM_API_KEY"]["text"]) == ("secret", "")
    assert settings["VLM_MODEL"]["text"] == "my-model"
    bad = {"area": "files", "verdict": "bad", "text": "Only 1 GB free.", "fix": "Make room.", "cause": None}
    assert bad in found["findings"]
    async with client.post("/api/check", json={}) as response:
        assert [one["text"] for one in (await response.json())["findings"]] == ["my-model accepts pictures."]


def test_of_what_may_hold_a_secret_only_the_harmless_part_is_shown() -> None:
    """Seen failing with the address shown as it is."""
    settings = model_of(installed()).model_validate(
        {
            "vlm_api_key": "key-0123",
            "vlm_base_url": "https://user:pass-0123@models.example:8443/v1/path-0123?key=query-0123",
            "telegram_bot_token": "token-0123",
            "discord_allowed_user_ids": ("11110123",),
            "phone_names": {"serial-0123": "Desk"},
        }
    )
    told = {one.name: one for one in shown(settings)}
    assert "0123" not in repr(told.values())
    assert (told["VLM_BASE_URL"].kind, told["VLM_BASE_URL"].text) == ("address", "models.example:8443")
    assert (told["DISCORD_ALLOWED_USER_IDS"].kind, told["DISCORD_ALLOWED_USER_IDS"].text) == ("entries", "1")
    assert (told["BASIC_API_KEY"].kind, told["BASIC_API_KEY"].default) == ("unset", True)
    assert told["LANGUAGE"].text == "auto"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["3", "2", "1"]),
        ("text=dark", ["2"]),
        ("standing=failed", ["3", "2"]),
        ("standing=failed&cursor=3", ["2"]),
        ("person=discord:7", ["1"]),
        ("phone=nokia", []),
    ],
)
async def test_tasks_are_searched(world: World, client: aiohttp.ClientSession, query: str, found: list[str]) -> None:
    world.tables.tasks = [
        ended("3", Outcome.FAILED, text="order tea"),
        ended("2", Outcome.FAILED, text="Dark mode"),
        task("1", text="order", person=Person("discord", "7", "Ben")),
    ]
    async with client.get(f"/api/v1/tasks?{query}") as response:
        answer = (await response.json())["data"]
        assert ([one["id"] for one in answer["items"]], answer["has_more"]) == (found, False)
    async with client.get("/api/choices") as response:
        people = (await response.json())["people"]
        assert {"id": "discord:7", "platform": "discord", "name": "Ben"} in people


@pytest.mark.parametrize(("query", "status"), [("standing=x", 422), ("cursor=x", 400), (f"text={'x' * 201}", 422)])
async def test_a_search_that_cannot_be_is_refused(client: aiohttp.ClientSession, query: str, status: int) -> None:
    async with client.get(f"/api/v1/tasks?{query}") as response:
        assert response.status == status
