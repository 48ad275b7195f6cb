"""Queue talk: places, "send now", and the notice that a wait is over."""

from __future__ import annotations

import asyncio

from agent.events import Started, Waiting
from agent.ports.leases import Lease, Place
from agent.run import RunId
from bot.cards.buttons import now_button
from bot.domain.address import Person
from bot.domain.task import Task, TaskState
from bot.store.outbox import Notice, NoticePayload, Payload
from tests.bot.commands.test_overview import words
from tests.bot.world import ADA, ANNA, BEN, PATIENCE, World


async def waiting(world: World, place: int, person: Person = ANNA) -> Task:
    """A queued task that was told its place."""
    task = await world.do("open settings", person)
    told = asyncio.Event()
    stop = world.task_service.on_event(lambda _task, _event: told.set())
    world.agent.tell(task.id, Waiting(place=place, phone="Pixel"))
    await asyncio.wait_for(told.wait(), PATIENCE)
    stop()
    return task


async def notices(world: World, task: Task) -> list[Payload]:
    return [row.payload for row in await world.store.outbox.of(task.id) if isinstance(row.payload, NoticePayload)]


async def started(world: World, task: Task) -> None:
    world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
    await world.until(task, TaskState.WORKING)


async def test_who_was_told_to_wait_is_told_that_it_begins(world: World) -> None:
    task = await waiting(world, 2)
    world.clock.advance(30.0)
    await started(world, task)
    assert await notices(world, task) == [NoticePayload(Notice.STARTED)]


async def test_a_short_wait_and_a_long_plan_are_no_news(world: World) -> None:
    short = await waiting(world, 1)
    world.clock.advance(5.0)
    await started(world, short)
    assert await notices(world, short) == []
    planned = await world.do("plan for long", BEN)
    world.clock.advance(300.0)
    await started(world, planned)
    assert await notices(world, planned) == []


async def test_tasks_lists_the_places(world: World) -> None:
    await waiting(world, 1)
    await waiting(world, 2, BEN)
    world.clock.advance(65.0)
    text = words(await world.type("tasks"))
    assert "Queued, position 2 · Ben" in text
    assert "Queued, position 1 · Anna" in text


async def test_status_names_ones_other_waiting_tasks(world: World) -> None:
    first, second = await waiting(world, 1), await waiting(world, 3)
    await waiting(world, 2, BEN)
    assert f"Also waiting: task {second.id} at position 3" in words(await world.type(f"status {first.id}"))
    assert "Also waiting" not in words(await world.type("status", BEN))


async def test_now_is_for_whoever_may_approve(world: World) -> None:
    task = await waiting(world, 2)
    assert "belongs to somebody else" in words(await world.type(f"now {task.id}", BEN))
    # This mind holds no place in the real queue: the right was there, the place was not.
    assert "is not waiting for a phone" in words(await world.type(f"now {task.id}", ADA))
    assert "is not waiting for a phone" in (await world.press(now_button(task.id).data)).toast


async def test_now_puts_the_task_first_in_the_real_queue(world: World) -> None:
    task = await waiting(world, 2)
    leases = world.task_service._leases
    holding = leases.acquire(RunId("404"), "")
    assert isinstance(await anext(holding), Lease)
    queue = leases.acquire(RunId(task.id), "")
    assert isinstance(await anext(queue), Place)
    assert "is now first in its queue" in words(await world.type(f"now {task.id}"))
    await queue.aclose()
    await holding.aclose()
