"""Streams events from work in the background. A slow reader does not delay the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

E = TypeVar("E")


class _End:
    """Marks the end of the events."""


async def stream_events(work: Callable[[Callable[[E], None]], Awaitable[None]]) -> AsyncGenerator[E, None]:
    """Run `work(emit)` in the background and yield what it emits; its exception is raised at the end. Closing the
    generator cancels the work.
    """
    queue: asyncio.Queue[E | _End] = asyncio.Queue()

    async def run() -> None:
        try:
            await work(queue.put_nowait)
        finally:
            queue.put_nowait(_End())

    task = asyncio.create_task(run())
    try:
        while not isinstance(event := await queue.get(), _End):
            yield event
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
