"""Reports the service's state to systemd by its notify protocol (sd_notify(3)), without a library."""

from __future__ import annotations

import logging
import os
import socket
from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from bot.domain.task import Task
from bot.monitoring.dependencies import Dependencies
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


class LiveTasks(Protocol):
    """The part of the task service that is needed here."""

    async def active(self) -> tuple[Task, ...]:
        """Return all tasks that have not ended."""
        ...


async def status_line(tasks: LiveTasks, phones: Phones, waits: Dependencies) -> str:
    """Return one line with the number of unfinished tasks by state, the number of phones, and what is being waited for.
    Raises StoreError.
    """
    states = Counter(task.state.value for task in await tasks.active())
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    waited = ", ".join(wait.what for wait in waits.now())
    return f"Tasks: {told}. Phones: {len(phones.list())}{f'. Waits for: {waited}' if waited else ''}"
