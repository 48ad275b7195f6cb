from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from agent.events import Resumed
from agent.models.state import ModelState, ModelStatus
from agent.run import Outcome, RunId
from bot.domain.outgoing import Message
from bot.domain.task_events import Accepted, Ended, Noted, StepDone
from bot.monitoring.dependencies import Wait
from bot.texts import say, speaking, words
from bot.web.chat import HOME
from bot.web.stream import MOST_BEHIND, EncodedState
from bot.web.views import StateSnapshot
from tests.bot.web.standins import address, task
from tests.bot.web.world import World

Event = tuple[str, str, Any]


async def events_of(response: aiohttp.ClientResponse) -> AsyncIterator[Event]:
    """The stream as (id, name, data)."""
    name = number = ""
    async for raw in response.content:
        line = raw.decode().rstrip("\n")
        if line.startswith("id: "):
            number = line[4:]
        elif line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            yield number, name, json.loads(line[6:])
            name = number = ""


@asynccontextmanager
async def listening(
    client: aiohttp.ClientSession, *, since: str = "", last: str = ""
) -> AsyncIterator[AsyncIterator[Event]]:
    params = {"since": since} if since else {}
    headers = {"Last-Event-ID": last} if last else {}
    async with asyncio.timeout(15), client.get("/api/events", params=params, headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        yield events_of(response)


async def upto(events: AsyncIterator[Event], count: int) -> AsyncIterator[Event]:
    """So many of them, without how everything stands."""
    while count:
        event = await anext(events)
        if event[1] != "state":
            count -= 1
            yield event


async def messages(events: AsyncIterator[Event], count: int) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    async for number, name, data in events:
        if name == "message":
            found.append((int(number.partition("-")[0]), data["content"]["body"]))
            if len(found) == count:
                break
    return found


async def test_a_message_arrives_while_listening(world: World, client: aiohttp.ClientSession) -> None:
    async with listening(client) as events:
        assert (await anext(events))[1] == "state"
        ref = await world.chat.send(address("t1"), Message(body="one"), nonce="1")
        await world.chat.edit(ref, Message(body="two"))
        number, name, data = await anext(events)
        assert (name, data["thread"], data["id"]) == ("message", "t1", int(ref.message))
        while data["content"]["body"] != "two":
            number, name, data = await anext(events)
        assert number == f"{data['revision']}-0" == "2-0"


async def test_a_page_that_was_away_misses_nothing(world: World, client: aiohttp.ClientSession) -> None:
    """Also edits and deletions, in their order. Failed when the stream began at the present."""
    first = await world.chat.send(address("t1"), Message(body="card 1"), nonce="1")
    async with listening(client, since="0-0") as events:
        (seen,) = await messages(events, 1)
    second = await world.chat.send(address("t1"), Message(body="step"), nonce="2")
    await world.chat.edit(first, Message(body="card 2"))
    await world.chat.delete(second)
    async with listening(client, last=f"{seen[0]}-0") as events:
        assert await messages(events, 2) == [(3, "card 2"), (4, "")]


async def test_events_of_tasks_and_messages_are_one_stream(world: World, client: aiohttp.ClientSession) -> None:
    """A page that was away goes on behind both. Seen failing when the place told only one of them."""
    world.tables.tasks = [task("1")]
    world.tables.happens("1", Noted(text="before", by="Ann"))
    async with listening(client) as events:
        world.tables.happens("1", Noted(text="faster", by="Ann"), Resumed(question="q1"))
        await world.chat.send(HOME, Message(body="one"), nonce="1")
        world.tables.happens("1", Noted(text="slower", by="Ann"))
        told = [each async for each in upto(events, 3)]
    assert sorted(data.get("text") or data["content"]["body"] for _, _, data in told) == ["faster", "one", "slower"]
    assert told[-1][0] == "1-5"
    world.tables.happens("1", Ended(outcome=Outcome.SUCCEEDED, summary="Done."))
    await world.chat.send(HOME, Message(body="two"), nonce="2")
    async with listening(client, last=told[-1][0]) as events:
        news = [(name, data.get("kind")) async for _, name, data in upto(events, 2)]
    assert sorted(news, key=str) == [("event", "final"), ("message", None)]
    async with listening(client, last="1-9") as events:
        assert (await anext(events))[:2] == ("2-6", "reset")


async def test_a_page_that_has_read_another_record_loads_everything_anew(
    world: World, client: aiohttp.ClientSession
) -> None:
    """A backup was put back, and the service is as far again as the page was. Seen failing (nothing is told) with the
    word of the record not compared.
    """
    world.tables.epoch = "0a"
    await world.chat.send(HOME, Message(body="one"), nonce="1")
    async with listening(client, since="0-0-0a") as events:
        assert (await anext(upto(events, 1)))[:2] == ("1-0-0a", "message")
    world.tables.epoch = "0b"
    for known in ("1-0-0a", "1-0"):
        async with listening(client, last=known) as events:
            assert (await anext(events))[:2] == ("1-0-0b", "reset")
    for wrong in ("1-0-", "1-0-x", f"1-0-{'0' * 33}"):
        async with client.get("/api/events", headers={"Last-Event-ID": wrong}) as response:
            assert response.status == 400


async def test_the_work_for_an_event_does_not_grow(world: World, client: aiohttp.ClientSession) -> None:
    """One read of the logs and one look at the tasks, at the first step and at the sixtieth."""
    world.tables.tasks = [task("1")]
    world.tables.happens("1", Accepted(text="open settings"))
    async with listening(client) as events:
        await anext(events)
        for number in range(1, 61):
            read, looked = world.tables.event_reads, world.tables.reads
            done = StepDone(run=RunId("1"), subtask=1, step=number, max_steps=60, summary="Tapped")
            world.tables.happens("1", done)
            world.tables.tasks = [task("1", steps=number)]
            (told,) = [data async for _, _, data in upto(events, 1)]
            assert told["step"] == number
            if number in {1, 10, 30, 60}:
                await anext(events)
                assert (world.tables.event_reads - read, world.tables.reads - looked) == (1, 1), number


async def test_many_changes_come_whole(world: World, client: aiohttp.ClientSession) -> None:
    for number in range(250):
        await world.chat.send(address("t1"), Message(body=str(number)), nonce=str(number))
    async with listening(client, since="0-0") as events:
        assert [body for _, body in await messages(events, 250)] == [str(number) for number in range(250)]


async def test_a_place_is_two_numbers(client: aiohttp.ClientSession) -> None:
    async with client.get("/api/events", headers={"Last-Event-ID": "x"}) as response:
        assert response.status == 400
    async with client.get("/api/events", params={"since": "-1-0"}) as response:
        assert response.status == 400


@pytest.mark.parametrize("number", ["9" * 19, "٣", "1.0", "+1"])
async def test_a_number_that_is_none_is_refused(client: aiohttp.ClientSession, number: str) -> None:
    """The first was seen to end in a fault of the service."""
    async with client.get("/api/events", params={"since": f"0-{number}"}) as response:
        assert response.status == 400


async def test_a_page_that_is_ahead_loads_everything_anew(world: World, client: aiohttp.ClientSession) -> None:
    """A backup was put back. Seen failing when such a page was told nothing until its number was reached again."""
    await world.chat.send(address("t1"), Message(body="one"), nonce="1")
    async with listening(client, last="7-0") as events:
        number, name, data = await anext(events)
        assert (number, name, data) == ("1-0", "reset", {"cursor": "1-0"})
        await world.chat.send(address("t1"), Message(body="two"), nonce="2")
        assert await messages(events, 1) == [(2, "two")]


async def test_a_page_that_missed_too_much_loads_everything_anew(world: World, client: aiohttp.ClientSession) -> None:
    for number in range(MOST_BEHIND + 1):
        await world.chat.send(address("t1"), Message(body=str(number)), nonce=str(number))
    async with listening(client, last="1-0") as events:
        assert len(await messages(events, MOST_BEHIND)) == MOST_BEHIND
    async with listening(client, since="0-0") as events:
        assert (await anext(events))[:2] == (f"{MOST_BEHIND + 1}-0", "reset")


async def test_a_change_of_a_task_is_told_without_any_message(world: World, client: aiohttp.ClientSession) -> None:
    async with listening(client) as events:
        assert (await anext(events))[2]["tasks"] == []
        world.tables.tasks = [task("9")]
        _, name, data = await anext(events)
        assert name == "state"
        assert [one["task"] for one in data["tasks"]] == ["9"]


async def test_a_page_that_goes_away_leaves_nothing_behind(world: World, client: aiohttp.ClientSession) -> None:
    async with listening(client) as events:
        await anext(events)
    await world.chat.send(address("t1"), Message(body="one"), nonce="1")
    async with listening(client, since="0-0") as events:
        assert await messages(events, 1) == [(1, "one")]


async def test_many_pages_are_one_look_and_a_message_is_none(world: World, client: aiohttp.ClientSession) -> None:
    """Seen failing with a look for each page."""
    world.tables.tasks = [task(str(number)) for number in range(90, 0, -1)]
    async with listening(client) as one, listening(client) as other:
        for events in (one, other):
            _, name, whole = await anext(events)
            assert (name, whole["whole"], len(whole["tasks"])) == ("state", True, 90)
        looked = world.tables.reads
        await world.chat.send(address("t1"), Message(body="one"), nonce="1")
        for events in (one, other):
            assert await messages(events, 1) == [(1, "one")]
        assert world.tables.reads == looked
        for number, steps in enumerate((4, 5, 6), 1):
            world.tables.tasks = [task("90", steps=steps), *world.tables.tasks[1:]]
            for events in (one, other):
                _, name, changes = await anext(events)
                assert (name, sorted(changes)) == ("state", ["tasks", "work"])
                assert [(one["task"], one["steps"]) for one in changes["tasks"]] == [("90", steps)]
            assert world.tables.reads == looked + number


async def test_without_a_page_nothing_is_looked_up(world: World, client: aiohttp.ClientSession) -> None:
    async with listening(client) as events:
        await anext(events)
        assert len(world.tables.listeners) == 1
    await world.chat.send(address("t1"), Message(body="heard by nobody"), nonce="1")
    await world.console.stop()
    assert world.tables.listeners == []


def test_what_all_pages_are_told_is_made_once_for_each_language() -> None:
    """Fifty pages of hundreds of tasks held up whoever pressed Stop. Seen failing with all of it made for each page."""
    one = task("1")
    before = EncodedState(StateSnapshot((one,), (), {}, (), (), ModelState(ModelStatus.OFFLINE)), 1)
    now = EncodedState(StateSnapshot((one, task("2")), (), {}, (), (), ModelState(ModelStatus.OFFLINE)), 2)
    assert now.since(before) is now.since(before)
    assert now.state() is now.state()
    assert [each["task"] for each in json.loads(now.since(before))["tasks"]] == ["2"]
    assert json.loads(now.since(None))["whole"]
    with speaking("zh"):
        assert now.state() is not before.state()
        assert now.since(before) is now.since(before)


@pytest.mark.parametrize("what", ["disk", "memory"])
async def test_what_the_machine_lacks_is_told_with_its_remedy(
    world: World, client: aiohttp.ClientSession, what: str
) -> None:
    object.__setattr__(world.tables, "waits", (Wait(what, words(f"waits.{what}", megabytes="12"), 1.0),))
    async with listening(client) as events:
        async for _, name, data in events:
            if name == "state":
                (told,) = data["held_up"]
                assert "12 MB" in told
                assert told.endswith(say(f"check.waits.fix.{what}"))
                break


async def test_what_is_waited_for_is_told_at_once(world: World, client: aiohttp.ClientSession) -> None:
    """Seen failing without the listener: it was told with the next look, half a minute later."""
    full = Wait("store", words("waits.store", why="No space left on device"), 1.0)
    async with listening(client) as events:
        async for _, name, data in events:
            if name == "state":
                assert data["held_up"] == []
                break
        object.__setattr__(world.tables, "waits", (full,))
        for listener in world.tables.outage_listeners:
            await listener("store")
        async for _, name, data in events:
            if name == "state" and "held_up" in data:
                assert "No space left on device" in data["held_up"][0]
                break
