"""The one way to an endpoint: a streamed POST, tried again when that can help."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

import httpx2
from openai import APIError, AsyncOpenAI, AsyncStream, DefaultAioHttpClient

from agent.models.call_failure import CallFailure, NoAnswer, call_failure_of
from agent.models.endpoint import NO_KEY, EndpointSettings
from agent.models.limits import MAX_ANSWER_BYTES, TooMuch

logger = logging.getLogger(__name__)


class Reader(Protocol):
    """Puts one answer together; a ValueError from it means that the answer is unreadable."""

    def feed(self, value: object) -> None:
        """Take the next JSON value."""
        ...

    def check(self) -> None:
        """Raise ValueError when the answer is not complete."""
        ...


R = TypeVar("R", bound=Reader)

CONNECT_TIMEOUT = 10.0
"""Seconds to open a connection; an endpoint that is up takes far less."""
CLEAN_UP_TIMEOUT = 5.0
"""Seconds for a call whose answer nobody waits for."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently. The wait doubles from `first` to `longest` seconds, less up to half by chance."""

    attempts: int = 4
    first: float = 1.0
    longest: float = 20.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.SystemRandom().random

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Seconds to wait after this attempt (from 1); what the endpoint asks for wins when it is longer."""
        back_off = min(self.longest, self.first * 2.0 ** (attempt - 1)) * (1 - self.chance() / 2)
        return max(back_off, retry_after or 0.0)


class Connection:
    """HTTP to one endpoint. Cancelling a call closes its connection."""

    def __init__(self, settings: EndpointSettings, retry: RetryPolicy) -> None:
        self._key = settings.key
        self._host = settings.host
        self._retry = retry
        self._client = AsyncOpenAI(
            api_key=settings.key or NO_KEY, base_url=settings.url, max_retries=0, http_client=bounded_client()
        )

    async def exchange(
        self,
        path: str,
        payload: Mapping[str, object],
        new_reader: Callable[[], R],
        limit: float,
    ) -> R | CallFailure:
        """POST and read the answer: streamed JSON values, or a single one when the endpoint does not stream.

        Every attempt has a new reader; the one of the complete answer is returned, or else the last failure.
        `limit` is in seconds: no wait begins that would end after it.
        """
        end = self._retry.clock() + limit
        attempt = 0
        while True:
            attempt += 1
            outcome = await self._attempt(path, payload, new_reader(), silence=limit / 2)
            if not isinstance(outcome, CallFailure) or not outcome.transient or attempt >= self._retry.attempts:
                return outcome
            wait = self._retry.wait(attempt, outcome.retry_after)
            if self._retry.clock() + wait >= end:
                return outcome
            logger.info("%s: attempt %d failed (%s), again in %.1f s", self._host, attempt, outcome, wait)
            await self._retry.sleep(wait)

    async def get(self, path: str) -> object:
        """The JSON value there, asked for once; None when there is none, for whatever reason."""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return (await self._client.get(path, cast_to=httpx2.Response)).json()
        except (APIError, httpx2.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            logger.info("%s: nothing was read at %s (%s)", self._host, path, type(error).__name__)
            return None

    async def delete(self, path: str) -> None:
        """DELETE, at most once and without telling whether it worked."""
        try:
            async with asyncio.timeout(CLEAN_UP_TIMEOUT):
                await self._client.delete(path, cast_to=httpx2.Response)
        except (APIError, httpx2.HTTPError, TimeoutError) as error:
            logger.info("%s: %s was not deleted (%s)", self._host, path, type(error).__name__)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    async def _attempt(self, path: str, payload: Mapping[str, object], reader: R, silence: float) -> R | CallFailure:
        try:
            stream = await self._client.post(
                path,
                cast_to=object,
                body=payload,
                options={"timeout": httpx2.Timeout(silence, connect=CONNECT_TIMEOUT)},
                stream=True,
                stream_cls=AsyncStream[object],
            )
            async with stream:
                async for value in _values(stream):
                    reader.feed(value)
                reader.check()
                return reader
        except (APIError, httpx2.HTTPError, ValueError, RecursionError) as error:
            # Returned, not raised from here: an SDK error in the chain would carry the request with its key along.
            return call_failure_of(error, self._key)


async def _values(stream: AsyncStream[object]) -> AsyncIterator[object]:
    kind = stream.response.headers.get("content-type", "")
    if kind.startswith("application/json"):
        yield json.loads(await stream.response.aread())
        return
    if kind.startswith("text/html"):
        raise NoAnswer((await stream.response.aread()).decode(errors="replace"))
    async for value in stream:
        yield value


def bounded_client() -> httpx2.AsyncClient:
    """An HTTP client that stops reading an answer above MAX_ANSWER_BYTES with TooMuch.

    It asks for answers that are not compressed and refuses others: a few kilobytes could become gigabytes. Redirects
    are not followed: pictures of the phone and what people say go to the address that was set, and to no other.
    aiohttp carries it: a streamed answer takes two thirds of the processor time that it takes through httpx2 alone.
    """
    return DefaultAioHttpClient(
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
        follow_redirects=False,
        verify=_authorities(),
    )


@cache
def _authorities() -> ssl.SSLContext:
    """Whom a certificate may come from. One for all endpoints of the process: to read them takes 20 ms."""
    return httpx2.create_ssl_context()


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
