"""Time, as the outbox sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clockwork:
    """`now` gives Unix seconds, `sleep` lets them pass."""

    now: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]

    async def rest(self, news: asyncio.Event, seconds: float | None) -> None:
        """Until there is news, at most so many seconds (None: however long it takes)."""
        if seconds is None:
            await news.wait()
            return
        waits = [asyncio.create_task(_heard(news)), asyncio.create_task(self._pass(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _pass(self, seconds: float) -> None:
        await self.sleep(max(0.0, seconds))


async def _heard(news: asyncio.Event) -> None:
    await news.wait()
