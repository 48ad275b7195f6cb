"""How much of the database a post takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agent.events import Step
from agent.run import RunId
from bot.logs.lines import ABOUT
from bot.store.database import Source, Statement, Transaction, Values
from bot.store.frames import FrameFiles
from bot.store.sqlite.database import DATABASE_NAME, SQLiteDatabase
from bot.store.store import Store
from tests.bot.tasks.bench import Clock
from tests.bot.web.test_stream import events_of
from tests.bot.web.v1.world import open_api

pytestmark = pytest.mark.slow

Result = TypeVar("Result")


class CountingDatabase(SQLiteDatabase):
    """Counts what a request asks of the database, without what runs do meanwhile."""

    reads = 0
    writes = 0

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Any]:
        CountingDatabase.reads += _is_for_the_request()
        return await super().fetch(statement, values, patience=patience)

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        CountingDatabase.reads += _is_for_the_request()
        return await super().read(work, patience=patience)

    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        CountingDatabase.writes += _is_for_the_request()
        return await super().write(work, patience=patience)


def _is_for_the_request() -> bool:
    return ABOUT.get() is None


@pytest.mark.parametrize("key", ["", "once"])
@pytest.mark.parametrize("talking", [False, True])
async def test_a_post_reads_and_writes_a_few_times(tmp_path: Path, key: str, talking: bool) -> None:
    clock = Clock()
    database = await CountingDatabase.open(tmp_path / DATABASE_NAME)
    store = Store(database, FrameFiles(tmp_path / "frames", clock), clock)
    async with open_api(tmp_path, kept=store) as api:
        secret = await api.token("program")
        body: dict[str, object] = {"text": "open settings"}
        if talking:
            body["conversation"] = (await api.ask(secret, "POST", "/conversations", {})).body["id"]
        await api.ask(secret, "GET", "/tasks")  # when the token was used last is kept now and then
        headers = {"Idempotency_Key": key} if key else {}
        CountingDatabase.reads = CountingDatabase.writes = 0
        answer = await api.ask(secret, "POST", "/tasks", body, **headers)
        assert answer.status == 201
        assert CountingDatabase.reads == (4 if talking else 2)
        assert CountingDatabase.writes == (3 if key else 1)


async def test_a_step_costs_a_page_two_reads_at_any_length(tmp_path: Path) -> None:
    """One of the logs and one of the task. Seen failing with all tasks, questions and cards looked up anew: five."""
    clock = Clock()
    database = await CountingDatabase.open(tmp_path / DATABASE_NAME)
    store = Store(database, FrameFiles(tmp_path / "frames", clock), clock)
    async with open_api(tmp_path, kept=store) as api:
        task = await api.world.working("open settings")
        headers = {"Authorization": f"Bearer {api.start}"}
        async with asyncio.timeout(60), api.session.get(api.url.with_path("/api/events"), headers=headers) as response:
            events = events_of(response)
            await anext(events)
            for number in range(1, 61):
                CountingDatabase.reads = 0
                done = Step(run=RunId(task.id), subtask=1, step=number, max_steps=60, summary=f"Tapped {number}")
                api.world.agent.tell(task.id, done)
                told: dict[str, Any] = {}
                while "card" not in told or f"Tapped {number}" not in told["card"]["body"]:
                    _, name, data = await anext(events)
                    told = next(iter(data.get("tasks", ())), {}) if name == "state" else told
                if number in {1, 10, 30, 60}:
                    assert CountingDatabase.reads <= 2, number
