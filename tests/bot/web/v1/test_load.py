"""Many at once: readers who take nothing, streams that are open at Stop, and how long reads take."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.events import Started
from agent.run import RunId
from bot.domain.task import TaskState
from bot.domain.task_events import StepDone
from bot.store.database import Transaction
from bot.web.connections import Connections
from tests.bot.web.v1.world import API, ApiWorld, Stream, open_api
from tests.fixtures.own_time import own_time

pytestmark = pytest.mark.slow


@asynccontextmanager
async def readers(api: ApiWorld, secret: str, conversation: str, number: int) -> AsyncIterator[list[Stream]]:
    streams = [await api.stream(secret, conversation) for _ in range(number)]
    try:
        yield streams
    finally:
        for one in streams:
            one.close()


async def test_readers_who_take_nothing_hold_up_nobody_and_are_let_go(tmp_path: Path) -> None:
    """Seen failing without the time limit of a write: all stayed."""
    async with open_api(tmp_path, Connections(most=200)) as api:
        secret = await api.token("ci")
        conversation = (await api.ask(secret, "POST", "/conversations", {})).body["id"]
        path = f"/conversations/{conversation}/messages"
        task = await api.world.task_service.known((await api.ask(secret, "POST", path, {"text": "look"})).body["task"])
        long = StepDone(run=RunId(task.id), subtask=1, step=1, max_steps=60, summary="x" * 50_000)

        async def add(transaction: Transaction) -> None:
            for _ in range(15):
                await api.world.store.task_events.append(transaction, task, long)

        await api.world.store.write(add)
        assert api.url.port is not None
        links = []
        for _ in range(100):
            plain = socket.socket()
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            plain.setblocking(False)
            await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", api.url.port))
            reader, writer = await asyncio.open_connection(sock=plain, limit=1024)
            writer.write(
                f"GET {API}/conversations/{conversation}/events HTTP/1.1\r\nHost: {api.url.authority}\r\n"
                f"Authorization: Bearer {secret}\r\n\r\n".encode()
            )
            links.append((reader, writer))
        async with readers(api, secret, conversation, 1) as (quick,):
            began = time.monotonic()
            numbers = [number for number, _, _ in [await quick.next() or (0, "", {}) for _ in range(16)]]
            assert numbers == list(range(1, 17))
            assert time.monotonic() - began < 15
            assert (await api.ask(secret, "GET", "/me")).status == 200
        async with asyncio.timeout(25):
            while api.following.readers(conversation):
                await asyncio.sleep(0.1)
        for _, writer in links:
            writer.close()


async def test_streams_that_are_open_do_not_hold_up_the_stop(tmp_path: Path) -> None:
    """200 tasks queued and 50 streams open: a task at work is stopped within a second, and so is the console."""
    stack = contextlib.AsyncExitStack()
    api = await stack.enter_async_context(open_api(tmp_path))
    secret = await api.token("ci")
    conversation = (await api.ask(secret, "POST", "/conversations", {})).body["id"]
    path = f"/conversations/{conversation}/messages"
    task = await api.world.task_service.known((await api.ask(secret, "POST", path, {"text": "look"})).body["task"])
    api.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
    await api.world.until(task, TaskState.WORKING)
    for number in range(199):  # with the one at work as many as are taken
        await api.world.do(f"task {number}")
    streams = [await api.stream(secret, conversation) for _ in range(50)]
    began = own_time()
    assert (await api.ask(secret, "POST", f"/tasks/{task.id}/cancel")).body["state"] == "ended"
    for one in streams:
        await one.until("done")
    cancelled = own_time() - began
    began = own_time()
    await api.console.stop()
    took = own_time() - began
    for one in streams:
        one.close()
    await stack.aclose()
    assert cancelled < 1.0, cancelled
    assert took < 1.0, took
