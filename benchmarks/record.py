"""What the record takes of a step, a post, a page of tasks and a search: in SQLite and in PostgreSQL, in turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from agent.events import Step
from agent.ports.journal import ActionKey
from agent.run import RunId
from benchmarks.overhead import step_seconds
from benchmarks.row import Row
from bot.domain.address import Address, Person
from bot.domain.task_request import Origin, TaskRequest
from bot.store.database import Transaction
from bot.store.search import TaskFilter
from bot.store.store import Store
from bot.tasks.repository import ServiceLimits, TaskRepository
from tests.fixtures.postgresql import PostgresServer, run_on

TASKS: Final = 5000
PAGE: Final = 200
TIMES: Final = 40
"""How often each is done in one turn."""
MORE_MS: Final = 3.0
"""What a step may take more with PostgreSQL."""
ANNA: Final = Person("web", "1", "Anna")
HERE: Final = Address("web", "console", "main")


class Record:
    """A record with TASKS tasks, and with a run that has a phone."""

    def __init__(self, directory: Path, url: str, store: Store) -> None:
        self._directory = directory
        self._url = url
        self._store = store
        self._tasks = TaskRepository(store, time.time, ServiceLimits())
        self._run = RunId("1")
        self._number = 0
        self._drawn = 0

    async def fill(self) -> None:
        """Put in what is searched."""

        async def work(transaction: Transaction) -> None:
            for number in range(TASKS):
                text = f"open the settings and look at page {number}" if number % 2 else f"打开设置看第{number}页"
                await self._store.tasks.add(transaction, self._wish(text), now=time.time())

        await self._store.write(work)
        await self._store.leases.take(self._run, "phone", alive=(), now=time.time(), expires=9e9)

    async def post(self) -> None:
        """A task is given."""
        await self._tasks.accept(self._wish("water the plants"))

    async def step(self) -> None:
        """What a step writes beside its checkpoints: an input before and after it is sent, and the step."""
        self._number += 1
        key = ActionKey(self._run, 0, self._number, 0)
        await self._store.journal.begin(key, {"kind": "tap", "x": 1, "y": 2}, fence=1)
        await self._store.journal.finish(key, "done", "")
        step = Step(run=self._run, subtask=0, step=self._number, max_steps=9999, summary="Tapped")
        await self._tasks.apply_event("1", step)

    async def checkpoints(self) -> float:
        """Seconds of a step of the graphs with their checkpoints."""
        self._drawn += 1
        return await step_seconds(self._directory, self._drawn, self._url)

    async def page(self) -> None:
        """A page of tasks."""
        assert len(await self._store.search.find(TaskFilter(), PAGE)) == PAGE

    async def english(self) -> None:
        """Words that a task in the middle has."""
        assert await self._store.search.find(TaskFilter(text=f"settings {TASKS // 2 + 1}"), PAGE)

    async def chinese(self) -> None:
        """The same in Chinese."""
        assert await self._store.search.find(TaskFilter(text=f"设置 {TASKS // 2}"), PAGE)

    def _wish(self, text: str) -> TaskRequest:
        self._number += 1
        return TaskRequest(text, ANNA, Origin(HERE, str(self._number)))


async def measured(runs: int) -> list[Row]:
    """Both are made ready, and then do the same in turns, so that what else the machine does meets both."""
    server = await asyncio.to_thread(PostgresServer)
    try:
        await asyncio.to_thread(run_on, server.url, "CREATE DATABASE record")
        async with AsyncExitStack() as stack:
            records = []
            for url in ("", f"{server.url}/record"):
                folder = Path(stack.enter_context(TemporaryDirectory()))
                store = await Store.open(folder, url=url, owns=True)
                stack.push_async_callback(store.close)
                records.append(Record(folder, url, store))
                await records[-1].fill()
            return await _in_turns(records, runs)
    finally:
        await asyncio.to_thread(server.remove)


async def _in_turns(records: list[Record], runs: int) -> list[Row]:
    parts: dict[str, Callable[[Record], Awaitable[None]]] = {
        "step, what is kept of it": Record.step,
        "post": Record.post,
        f"page of {PAGE} tasks": Record.page,
        "search in English": Record.english,
        "search in Chinese": Record.chinese,
    }
    print(f"The record with {TASKS:,} tasks, in ms (median of {runs * TIMES}): SQLite, PostgreSQL, and their ratio.")
    step_ms = [0.0, 0.0]
    for name, part in parts.items():
        found = [median(each) for each in await _times(records, part, runs)]
        if part is Record.step:
            step_ms = found
        print(f"  {name:<28} {found[0]:>8.2f} {found[1]:>8.2f} {found[1] / found[0]:>6.2f}", flush=True)
    graphs = [[await record.checkpoints() * 1000 for record in records] for _ in range(runs)]
    own = [median(each) for each in zip(*graphs, strict=True)]
    print(f"  {'step, graphs and checkpoints':<28} {own[0]:>8.2f} {own[1]:>8.2f} {own[1] / own[0]:>6.2f}\n")
    more = own[1] + step_ms[1] - own[0] - step_ms[0]
    return [Row("a step with its record in PostgreSQL, more than in SQLite", more, MORE_MS, "ms")]


async def _times(
    records: list[Record], part: Callable[[Record], Awaitable[None]], runs: int
) -> tuple[list[float], ...]:
    """Milliseconds of each time, by record."""
    times: tuple[list[float], ...] = tuple([] for _ in records)
    for _ in range(runs):
        for record, of_record in zip(records, times, strict=True):
            for _ in range(TIMES):
                began = time.perf_counter()
                await part(record)
                of_record.append((time.perf_counter() - began) * 1000)
    return times
