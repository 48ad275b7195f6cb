"""An endpoint that answers with any bytes, as no library would."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from agent.models.endpoint import Api, EndpointSettings
from agent.models.openai_model import OpenAIModel
from tests.agent.models.endpoints import KEY, VirtualTime

Writes = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Endpoint:
    """Where it listens, and what it was sent: head and body of each request."""

    port: int
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@asynccontextmanager
async def endpoint(writes: Writes) -> AsyncIterator[Endpoint]:
    """Listens on loopback and answers every request by `writes`."""
    made = Endpoint(0)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), b":0")
            made.requests.append((head, await reader.readexactly(int(length.partition(b":")[2]))))
            await writes(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return  # the other side has had enough, which is what most of these tests are about
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()


def model_of(there: Endpoint, *, api: Api = "chat") -> OpenAIModel:
    """A client of it whose waits take no time."""
    settings = EndpointSettings(model="m", base_url=there.url, api_key=SecretStr(KEY), api=api, timeout=20.0)
    return OpenAIModel(settings, retry=VirtualTime().policy())


def head(kind: str = "application/json", *, status: str = "200 OK", length: int | None = None, **more: str) -> bytes:
    """The head of an answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
    lines += [] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def whole(body: bytes | Mapping[str, object], **more: str) -> Writes:
    """One answer with this body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head(length=len(data), **more) + data)

    return write


def streamed(*events: Mapping[str, object] | bytes) -> Writes:
    """Server-sent events and the end."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in events]

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head("text/event-stream"))
        for line in (*lines, b"[DONE]"):
            writer.write(b"data: " + line + b"\n\n")
            await writer.drain()

    return write


def without_end(piece: bytes, kind: str = "text/event-stream", *, status: str = "200 OK", first: bytes = b"") -> Writes:
    """The same piece again and again for as long as anybody listens."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head(kind, status=status) + first)
        while True:
            writer.write(piece)
            await writer.drain()

    return write


def said(text: str = "Here.", **more: object) -> dict[str, object]:
    """A chat completion."""
    return {"choices": [{"message": {"content": text, **more}, "finish_reason": "stop"}]}


def calls(number: int, arguments: str = "{}") -> list[dict[str, object]]:
    """Tool calls."""
    return [{"id": str(each), "function": {"name": "tap", "arguments": arguments}} for each in range(number)]
