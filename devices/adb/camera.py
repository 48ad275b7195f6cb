"""Takes pictures of a phone's screen."""

from __future__ import annotations

import asyncio
import logging

from devices.adb.pictures import Frame, UnknownFormat, from_png, from_raw
from devices.adb.shell import Shell
from devices.errors import CaptureFailed

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""A capture may be repeated, it changes nothing on the phone."""

CAPTURE_TIMEOUT = 6.0
"""Seconds for one picture; over slow Wi-Fi a raw one takes about three."""


class Camera:
    """Raw pictures where the phone's format is known, else PNG; which one is found out once per phone."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._png = False

    async def capture(self) -> Frame:
        """The screen now. Raises CaptureFailed after three broken pictures; PhoneGone and the like at once."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once()
            except UnknownFormat as unknown:
                logger.info("%s sends raw pictures of an unknown kind (%s): PNG from now on", self._name, unknown)
                self._png = True
            except CaptureFailed as broken:
                logger.warning("capture %d of %d from %s failed: %s", attempt, ATTEMPTS, self._name, broken)
                last = broken
        raise CaptureFailed(f"{ATTEMPTS} captures in a row failed; the last one: {last}") from last

    async def _once(self) -> Frame:
        line = "screencap -p" if self._png else "screencap"
        data = await self._shell.raw(line, timeout=CAPTURE_TIMEOUT, doing="taking a picture")
        return await asyncio.to_thread(from_png if self._png else from_raw, data)

    @property
    def _name(self) -> str:
        return self._shell.connection.serial
