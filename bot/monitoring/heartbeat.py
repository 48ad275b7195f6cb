"""The service's heartbeat: detects whether the event loop and the task service are running, and how late the
loop is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from bot.monitoring.systemd import ServiceManager

logger = logging.getLogger(__name__)

BEAT_S: Final = 1.0
"""Seconds between two beats; a watchdog gets at least four beats in its time limit."""
STATUS_EVERY: Final = 5
"""Beats between two status lines."""
DESK_STILL_S: Final = 30.0
"""Seconds without a round of the task service after which it counts as stuck: on a disk, a lock or a fault. It normally
makes one every five seconds.
"""


class Turning(Protocol):
    """The part of the task service that the heartbeat needs."""

    def still_for(self) -> float:
        """Return the seconds since the task service's last round of background work."""
        ...


class Pulse:
    """Reports to the service manager, while `beating` is open, that the service is alive. It runs in the event loop, so
    it falls silent if the loop hangs.
    """

    def __init__(self, task_service: Turning, manager: ServiceManager, status: Callable[[], Awaitable[str]]) -> None:
        self._task_service = task_service
        self._manager = manager
        self._status = status
        self.lag = 0.0
        """Seconds by which the last beat came late."""

    @property
    def healthy(self) -> bool:
        """Whether the task service is running. The event loop is not checked: this property can only be read while it
        runs.
        """
        return self._task_service.still_for() < DESK_STILL_S

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Send beats until the block ends."""
        task = asyncio.create_task(self._run(), name="pulse")
        try:
            yield
        finally:
            task.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        every = min(BEAT_S, self._manager.watchdog / 4) if self._manager.watchdog else BEAT_S
        beats, complained = 0, False
        while True:
            if self.healthy:
                self._manager.alive()
                complained = False
            elif not complained:
                complained = True
                logger.error(
                    "The task service has been stuck for %.0f s, so the watchdog gets no signal.", DESK_STILL_S
                )
            if self._manager.listens and beats % STATUS_EVERY == 0:
                await self._tell_status()
            beats += 1
            due = loop.time() + every
            await asyncio.sleep(every)
            self.lag = max(0.0, loop.time() - due)

    async def _tell_status(self) -> None:
        try:
            async with asyncio.timeout(BEAT_S):
                self._manager.status(await self._status())
        except (OSError, TimeoutError) as error:
            logger.warning("The status could not be reported: %s", str(error) or "the store did not answer in time")
