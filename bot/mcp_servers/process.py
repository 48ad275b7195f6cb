"""Runs an MCP server as a child process that exchanges messages as lines on its standard input and output. Line length,
memory and time are limited.

The SDK's own function does not limit the length of a line or the process, and passes on more of the environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter

from bot.mcp_servers.configuration import ServerEntry
from bot.process_limits import MEBIBYTE, Limits, clean_environment, limited

LIMITS: Final = Limits(memory=512 * MEBIBYTE)
"""Twice the memory of a workshop job, which servers written for Node need."""
MOST_LINE: Final = 1024 * 1024
"""Bytes of one message."""
MOST_MESSAGES: Final = 500
WITHIN_S: Final = 5.0
"""Seconds within which a server may send at most MOST_MESSAGES messages; one that sends more is killed."""
GRACE_S: Final = 2.0
"""Seconds that it has to exit after its input was closed, and again after SIGTERM."""

Read = MemoryObjectReceiveStream[SessionMessage | Exception]
Write = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def process_streams(entry: ServerEntry, gone: asyncio.Event) -> AsyncGenerator[tuple[Read, Write]]:
    """Start the program of this entry and yield its message streams. At the end of the block, the program and
    everything that it has started are ended.

    `gone` is set once the program can send nothing more. Raises OSError or NoLimits if it cannot be started.
    """
    environment = clean_environment(entry.env)
    # The wrapper that sets the limits always starts, so a missing program would go unnoticed.
    command = str(Path(entry.cwd or "/", entry.command)) if os.sep in entry.command else entry.command
    if await asyncio.to_thread(shutil.which, command, path=environment.get("PATH")) is None:
        raise FileNotFoundError(entry.command)
    process = await asyncio.create_subprocess_exec(
        *limited((entry.command, *entry.args), LIMITS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=environment,
        cwd=entry.cwd or "/",
        limit=MOST_LINE,
        start_new_session=True,
    )
    to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    moving = (
        asyncio.create_task(_take(process, to_session, gone)),
        asyncio.create_task(_give(process, from_session)),
    )
    try:
        yield read, write
    finally:
        for task in moving:
            task.cancel()
        await asyncio.shield(asyncio.ensure_future(_end(process, moving)))
        for stream in (to_session, read, write, from_session):
            stream.close()


async def _take(
    process: asyncio.subprocess.Process, to: MemoryObjectSendStream[SessionMessage | Exception], gone: asyncio.Event
) -> None:
    """Pass on each line as a message and drop lines that are none. A server that sends too much is killed."""
    assert process.stdout is not None
    now = asyncio.get_running_loop().time
    since, counted = now(), 0
    try:
        async with to:
            while line := await process.stdout.readline():
                if now() - since > WITHIN_S:
                    since, counted = now(), 0
                counted += 1
                if counted > MOST_MESSAGES:
                    _signal(process, signal.SIGKILL)
                    return
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    continue
                await to.send(SessionMessage(message))
    except ValueError:
        _signal(process, signal.SIGKILL)  # the line has no end
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the session is over
    finally:
        gone.set()


async def _give(process: asyncio.subprocess.Process, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async for message in messages:
            process.stdin.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await process.stdin.drain()


async def _end(process: asyncio.subprocess.Process, moving: tuple[asyncio.Task[None], ...]) -> None:
    await asyncio.wait(moving)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    # Its exit is not noticed before its output ends, and a program that cannot write does not exit.
    draining = asyncio.create_task(_drain(process.stdout))
    waiting = asyncio.ensure_future(process.wait())
    for number in (0, signal.SIGTERM):
        if number:
            _signal(process, number)
        await asyncio.wait([waiting], timeout=GRACE_S)
        if waiting.done():
            break
    # Whatever it has left running as well.
    _signal(process, signal.SIGKILL)
    await waiting
    draining.cancel()
    await asyncio.wait([draining])


async def _drain(output: asyncio.StreamReader) -> None:
    while await output.read(MOST_LINE):
        pass


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
