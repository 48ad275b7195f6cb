"""The virtual phones that the pool itself starts, next to real phones or in place of them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Literal

from devices.adb.following import DeviceTracker
from devices.adb.server import ServerAddress
from devices.virtual import ABSENT, PhoneProcess, PhoneProcessFailed, StartedPhone, virtual_phones

logger = logging.getLogger(__name__)

VirtualPhones = Literal["auto"] | int


class VirtualFallback:
    """Starts virtual phones: `wanted` of them, or with "auto" one if there is no real phone.

    `state` is the folder for their state; `server` is the adb server that they are connected to through `following`.
    """

    def __init__(
        self, wanted: VirtualPhones, state: Path | None, server: ServerAddress, following: DeviceTracker
    ) -> None:
        self._wanted = wanted
        self._state = state
        self._server = server
        self._tracker = following
        self._process: PhoneProcess | None = None
        self.serials: frozenset[str] = frozenset()

    @property
    def phones(self) -> tuple[StartedPhone, ...]:
        """The running virtual phones, with the addresses of their control interfaces."""
        return self._process.phones if self._process else ()

    def hidden(self, real_seen: bool) -> bool:
        """Return whether the virtual phone started by "auto" is hidden, because a real phone is attached
        (`real_seen`).
        """
        return self._wanted == "auto" and real_seen

    async def start(self, *, alone: bool) -> None:
        """Start the virtual phones and connect them. `alone` says that no real phone is attached or configured.
        Failures are only logged.
        """
        number = int(alone) if self._wanted == "auto" else self._wanted
        if not number:
            return
        part = virtual_phones()
        if part is None:
            logger.error("The virtual phones did not start: %s", ABSENT)
            return
        self._process = part.process(count=number, state=self._state)
        try:
            phones = await self._process.start()
        except PhoneProcessFailed as failed:
            logger.error("%s", failed)  # noqa: TRY400  # the message is complete, and real phones are still served
            return
        self.serials = frozenset(phone.address for phone in phones)
        for phone in phones:
            await self._tracker.connect((self._server, phone.address))

    async def disconnect(self) -> None:
        """Disconnect the virtual phones from the adb server, which keeps running."""
        if self._process is not None:
            for serial in self.serials:
                await self._tracker.disconnect((self._server, serial))

    async def stop(self) -> None:
        """End the process of the virtual phones."""
        if self._process is not None:
            await self._process.stop()
            self._process = None
