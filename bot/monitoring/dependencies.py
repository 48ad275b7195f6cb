"""Finds out what the service is waiting for at the moment: a disk, a model, a chat platform, an adb server, a phone."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from bot.texts import words

logger = logging.getLogger(__name__)

LOOK_S: Final = 2.0
"""Seconds between two checks."""
PATIENCE_S: Final = 5.0
"""Seconds that one check may take."""

Listener = Callable[[str], Awaitable[None]]
"""Called with the name of the dependency that the service begins or stops waiting for."""
Source = Callable[[], Awaitable[str]]
"""Returns one sentence that says what is being waited for, "" if nothing is. It contains no person, secret or
address.
"""


@dataclass(frozen=True, slots=True)
class Wait:
    """One thing that the service is waiting for: its name, the reason as a sentence, and since when in Unix seconds."""

    what: str
    why: str
    since: float


class Dependencies:
    """Checks repeatedly which of its dependencies the service is waiting for. Each change is logged in one line."""

    def __init__(self, sources: Mapping[str, Source], *, clock: Callable[[], float] = time.time) -> None:
        self._sources = dict(sources)
        self._clock = clock
        self._now: dict[str, Wait] = {}
        self._seen: dict[str, float] = {}
        self._listeners: list[Listener] = []
        self.came_back: Counter[str] = Counter()
        """How often each dependency became available again after it had been waited for."""

    def now(self) -> tuple[Wait, ...]:
        """Return what the service was waiting for at the last check, the longest wait first."""
        return tuple(sorted(self._now.values(), key=lambda wait: wait.since))

    def add(self, sources: Mapping[str, Source]) -> None:
        """Check these sources as well from now on, by the name of their dependency."""
        self._sources |= sources

    def drop(self, what: str) -> None:
        """Stop checking the source with this name, because it is no longer used."""
        self._sources.pop(what, None)
        self._now.pop(what, None)
        self._seen.pop(what, None)

    def on_change(self, listener: Listener) -> None:
        """Call `listener` after each change; it must be quick."""
        self._listeners.append(listener)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of everything that can be waited for."""
        return tuple(self._sources)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Check every source each LOOK_S seconds, until the block ends."""
        looking = asyncio.create_task(self._run(), name="waits")
        try:
            yield
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def look(self) -> None:
        """Check every source once, and call the listeners about each change."""
        for what, source in list(self._sources.items()):
            try:
                async with asyncio.timeout(PATIENCE_S):
                    why = await source()
            except (OSError, TimeoutError):
                why = words("waits.silent")
            if self._take(what, why):
                for listener in self._listeners:
                    await listener(what)

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:
                logger.exception("The check of the service's dependencies failed and will be repeated")
            await asyncio.sleep(LOOK_S)

    def _take(self, what: str, why: str) -> bool:
        """Record the result of a check. Returns whether the service begins or stops waiting for this dependency."""
        waited = what in self._now
        if not why:
            self._seen.pop(what, None)
            if self._now.pop(what, None) is not None:
                self.came_back[what] += 1
                logger.info("The service waits no more for %s.", what)
        elif (since := self._seen.get(what)) is None:
            self._seen[what] = self._clock()
        else:
            if not waited:
                logger.warning("The service waits for %s: %s", what, why)
            self._now[what] = Wait(what, why, since)
        return waited != (what in self._now)
