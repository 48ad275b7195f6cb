"""The stream of any task: whoever may see the task reads its log, from the beginning or behind what they know."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.events import ModelAway, Thinking
from agent.models.state import Cause
from agent.run import Outcome
from bot.domain.right import Right
from bot.store.frames import FrameFiles
from bot.store.sqlite.database import DATABASE_NAME
from bot.store.store import Store
from bot.tasks.workers import MOST_THOUGHTS
from tests.bot.tasks.bench import Clock
from tests.bot.tasks.test_event_log import Counted
from tests.bot.web.v1.world import ApiWorld, open_api
from tests.bot.world import ANNA, BEN, PRIVATE

pytestmark = pytest.mark.slow


async def test_a_task_that_was_given_in_a_chat_is_told_from_its_beginning_to_its_end(api: ApiWorld) -> None:
    secret = await api.token("ci", owner=ANNA)
    task = await api.world.working()
    async with asyncio.timeout(20), await api.stream_of(secret, f"/tasks/{task.id}") as stream:
        told = await stream.until("state")
        assert [name for _, name, _ in told] == ["thinking_start", "started", "state"]
        assert told[-1][2] == {"task": task.id, "state": "working"}
        api.world.agent.tell(task.id, Thinking(node="planner", text="First I"))
        number, name, piece = await stream.next() or (0, "", {})
        assert (number, name, piece["text"]) == (4, "thinking", "First I")
        api.world.task_service.model_away(task.id, ModelAway(cause=Cause.BROKEN, until=7.0))
        assert (await stream.next() or ())[1:] == (
            "model_away",
            {"task": task.id, "cause": "broken", "until": 7.0, "stand_in": ""},
        )
        await api.world.step(task, 1)
        number, name, step = await stream.next() or (0, "", {})
        assert (number, name, step["index"], step["phone"]) == (5, "process_step", 0, "Pixel")
        await api.world.end(task, Outcome.FAILED)
        told = await stream.until("done")
        assert [(number, name) for number, name, _ in told] == [(0, "error"), (0, "message"), (6, "done")]
        assert await stream.next() is None, "nothing comes after the end"
    # What was missed is told again behind the last number that came, also when the task is over.
    async with await api.stream_of(secret, f"/tasks/{task.id}", "3") as stream:
        told = await stream.until("done")
        assert [name for _, name, _ in told] == ["thinking", "process_step", "error", "message", "done"]
        assert told[0][2] == piece, "what was thought is told as it was"
    async with asyncio.timeout(5), await api.stream_of(secret, f"/tasks/{task.id}", "6") as stream:
        assert await stream.next() is None, "who knows the end waits for nothing"


async def test_who_comes_later_gets_as_much_of_the_thoughts_as_is_kept(api: ApiWorld) -> None:
    """Seen failing without the bound: a model that never stops fills the disk."""
    secret = await api.token("ci", owner=ANNA)
    task = await api.world.working()
    pieces = [f"{number:04}" * 1_000 for number in range(MOST_THOUGHTS // 4_000 + 2)]
    async with asyncio.timeout(20), await api.stream_of(secret, f"/tasks/{task.id}") as stream:
        await stream.until("state")
        for piece in pieces:
            api.world.agent.tell(task.id, Thinking(node="coder", reasoning=piece))
        live = [(await stream.until("thinking"))[-1] for _ in pieces]
    assert [data["reasoning"] for _, _, data in live] == pieces
    assert [number for number, _, _ in live[-2:]] == [0, 0], "what is not kept has no id"
    await api.world.end(task)
    async with asyncio.timeout(20), await api.stream_of(secret, f"/tasks/{task.id}") as stream:
        later = await stream.until("done")
    assert [data["reasoning"] for _, name, data in later if name == "thinking"] == pieces[:-2]


async def test_a_stream_is_only_for_who_may_see_the_task(api: ApiWorld) -> None:
    task = await api.world.do("open my diary", place=PRIVATE)
    for name, owner, status in (("anna", ANNA, 200), ("ben", BEN, 404)):
        secret = await api.token(name, owner=owner)
        path = f"/api/v1/tasks/{task.id}/events"
        headers = {"Authorization": f"Bearer {secret}"}
        async with api.session.get(api.url.with_path(path), headers=headers) as answer:
            assert answer.status == status


async def test_a_revoked_token_ends_the_stream_of_a_task(api: ApiWorld) -> None:
    secret = await api.token("ci", Right.ADMIN)
    task = await api.world.working()
    async with asyncio.timeout(10), await api.stream_of(secret, f"/tasks/{task.id}") as stream:
        await stream.until("state")
        await api.world.rights.revoke_token("ci", ANNA)
        assert await stream.next() is None


async def test_the_work_for_a_step_does_not_grow_with_the_run(tmp_path: Path) -> None:
    """Two streams are open; before there was a log, a step took 5, 14, 34 and 64 rows at step 1, 10, 30 and 60."""
    clock = Clock()
    database = await Counted.open(tmp_path / DATABASE_NAME)
    assert isinstance(database, Counted)
    store = Store(database, FrameFiles(tmp_path / "frames", clock), clock)
    async with open_api(tmp_path, kept=store) as api:
        secret = await api.token("ci", owner=ANNA)
        conversation = (await api.ask(secret, "POST", "/conversations", {})).body["id"]
        path = f"/conversations/{conversation}/messages"
        task = await api.world.task_service.known((await api.ask(secret, "POST", path, {"text": "look"})).body["task"])
        async with (
            asyncio.timeout(60),
            await api.stream(secret, conversation) as whole,
            await api.stream_of(secret, f"/tasks/{task.id}") as own,
        ):
            await whole.until("thinking_start")
            await own.until("thinking_start")
            for number in range(1, 61):
                database.reads.clear()
                await api.world.step(task, number)
                for stream in (whole, own):
                    told = (await stream.until("process_step"))[-1][2]
                    assert told["index"] == number - 1
                # The test itself looks at the task.
                others = [(sql, rows) for sql, rows in database.reads if "FROM tasks WHERE tasks.id =" not in sql]
                assert all("FROM task_events" in sql for sql, _ in others)
                assert len(others) <= 4, "two for each stream"
                assert sum(rows for _, rows in others) == 2
