"""Connects to an MCP server at an address. Only the configured scheme, host and port are contacted, and the length of
answers is limited.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from bot.mcp_servers.configuration import ServerEntry

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
        response.stream = _Bounded(response.stream, MOST_STREAM if events else MOST_ANSWER)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._onward.aclose()


class _Bounded(httpx2.AsyncByteStream):
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
