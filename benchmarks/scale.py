"""Many phones, one service: what it takes of processor and memory, and how long its steps become."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median

import aiohttp
from yarl import URL

from benchmarks.figures import Figures, figures_in
from benchmarks.ground import TASK_S, Ground, ground
from benchmarks.journey import think
from benchmarks.processes import Process
from benchmarks.row import Row
from tests.fakes.model_server import ModelServer, Recorded

SIZES = (1, 4, 8, 16, 32)
CPU_MS = 60.0
MEMORY_MB = 600.0
IDLE_PHONES = 8
IDLE_SHARE = 2.0
IDLE_S = 30.0
CALM_S = 5.0
"""Seconds after the start in which phones are asked who they are: not idle yet."""
MODEL_S = 2.0
NO_SETTINGS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Point:
    """One size. Processor times are in seconds for all phones together, memory is the service's peak."""

    phones: int
    finished: int
    steps: int
    own_ms: float
    service: float
    adb: float
    phone_process: float
    megabytes: float

    @property
    def cpu_ms(self) -> float:
        """The service's own processor time for a step, in milliseconds."""
        return self.service / max(1, self.steps) * 1000

    def __str__(self) -> str:
        def each(seconds: float) -> str:
            return f"{seconds / max(1, self.steps) * 1000:>9.0f}"

        return (
            f"{self.phones:>7} {f'{self.finished}/{self.phones}':>9} {self.own_ms:>9.0f} {self.cpu_ms:>9.0f}"
            f" {self.megabytes:>9.0f} {each(self.adb)} {each(self.phone_process)}"
        )


HEADING = f"{'phones':>7} {'finished':>9} {'own ms':>9} {'cpu ms':>9} {'peak MB':>9} {'adb ms':>9} {'phone ms':>9}"


@dataclass(frozen=True)
class Service:
    """A running service and the way into it."""

    process: Process
    address: URL
    console: aiohttp.ClientSession

    async def do(self, device: str) -> bool:
        """A task on this phone, followed to its end; whether it succeeded."""
        order = {"text": "Look around on the phone", "phone": device, "quick": True}
        final: dict[str, object] = {}
        async with self.console.post("/api/v1/tasks", json=order) as answer:
            if answer.status != 201:
                raise RuntimeError(f"the task was not taken: {await answer.text()}")
            events = f"/api/v1/tasks/{(await answer.json())['id']}/events"
        lines, whole = {"Accept": "application/x-ndjson"}, aiohttp.ClientTimeout(total=TASK_S)
        async with self.console.get(events, headers=lines, timeout=whole) as answer:
            async for line in answer.content:
                final = json.loads(line)
        return final.get("type") == "final" and final.get("outcome") == "succeeded"


@asynccontextmanager
async def service_on(place: Ground, base_url: str, settings: Mapping[str, str] = NO_SETTINGS) -> AsyncIterator[Service]:
    """The service with these settings, from when it is ready until it has ended."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "run"),
        cwd=place.directory,
        env={**place.environment(base_url), **settings},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(TASK_S):
            while not (line := (await process.stdout.readline()).decode()).startswith("Console: "):
                if not line:
                    raise RuntimeError("the service did not start")
        address = URL(line.removeprefix("Console: ").strip())
        headers = {"Authorization": f"Bearer {address.query['token']}"}
        async with aiohttp.ClientSession(address.origin(), headers=headers) as console:
            await _ready(console, len(place.phones))
            yield Service(Process(process.pid), address.origin(), console)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _ready(console: aiohttp.ClientSession, count: int) -> None:
    """Returns once so many phones can be used; over HTTP there is nothing to wait on."""
    async with asyncio.timeout(TASK_S):
        while True:
            async with console.get("/api/state") as answer:
                devices = (await answer.json())["devices"]
            if sum(bool(device["usable"]) for device in devices) == count:
                return
            await asyncio.sleep(0.2)


async def point(count: int, model_seconds: float = MODEL_S) -> Point:
    """All phones work at once, each on a task of 20 steps."""
    async with (
        ground(count) as place,
        ModelServer(partial(think, model_seconds)) as model,
        service_on(place, model.base_url) as service,
    ):
        parts = (service.process, place.adb_server(), place.phone_process())
        before = [part.seconds for part in parts]
        done = await asyncio.gather(*(service.do(phone.address) for phone in place.phones))
        spent = [part.seconds - began for part, began in zip(parts, before, strict=True)]
        tasks = by_task(model.requests)
        gaps = [gap for task in tasks for gap in task.gaps]
        return Point(
            phones=count,
            finished=sum(done),
            steps=sum(task.steps for task in tasks),
            own_ms=median(gaps) * 1000,
            service=spent[0],
            adb=spent[1],
            phone_process=spent[2],
            megabytes=service.process.peak_megabytes,
        )


async def idle_share(count: int = IDLE_PHONES, seconds: float = IDLE_S) -> float:
    """Per cent of one core that the service takes with so many phones and nothing to do."""
    async with ground(count) as place, ModelServer() as model, service_on(place, model.base_url) as service:
        await asyncio.sleep(CALM_S)
        before = service.process.seconds
        await asyncio.sleep(seconds)
        return (service.process.seconds - before) / seconds * 100


def rows(points: list[Point], idle: float) -> list[Row]:
    """The targets."""
    worst = max(points, key=lambda each: each.cpu_ms)
    most = max(points, key=lambda each: each.phones)
    lost = sum(each.phones - each.finished for each in points)
    return [
        Row("tasks that did not finish", lost, 0, ""),
        Row(f"processor time of the service, of a step ({worst.phones} phones)", worst.cpu_ms, CPU_MS, "ms"),
        Row(f"memory of the service with {most.phones} phones (peak)", most.megabytes, MEMORY_MB, "MB"),
        Row(f"the service idle with {IDLE_PHONES} phones, of one core", idle, IDLE_SHARE, "%"),
    ]


def by_task(requests: list[Recorded]) -> list[Figures]:
    """The figures of each task in turn."""
    tasks: dict[str, list[Recorded]] = defaultdict(list)
    for request in requests:
        tasks[str(request.body.get("prompt_cache_key", ""))].append(request)
    found = [figures_in(each) for each in tasks.values()]
    return [each for each in found if each.steps]
