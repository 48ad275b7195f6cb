"""Waiting for memory: a picture of a phone takes ten megabytes and more, which the computer may not have just now.

Everything else a step needs is small, so what waits is the look. Nothing has been done on it yet.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from agent.events import Told
from agent.graph.executor.context import RunContext
from agent.wording import sentence
from devices.errors import NoMemory

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 600.0
"""How long a run stands still because there is no memory for a picture; then it ends and says so."""
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 10.0
"""Seconds between two tries, doubled each time."""

Result = TypeVar("Result")


async def with_room(context: RunContext, attempt: Callable[[], Awaitable[Result]]) -> Result:
    """The result of the first attempt that finds memory; the card says what is waited for.

    Raises NoMemory after PATIENCE_S, and whatever else an attempt raises at once.
    """
    loop = asyncio.get_running_loop()
    until, pause, told = loop.time() + PATIENCE_S, FIRST_PAUSE_S, False
    while True:
        try:
            return await attempt()
        except (NoMemory, MemoryError):
            if loop.time() >= until:
                raise
        if not told:
            told = True
            logger.warning("There is no memory for a picture: the run waits for some.")
            context.emit(Told(text=sentence("told.no_memory")))
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE_S, pause * 2)
