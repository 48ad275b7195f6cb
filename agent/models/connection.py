"""The one way to an endpoint: a streamed POST, tried again when that can help."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import httpx2
from openai import APIError, AsyncOpenAI, AsyncStream

from agent.models.endpoint import NO_KEY, EndpointSettings
from agent.models.limits import bounded_client
from agent.models.trouble import ActionError, trouble_of

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
    ) -> R | ActionError:
        """POST and read the answer: streamed JSON values, or a single one when the endpoint does not stream.

        Every attempt has a new reader; the one of the complete answer is returned, or else the last trouble.
        `limit` is in seconds: no wait begins that would end after it.
        """
        end = self._retry.clock() + limit
        attempt = 0
        while True:
            attempt += 1
            outcome = await self._attempt(path, payload, new_reader(), silence=limit / 2)
            if not isinstance(outcome, ActionError) or not outcome.transient or attempt >= self._retry.attempts:
                return outcome
            wait = self._retry.wait(attempt, outcome.retry_after)
            if self._retry.clock() + wait >= end:
                return outcome
            logger.info("%s: attempt %d failed (%s), again in %.1f s", self._host, attempt, outcome, wait)
            await self._retry.sleep(wait)

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

    async def _attempt(self, path: str, payload: Mapping[str, object], reader: R, silence: float) -> R | ActionError:
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
            return trouble_of(error, self._key)


async def _values(stream: AsyncStream[object]) -> AsyncIterator[object]:
    if stream.response.headers.get("content-type", "").startswith("application/json"):
        yield json.loads(await stream.response.aread())
        return
    async for value in stream:
        yield value
