"""The two ways to an MCP server: an address, of which only the configured scheme, host and port are contacted, or a
child process that exchanges messages as lines, within limits.

The SDK's own function does not limit the length of a line or the process, and passes on more of the environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import jsonrpc_message_adapter

from bot.mcp_servers.configuration import ServerEntry
from bot.process_limits import MEBIBYTE, Limits, limited
from devices.processes import child_environment

MOST_ANSWER: Final = 4 * 1024 * 1024
MOST_STREAM: Final = 16 * 1024 * 1024
"""Bytes of one event stream; the client opens another when needed."""
CONNECT_S: Final = 10.0
READ_S: Final = 90.0
"""Seconds without a byte."""


@asynccontextmanager
async def http_streams(entry: ServerEntry) -> AsyncGenerator[Any]:
    """Open the message streams to the server at this entry's address. Proxies from the environment and redirects to
    other hosts are not used.
    """
    headers = {**entry.headers, "Accept-Encoding": "identity"}
    timeout = httpx2.Timeout(CONNECT_S, read=READ_S)
    async with (
        httpx2.AsyncClient(
            transport=OneHost(entry.url, httpx2.AsyncHTTPTransport(retries=0, trust_env=False)),
            headers=headers,
            timeout=timeout,
            trust_env=False,
        ) as client,
        streamable_http_client(entry.url, http_client=client) as streams,
    ):
        yield streams


class OneHost(httpx2.AsyncBaseTransport):
    """An HTTP transport that sends requests only to one scheme, host and port, and limits the length of answers."""

    def __init__(self, url: str, onward: httpx2.AsyncBaseTransport) -> None:
        self._to = _origin(httpx2.URL(url))
        self._onward = onward

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return the response. Raises httpx2.ConnectError for another host, and DecodingError for a
        compressed answer, whose size could not be limited.
        """
        if _origin(request.url) != self._to:
            raise httpx2.ConnectError("not the host that was configured", request=request)
        response = await self._onward.handle_async_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.DecodingError("packed, which nobody asked for", request=request)
        events = response.headers.get("Content-Type", "").startswith("text/event-stream")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _LimitedStream(response.stream, MOST_STREAM if events else MOST_ANSWER)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._onward.aclose()


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise httpx2.ReadError("the answer is too long")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


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
    environment = child_environment(more=entry.env)
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
