"""How long Stop takes while many tasks wait and many pages of the console are open."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import aiohttp

from benchmarks.ground import TASK_S, ground
from benchmarks.journey import think
from benchmarks.row import Row
from benchmarks.scale import Service, service_on
from tests.fakes.model_server import ModelServer

TASKS = 200
PAGES = 50
MODEL_S = 1.0
STOP_S = 1.0


async def measured(runs: int, tasks: int = TASKS, pages: int = PAGES) -> list[Row]:
    """One phone works, the other tasks wait for it; the task at work is stopped, and then the next one."""
    async with (
        ground(1) as place,
        ModelServer(partial(think, MODEL_S)) as model,
        service_on(place, model.base_url) as service,
        _watching(service, pages),
    ):
        for _ in range(tasks):
            await _queue(service)
        times = [await _stop(service) for _ in range(runs)]
    print(f"Stop with {tasks} tasks and {pages} pages, in seconds: {', '.join(f'{each:.2f}' for each in times)}.\n")
    return [Row(f"Stop, {tasks - 1} tasks queued and {pages} pages open (slowest of {runs})", max(times), STOP_S, "s")]


@asynccontextmanager
async def _watching(service: Service, pages: int) -> AsyncIterator[None]:
    """So many pages that read whatever comes."""

    async def page() -> None:
        headers = service.console.headers
        for_ever = aiohttp.ClientTimeout(total=None)
        async with (
            aiohttp.ClientSession(service.address, headers=headers) as own,
            own.get("/api/events", timeout=for_ever) as events,
        ):
            async for _ in events.content.iter_any():
                pass

    reading = [asyncio.create_task(page()) for _ in range(pages)]
    try:
        yield
    finally:
        for each in reading:
            each.cancel()
        await asyncio.gather(*reading, return_exceptions=True)


async def _queue(service: Service) -> None:
    order = {"quick": True, "text": "Look around on the phone"}
    async with service.console.post("/api/v1/tasks", json=order) as answer:
        if answer.status != 201:
            raise RuntimeError(f"the task was not taken: {await answer.text()}")


async def _stop(service: Service) -> float:
    """Seconds from the press to its answer, which comes when the task has ended."""
    task = await _working(service)
    press = {"data": f"1:stop:{task}", "message": "1", "event": f"bench-stop-{task}"}
    began = time.monotonic()
    async with service.console.post("/api/console/presses", json=press) as answer:
        if answer.status != 200:
            raise RuntimeError(f"the task was not stopped: {await answer.text()}")
    return time.monotonic() - began


async def _working(service: Service) -> str:
    """The task that has taken a step or two; over HTTP there is nothing to wait on."""
    async with asyncio.timeout(TASK_S):
        while True:
            async with service.console.get("/api/state") as answer:
                state = await answer.json()
            for work in state["work"]:
                if work["holds"] and work["steps"] >= 1:
                    return str(work["task"])
            await asyncio.sleep(0.2)
