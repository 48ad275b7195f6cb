"""The virtual phones that the pool starts itself, beside real ones or in their place."""

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
    """`wanted` phones, or "auto": one, if there is no real one. They remember what was done on them in `state`."""

    def __init__(
        self, wanted: VirtualPhones, state: Path | None, server: ServerAddress, following: DeviceTracker
    ) -> None:
        self._wanted = wanted
        self._state = state
        self._server = server
        self._following = following
        self._process: PhoneProcess | None = None
        self.serials: frozenset[str] = frozenset()

    @property
    def phones(self) -> tuple[StartedPhone, ...]:
        """The virtual phones that run, with the addresses of their controls."""
        return self._process.phones if self._process else ()

    def hidden(self, real_seen: bool) -> bool:
        """Whether they step aside: one that only stood in for a real phone is not offered beside it."""
        return self._wanted == "auto" and real_seen

    async def start(self, *, alone: bool) -> None:
        """Starts as many as are wanted; `alone` says that no real phone is there and none is named."""
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
            logger.error("%s", failed)  # noqa: TRY400  # its message says all; the real phones are served all the same
            return
        self.serials = frozenset(phone.address for phone in phones)
        for phone in phones:
            await self._following.connect((self._server, phone.address))

    async def disconnect(self) -> None:
        """Takes them off the adb server, which goes on without them."""
        if self._process is not None:
            for serial in self.serials:
                await self._following.disconnect((self._server, serial))

    async def stop(self) -> None:
        """Ends their process."""
        if self._process is not None:
            await self._process.stop()
            self._process = None
