"""Waiting until the disk has room again, or another program lets go of a database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from bot.store.errors import StoreAway

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 600.0
"""How long work on a phone stands still because nothing can be kept; then it ends, and that is told when it can be."""
FIRST_PAUSE_S: Final = 0.2
LONGEST_PAUSE_S: Final = 5.0
"""Seconds between two tries, doubled each time."""

Result = TypeVar("Result")


class Writable:
    """Whether a file can be written to. A change is one line in the log, however many tries there are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.trouble = ""
        """Why nothing can be written now, in the words of the system; "" while it can, or nobody has tried."""

    def failed(self, reason: str) -> None:
        """Nothing could be written."""
        if not self.trouble:
            logger.error("Nothing can be written to %s (%s). What has to be kept waits.", self._path, reason)
        self.trouble = reason

    def worked(self) -> None:
        """Something was written."""
        if self.trouble:
            logger.info("%s can be written to again.", self._path)
        self.trouble = ""


async def patiently(attempt: Callable[[], Awaitable[Result]], *, seconds: float) -> Result:
    """The result of the first attempt that does not raise StoreAway; the last one's error after so many seconds."""
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + seconds, FIRST_PAUSE_S
    while True:
        try:
            return await attempt()
        except StoreAway:
            if loop.time() >= until:
                raise
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE_S, pause * 2)
