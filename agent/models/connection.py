"""The HTTP connection to an endpoint: streamed POST requests that are repeated if that may help, without passing on the
same piece of an answer twice.
"""

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

from agent.models.base import Delta
from agent.models.call_failure import CallFailure, NoAnswer, call_failure_of
from agent.models.endpoint import MAX_ANSWER_BYTES, NO_KEY, EndpointSettings, TooMuch

logger = logging.getLogger(__name__)


Show = Callable[[Delta], None]


class ShownOnce:
    """Passes streamed pieces on to `on_delta`. If an attempt fails after its first piece, the pieces of later attempts
    are dropped.
    """

    def __init__(self, on_delta: Show | None) -> None:
        self._on_delta = on_delta
        self._shown = False

    def attempt(self) -> Show:
        """Return the function that must be called with the pieces of a new attempt."""
        on_delta = self._on_delta
        if on_delta is None or self._shown:
            return lambda _: None

        def show(delta: Delta) -> None:
            self._shown = True
            try:
                on_delta(delta)
            except ValueError as error:
                # A ValueError while an answer is read means an unreadable answer; this one is not the endpoint's.
                raise RuntimeError("The watcher of streamed pieces failed.") from error

        return show


class Reader(Protocol):
    """Assembles one answer from JSON values. If its methods raise ValueError, the answer is unreadable."""

    def feed(self, value: object) -> None:
        """Add the next JSON value."""

    def check(self) -> None:
        """Raise ValueError if the answer is incomplete."""


R = TypeVar("R", bound=Reader)

CONNECT_TIMEOUT = 10.0
"""Seconds that opening a connection may take; a working endpoint needs far less."""
CLEAN_UP_TIMEOUT = 5.0
"""Seconds that a request for deleting something may take, whose answer is not needed."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and when a failed request is repeated.

    There are at most `attempts`. The wait doubles from `first` to `longest` seconds and is randomly reduced by up to
    half. `sleep`, `clock` and `chance` can be replaced in tests.
    """

    attempts: int = 4
    first: float = 1.0
    longest: float = 20.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.SystemRandom().random

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Return how many seconds to wait after this attempt (counted from 1), at least `retry_after`, which the
        endpoint asked for.
        """
        back_off = min(self.longest, self.first * 2.0 ** (attempt - 1)) * (1 - self.chance() / 2)
        return max(back_off, retry_after or 0.0)


class Connection:
    """The HTTP connection to one endpoint. Cancelling a call closes its socket."""

    def __init__(self, settings: EndpointSettings, retry: RetryPolicy) -> None:
        self._key = settings.key
        self._host = settings.host
        self._retry = retry
        self._client = client_of(settings)

    async def exchange(
        self,
        path: str,
        payload: Mapping[str, object],
        new_reader: Callable[[], R],
        limit: float,
    ) -> R | CallFailure:
        """Send a POST request and read the answer: streamed JSON values, or a single one if the endpoint does not
        stream.

        Every attempt gets a new reader. Returns the reader of the complete answer, or the last failure. `limit` is in
        seconds: no wait begins that would end after it.
        """
        end = self._retry.clock() + limit
        attempt = 0
        while True:
            attempt += 1
            outcome = await self._attempt(path, payload, new_reader(), silence=limit / 2)
            if not isinstance(outcome, CallFailure) or not outcome.cause.passing or attempt >= self._retry.attempts:
                return outcome
            wait = self._retry.wait(attempt, outcome.retry_after)
            if self._retry.clock() + wait >= end:
                return outcome
            logger.info("%s: attempt %d failed (%s), again in %.1f s", self._host, attempt, outcome, wait)
            await self._retry.sleep(wait)

    async def get(self, path: str) -> object:
        """Fetch a JSON value with one GET request; None if there is none, for whatever reason."""
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                return (await self._client.get(path, cast_to=httpx2.Response)).json()
        except (APIError, httpx2.HTTPError, TimeoutError, ValueError, RecursionError) as error:
            logger.info("%s: nothing was read at %s (%s)", self._host, path, type(error).__name__)
            return None

    async def delete(self, path: str) -> None:
        """Send one DELETE request, ignoring whether it worked."""
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
            # Returned, not raised: an SDK error in the exception chain would contain the request with its key.
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


def client_of(settings: EndpointSettings) -> AsyncOpenAI:
    """Return a client for this endpoint that never retries, and raises TooMuch once an answer exceeds MAX_ANSWER_BYTES.

    It requests uncompressed answers and refuses others, because a few kilobytes could expand to gigabytes. It follows
    no redirects: pictures of the phone and people's words only go to the configured address. It uses aiohttp, because a
    streamed answer then takes two thirds of the processor time of httpx2 alone.
    """
    bounded = DefaultAioHttpClient(
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
        follow_redirects=False,
        verify=_authorities(),
    )
    return AsyncOpenAI(api_key=settings.key or NO_KEY, base_url=settings.url, max_retries=0, http_client=bounded)


@cache
def _authorities() -> ssl.SSLContext:
    """Return the trusted certificate authorities, shared by all endpoints because loading them takes 20 ms."""
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
