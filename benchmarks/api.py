"""How quick the HTTP API is beside a phone at work: reads at 50 a second, and the first event after a message."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import aiohttp

from benchmarks.ground import ground
from benchmarks.journey import think
from benchmarks.row import Row
from benchmarks.scale import service_on
from tests.fakes.model_server import ModelServer

READS = 1000
PER_SECOND = 50
MODEL_S = 1.0
READ_MS = 30.0
FIRST_EVENT_MS = 100.0
PATHS = ("/tasks", "/tasks/1", "/phones", "/quota", "/me")


async def measured(runs: int) -> list[Row]:
    """Reads at an even pace whatever the earlier ones take, then messages in conversations of their own."""
    async with (
        ground(1) as place,
        ModelServer(partial(think, MODEL_S)) as model,
        service_on(place, model.base_url) as service,
    ):
        wish = {"name": "bench", "rights": ["use"]}
        async with service.console.post("/api/tokens", json=wish) as answer:
            secret = (await answer.json())["secret"]
        headers = {"Authorization": f"Bearer {secret}"}
        async with aiohttp.ClientSession(service.address, headers=headers) as caller:
            async with caller.post("/api/v1/tasks", json={"text": "Look around", "quick": True}) as answer:
                answer.raise_for_status()
            firsts = [await _first_event(caller) for _ in range(max(runs, 3))]
            times = await _reads(caller)
    worst = times[int(len(times) * 0.99)]
    print(f"API reads: median {times[len(times) // 2]:.1f} ms, p99 {worst:.1f} ms; first events {firsts} ms.\n")
    return [
        Row(f"API, p99 of {READS} reads at {PER_SECOND} a second", worst, READ_MS, "ms"),
        Row("API, first event after the message (slowest)", max(firsts), FIRST_EVENT_MS, "ms"),
    ]


async def _reads(caller: aiohttp.ClientSession) -> list[float]:
    async def one(path: str, after: float) -> float:
        await asyncio.sleep(after)
        began = time.monotonic()
        async with caller.get(f"/api/v1{path}") as answer:
            await answer.read()
            answer.raise_for_status()
        return (time.monotonic() - began) * 1000

    return sorted(await asyncio.gather(*(one(PATHS[n % len(PATHS)], n / PER_SECOND) for n in range(READS))))


async def _first_event(caller: aiohttp.ClientSession) -> float:
    async with caller.post("/api/v1/conversations", json={}) as answer:
        conversation = (await answer.json())["id"]
    path = f"/api/v1/conversations/{conversation}"
    async with caller.get(f"{path}/events") as stream:
        await stream.content.readline()
        began = time.monotonic()
        async with caller.post(f"{path}/messages", json={"text": "Look around", "quick": True}) as answer:
            answer.raise_for_status()
        async for line in stream.content:
            if line.startswith(b"event: thinking_start"):
                return round((time.monotonic() - began) * 1000, 1)
    raise RuntimeError("the stream ended before its first event")
