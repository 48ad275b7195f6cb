"""The service's heartbeat: detects whether the event loop and the task service are running, and reports the service's
state to systemd by its notify protocol (sd_notify(3)).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from bot.monitoring.dependencies import Dependencies
from bot.store.tasks import Tasks
from devices.phone import Phones

logger = logging.getLogger(__name__)


class ServiceManager:
    """Sends messages to the service manager, one datagram each. If none is listening, every call does nothing.

    `address` is $NOTIFY_SOCKET: a path, or a name in the abstract namespace that begins with "@". `watchdog` is the
    seconds after which the manager expects the next sign of life; None if it expects none.
    """

    def __init__(self, address: str = "", watchdog: float | None = None) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self.watchdog = watchdog if address else None
        self._status = ""
        self._failed = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> ServiceManager:
        """Return the service manager that the environment variables name. A watchdog that is meant for another process
        is ignored.
        """
        address = environment.get("NOTIFY_SOCKET", "")
        if address and address[0] not in "/@":
            logger.warning(
                "NOTIFY_SOCKET is neither a path nor an abstract name, so the service manager gets no messages."
            )
            address = ""
        limit, process = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
        meant = not process or process == str(os.getpid())
        usable = meant and limit.isascii() and limit.isdigit() and int(limit) > 0
        return cls(address, int(limit) / 1e6 if usable else None)

    @property
    def listens(self) -> bool:
        """Whether there is a service manager that gets the messages."""
        return bool(self._address)

    def ready(self) -> None:
        """Report that the service has started completely."""
        self._tell("READY=1")

    def alive(self) -> None:
        """Report that the service is alive, for the watchdog."""
        self._tell("WATCHDOG=1")

    def stopping(self) -> None:
        """Report that the service is stopping."""
        self._tell("STOPPING=1")

    def status(self, line: str) -> None:
        """Set the line that `systemctl status` shows. An unchanged line is not sent again."""
        if line != self._status:
            self._status = line
            self._tell(f"STATUS={' '.join(line.split())}")

    def _tell(self, message: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                # A manager that does not read must not hold up the loop.
                out.setblocking(False)
                out.sendto(message.encode(), self._address)
        except OSError as error:
            if not self._failed:
                logger.warning(
                    "The message %s did not reach the service manager (%s).", message.partition("=")[0], error
                )
            self._failed = True
        else:
            self._failed = False


async def status_line(tasks: Tasks, phones: Phones, waits: Dependencies) -> str:
    """Return one line with the number of unfinished tasks by state, the number of phones, and what is being waited for.
    Raises StoreError.
    """
    states = Counter(task.state.value for task in await tasks.active())
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    waited = ", ".join(wait.what for wait in waits.current_waits())
    return f"Tasks: {told}. Phones: {len(phones.list())}{f'. Waits for: {waited}' if waited else ''}"


BEAT_S: Final = 1.0
"""Seconds between two beats; a watchdog gets at least four beats in its time limit."""
STATUS_EVERY: Final = 5
"""Beats between two status lines."""
DESK_STILL_S: Final = 30.0
"""Seconds without a round of the task service after which it counts as stuck: on a disk, a lock or a fault. It normally
makes one every five seconds.
"""


class Pulse:
    """Reports to the service manager, while `beating` is open, that the service is alive. It runs in the event loop, so
    it falls silent if the loop hangs. `seconds_since_round` returns the seconds since the task service's last round.
    """

    def __init__(
        self, still_for: Callable[[], float], manager: ServiceManager, status: Callable[[], Awaitable[str]]
    ) -> None:
        self._still_for = still_for
        self._manager = manager
        self._status = status
        self.lag = 0.0
        """Seconds by which the last beat came late."""

    @property
    def healthy(self) -> bool:
        """Whether the task service is running. The event loop is not checked: this property can only be read while it
        runs.
        """
        return self._still_for() < DESK_STILL_S

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
