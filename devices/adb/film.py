"""Streams video of the screen with Android's `screenrecord`, which writes the encoder's H.264 to its output."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Final

from devices.adb.connection import CHUNK, Connection
from devices.adb.host import opened
from devices.errors import CaptureFailed, PhoneGone
from devices.geometry import Size
from devices.wording import words

LARGEST: Final = Size(720, 1600)
"""The maximum size in pixels, as large as the console shows. Cheap phones' encoders refuse a full large screen."""
BLOCK: Final = 16
"""Pixels of a macroblock. Some encoders refuse sides that are not multiples of it."""
BIT_RATE: Final = 4_000_000
"""The maximum bits per second; a still screen needs none."""
PAUSE_S: Final = 0.015
"""Seconds of silence after which a picture is complete: the encoder writes each one in one go."""
START_S: Final = 5.0
"""Seconds that a phone gets for its first picture; encoders take up to one to start."""

_UNIT: Final = re.compile(rb"\x00?\x00\x00\x01(.)(.)", re.DOTALL)
_SLICES: Final = {1, 5}
_BEFORE_SLICES: Final = {6, 7, 8, 9}
"""Types of NAL units (ITU-T H.264, table 7-1): parts of a picture, and what comes before one."""


class AccessUnits:
    """Splits an H.264 byte stream (ITU-T H.264, Annex B) into access units, each of which is one picture."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._looked = 0
        self.whole = False
        """Whether the buffer contains a picture. It is complete if nothing more arrives."""

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes of the stream, and return the access units that are complete because the next one has begun."""
        self._kept += data
        units = []
        while found := _UNIT.search(self._kept, self._looked):
            kind, first = found[1][0] & 0x1F, found[2][0] & 0x80
            # A slice that begins with macroblock 0 has 1 as its first bit: ue(v) of 0.
            begins = kind in _BEFORE_SLICES or (kind in _SLICES and first)
            self._looked = found.end() - 1
            if self.whole and begins:
                units.append(bytes(self._kept[: found.start()]))
                del self._kept[: found.start()]
                self._looked -= found.start()
                self.whole = False
            self.whole = self.whole or kind in _SLICES
        self._looked = max(self._looked, len(self._kept) - 5)
        return units

    def take(self) -> bytes:
        """Return and remove the buffered access unit, because the encoder pauses."""
        unit, self._kept = bytes(self._kept), bytearray()
        self._looked, self.whole = 0, False
        return unit


async def film(connection: Connection, size: Size, display: str = "") -> AsyncGenerator[bytes]:
    """Yield the screen as video, one H.264 access unit at a time. Implements `devices.phone.VideoSource.film`.

    `display` is the id of the screen on a phone with several, "" otherwise.
    """
    video = _fitting(size)
    which = f"--display-id {display} " if display else ""
    line = f"screenrecord {which}--output-format=h264 --size {video.width}x{video.height} --bit-rate {BIT_RATE} -"
    units, started, told = AccessUnits(), False, b""
    try:
        async with opened(connection, f"exec:{line}") as reader:
            while True:
                try:
                    async with asyncio.timeout(PAUSE_S if units.whole else None if started else START_S):
                        data = await reader.read(CHUNK)
                except TimeoutError:
                    if not units.whole:
                        break
                    yield units.take()
                    continue
                if not data:
                    break
                told = told or data[:200]
                for unit in units.feed(data):
                    yield unit
                started = started or units.whole
    except (OSError, EOFError) as broken:
        raise PhoneGone(words("phone.error.link", serial=connection.serial), uncertain=False) from broken
    if units.whole:
        yield units.take()
    elif not started:
        raise CaptureFailed(words("phone.error.no_picture", told=repr(told.decode(errors="replace").strip())))


def _fitting(size: Size) -> Size:
    largest = LARGEST if size.height >= size.width else Size(LARGEST.height, LARGEST.width)
    scale = min(1.0, largest.width / size.width, largest.height / size.height)
    return Size(*(max(BLOCK, round(side * scale / BLOCK) * BLOCK) for side in (size.width, size.height)))
