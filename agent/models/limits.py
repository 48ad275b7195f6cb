"""How much of an answer is read, and from where: an endpoint may be broken, or somebody else's by now."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
from openai import DefaultAioHttpClient

MAX_ANSWER_BYTES = 32 * 1024 * 1024
"""Of one answer on the wire: 100,000 streamed pieces of 300 bytes, more than any model says in one breath."""
MAX_LETTERS = 1_000_000
"""Of text, thoughts and calls of one answer together: 128,000 tokens have about half as many."""
MAX_CALLS = 64
"""Tool calls of one answer; real ones have up to five."""
MAX_TOKENS_REPORTED = 100_000_000
"""Tokens of one call; a higher number is a mistake, and is estimated instead."""


class TooMuch(ValueError):
    """An answer is larger than any real one."""


def bounded_client() -> httpx2.AsyncClient:
    """An HTTP client that stops reading an answer above MAX_ANSWER_BYTES with TooMuch.

    It asks for answers that are not compressed and refuses others: a few kilobytes could become gigabytes. Redirects
    are not followed: pictures of the phone and what people say go to the address that was set, and to no other.
    aiohttp carries it: a streamed answer takes two thirds of the processor time that it takes through httpx2 alone.
    """
    return DefaultAioHttpClient(
        headers={"Accept-Encoding": "identity"}, event_hooks={"response": [_bound]}, follow_redirects=False
    )


async def _bound(response: httpx2.Response) -> None:
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in {"", "identity"}:
        raise TooMuch("the answer is compressed, although that was not asked for")
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ANSWER_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise TooMuch(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
