"""Streams video of a phone to the page in addition to still pictures, if phone and browser support it. Video is
smoother and slightly earlier.

Touches refer to the still pictures, and only those show whether the screen may be shown: video is sent only between two
stills that allow it. A screen that was just locked stays visible until the next still, for a quarter of a second; the
phone itself blacks out what apps protect. Nothing is stored.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from contextlib import aclosing
from types import TracebackType
from typing import Final, Self

from bot.tasks.hands import Hands, Hold, LiveStill
from bot.web.http import Write
from devices.errors import PhoneError
from devices.geometry import Size

logger = logging.getLogger(__name__)

UNSEEN_S: Final = 3.0
"""Seconds after the last still when video stops, because it is unknown whether the screen may be shown."""
BEHIND_S: Final = 1.0
"""Seconds that a page may take for a picture; one that is further behind would show the past."""
_PARAMETERS: Final = re.compile(rb"\x00\x00\x01[\x07\x27\x47\x67](...)", re.DOTALL)
"""A sequence parameter set: profile, constraints and level, which identify the codec (RFC 6381, 3.3)."""
_KEY: Final = re.compile(rb"\x00\x00\x01[\x05\x25\x45\x65]")
"""A slice of a picture that depends on no other."""


class Video:
    """The video of a phone that a person operates, for one page. `write` sends its records, among those of the still
    pictures.

    Each record contains its `codec` (as in WebCodecs) if the decoder must be set up again, and says whether it is a
    `key` frame.
    """

    def __init__(self, hands: Hands, hold: Hold, write: Write) -> None:
        self._hands = hands
        self._hold = hold
        self._write = write
        self._size: Size | None = None
        self._seen = 0.0
        self._filming: asyncio.Task[bool] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stop()

    async def follow(self, live: LiveStill | None) -> None:
        """Start, continue or end the video according to the latest still picture; None if taking that failed. Video is
        not started again for a phone that sent no picture, or a page that is too slow.
        """
        if live is not None:
            self._seen = asyncio.get_running_loop().time()
            size = None if live.image is None else live.still.seen.size
            if size != self._size:
                await self._stop()
            self._size = size
        if self._size is not None and (self._filming is None or (self._filming.done() and self._filming.result())):
            self._filming = asyncio.create_task(self._film(self._size), name=f"video of {self._hold.name}")

    async def _stop(self) -> None:
        filming, self._filming = self._filming, None
        if filming is not None:
            filming.cancel()
            await asyncio.wait({filming})

    async def _film(self, size: Size) -> bool:
        """Send pictures until the phone ends the recording; return whether to start another."""
        loop, told = asyncio.get_running_loop(), False
        try:
            film = self._hands.film(self._hold, size)
            if film is None:
                return False
            async with aclosing(film):
                async for unit in film:
                    if loop.time() - self._seen > UNSEEN_S:
                        break
                    async with asyncio.timeout(BEHIND_S):
                        await self._write(_record(unit))
                    told = True
        except (PhoneError, TimeoutError) as error:
            logger.info("the page gets stills of %s, and no video: %s", self._hold.name, str(error) or "too slow")
            return False
        return told


def record(head: dict[str, object], data: bytes) -> bytes:
    """Encode a record for the page: the length of a JSON line, that line, and the data. The line contains the number of
    data bytes.
    """
    line = json.dumps({**head, "bytes": len(data)}).encode()
    return len(line).to_bytes(4) + line + data


def _record(unit: bytes) -> bytes:
    parameters = _PARAMETERS.search(unit)
    codec = {} if parameters is None else {"codec": f"avc1.{parameters[1].hex()}"}
    return record({"video": True, "key": _KEY.search(unit) is not None, **codec}, unit)
