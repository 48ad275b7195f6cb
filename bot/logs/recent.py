"""The latest lines of the log, kept in memory for `opengui logs`; as they were written, so without secrets."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator
from typing import Final

KEPT: Final = 1_000
"""Lines that are kept, and that a follower may lag behind before it misses some."""


class RecentLines(logging.Handler):
    """A handler that keeps the last lines. Any thread may write to it; `follow` belongs to one event loop."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[str] = deque(maxlen=KEPT)
        self._written = 0
        self._guard = threading.Lock()
        self._followers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line, and wake who follows. What cannot be written is told by the handler that prints."""
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001 - whatever the values of a record raise
            return
        with self._guard:
            self._lines.append(line)
            self._written += 1
            followers = tuple(self._followers)
        for loop, news in followers:
            loop.call_soon_threadsafe(news.set)

    async def follow(self, last: int, *, on: bool) -> AsyncGenerator[str]:
        """The `last` lines so far; with `on` those to come as well, without an end. Who is too slow misses some."""
        news = asyncio.Event()
        follower = asyncio.get_running_loop(), news
        with self._guard:
            self._followers.add(follower)
            told = max(0, self._written - last)
        try:
            while True:
                news.clear()
                with self._guard:
                    missing = min(self._written - told, len(self._lines))
                    lines = list(self._lines)[len(self._lines) - missing :] if missing else []
                    told = self._written
                for line in lines:
                    yield line
                if not on:
                    return
                await news.wait()
        finally:
            with self._guard:
                self._followers.discard(follower)


RECENT: Final = RecentLines()
"""Those of this process."""
