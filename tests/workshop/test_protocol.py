"""The socket, with an enemy at one end of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.ports.workshop import Job, WorkFile, WorkshopError
from bot.workshop.client import SocketWorkshop
from bot.workshop.protocol import Answer, RunRequest, request_of
from bot.workshop.room import Room
from bot.workshop.server import Server, bound

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def framed(head: object, after: bytes = b"") -> bytes:
    data = json.dumps(head).encode()
    return len(data).to_bytes(4, "big") + data + after


ANSWERS = {
    "nothing": b"",
    "noise": os.urandom(5000),
    "a head of 4 GB": b"\xff\xff\xff\xff" + b"{" * 100_000,
    "no JSON": b"\x00\x00\x00\x04nope",
    "a file outside": framed({"files": [{"path": "../x", "size": 1}]}, b"x"),
    "an absolute file": framed({"files": [{"path": "/etc/passwd", "size": 1}]}, b"x"),
    "a file of 1 GB": framed({"files": [{"path": "x", "size": 10**9}]}),
    "files of 1 GB": framed({"files": [{"path": f"x{i}", "size": 8_000_000} for i in range(150)]}),
    "two of one name": framed({"files": [{"path": "x", "size": 1}] * 2}, b"xx"),
    "a file that ends": framed({"files": [{"path": "x", "size": 100}]}, b"x"),
    "an unknown end": framed({"ending": "well"}),
    "too much output": framed({"output": "x" * 200_000}),
    "more": framed({"more": True}),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_workshop_that_lies_harms_nobody(name: str, tmp_path: Path) -> None:
    """Seen failing without `fit_path`: the file outside is handed on as if it were one of the folder."""

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWERS[name])
        writer.close()

    server = await asyncio.start_unix_server(serve, tmp_path / "socket")
    async with server:
        with pytest.raises(WorkshopError, match="no answer that can be used"):
            await SocketWorkshop(tmp_path / "socket").run(Job("shell", "true"))


async def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(WorkshopError, match="does not answer"):
        await SocketWorkshop(tmp_path / "socket").run(Job("shell", "true"))


def test_a_job_that_is_too_large_is_not_sent() -> None:
    with pytest.raises(Exception, match="larger"):
        request_of(Job("shell", "true", (WorkFile("x", bytes(9 * 1024 * 1024)),)))
    with pytest.raises(Exception, match="larger"):
        request_of(Job("shell", "true", (WorkFile("../x", b""),)))


@asynccontextmanager
async def served(path: Path, uid: int) -> AsyncIterator[None]:
    async with Server(Room("/nowhere/bwrap", proc=True), uid).listening(bound(path)):
        yield


async def spoken(path: Path, said: bytes) -> bytes:
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        writer.write(said)
        writer.write_eof()
        return await asyncio.wait_for(reader.read(), 10)
    except ConnectionError:
        return b""
    finally:
        writer.close()


@pytest.mark.slow
async def test_a_client_that_lies_is_sent_away_and_the_next_is_heard(tmp_path: Path) -> None:
    good = {"program": "shell", "code": "true", "seconds": 1, "files": []}
    lies = [*ANSWERS.values(), framed(good | {"seconds": 10**6}), framed(good | {"program": "perl"})]
    async with served(tmp_path / "socket", os.geteuid()):
        for lie in lies:
            assert await spoken(tmp_path / "socket", lie) == b""
        with pytest.raises(WorkshopError, match="can make no room"):
            await SocketWorkshop(tmp_path / "socket").run(Job("shell", "true"))


async def test_another_user_is_sent_away(tmp_path: Path) -> None:
    """Seen failing without the question for the peer's id: it is told that no room can be made."""
    async with served(tmp_path / "socket", os.geteuid() + 1):
        with pytest.raises(WorkshopError, match="no answer that can be used"):
            await SocketWorkshop(tmp_path / "socket").run(Job("shell", "true"))


def test_the_messages_are_closed_and_frozen() -> None:
    for kind in (RunRequest, Answer):
        assert kind.model_config["frozen"]
        assert kind.model_config["extra"] == "forbid"


async def test_whoever_waits_is_let_go_at_the_end(tmp_path: Path) -> None:
    """Seen failing without the wait for connections: they outlived the server, and were told as errors."""
    path = tmp_path / "workshop"
    listener = await asyncio.to_thread(bound, path)
    async with Server(Room("bwrap", proc=True), os.getuid()).listening(listener):
        waiting, still = await asyncio.open_unix_connection(path)
        answered, nonsense = await asyncio.open_unix_connection(path)
        nonsense.write(ANSWERS["no JSON"])
        assert await answered.read() == b"", "both are served by now"
    async with asyncio.timeout(5):
        assert await waiting.read() == b""
    still.close()
    nonsense.close()
