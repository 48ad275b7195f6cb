"""Takes screenshots of a phone in the fastest way that works.

Foldables have two screens, and `screencap` captures the first one unless told otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from functools import partial

from devices.adb.fastlane.lane import FastLane
from devices.adb.fastlane.server import LaneRefused
from devices.adb.pictures import Frame, UnknownFormat, Wanted, always, from_jpeg, from_png, from_raw
from devices.adb.shell import Shell
from devices.errors import CaptureFailed, NoMemory
from devices.jpeg import Fit
from devices.measuring import measured
from devices.wording import sentence_of, words

WARNING = b"Multiple displays were found"
"""The start of `screencap`'s warning before the picture (AOSP frameworks/base/cmds/screencap, since Android 10)."""
# AOSP DisplayViewport.toString: display 0 is the one that apps and touches are on, whichever screen shows it now.
_IN_USE = re.compile(
    r"DisplayViewport\{(?:type=\w+, )?valid=true, (?:isActive=\w+, )?displayId=0, uniqueId='local:(\d+)'"
)


async def in_use(shell: Shell) -> str:
    """Return the id of the screen in use, for `screencap -d`; "" if the phone does not report it. Raises as
    `Shell.run`.
    """
    told = await shell.run("dumpsys display | grep 'DisplayViewport{'", doing=words("phone.doing.picture"))
    found = _IN_USE.search(told.out)
    return found.group(1) if found else ""


logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often a capture is tried; repeating it changes nothing on the phone."""

CAPTURE_TIMEOUT = 6.0
"""Seconds for one picture; over slow Wi-Fi a raw one takes about three."""

WARNED = 200
"""The first bytes in which a warning before the picture must begin."""

TRIALS = 2
"""Pictures per method that measure its speed; the better counts. They are used like any other picture."""


class _SeveralDisplays(CaptureFailed):
    """The phone has more than one screen, and the picture may show the wrong one."""


class Camera:
    """Takes screenshots: as JPEG through the fast lane (uiautomator2's server on the phone) or as raw pixels through
    plain adb, whichever was faster on this link. PNG is used if the raw format is unknown.

    Repeated JPEGs of an unchanged screen have the same bytes, and the means of their 8×8-pixel blocks differ from the
    raw picture's by one brightness level at most. So thumbnails of both kinds can be compared (see `settling.Probe`).
    """

    def __init__(self, shell: Shell, lane: FastLane) -> None:
        self._shell = shell
        self._lane = lane
        self._png = False
        self._display: str | None = None
        """The screen that pictures are taken of, on a phone with several: empty if that is not known."""
        self._refused = False
        self._took: dict[bool, list[float]] = {True: [], False: []}
        """Seconds that the first pictures took on this link, by the fast lane (true) and without it."""

    @property
    def display(self) -> str:
        """The id of the captured screen if the phone has several and it is known; otherwise ""."""
        return self._display or ""

    @property
    def by_lane(self) -> bool:
        """Whether the next screenshot is taken through the fast lane (the server on the phone)."""
        if not self._lane.open or self._refused:
            return False
        lane, plain = self._took[True], self._took[False]
        if len(lane) < TRIALS or len(plain) < TRIALS:
            return len(lane) < TRIALS
        return min(lane) < min(plain)

    def forget(self) -> None:
        """Forget the measured speeds and which screen is in use, because the link is new: a cable and Wi-Fi differ
        greatly.
        """
        self._refused = False
        self._display = None
        self._took = {True: [], False: []}

    @measured("frame")
    async def capture(self, wanted: Wanted = always, fit: Fit | None = None) -> Frame:
        """Take a screenshot. `wanted` decides by its thumbnail whether the full picture is made; `fit` gives the size
        of a JPEG to make instead of it.

        Raises CaptureFailed after `ATTEMPTS` broken pictures; NoMemory, PhoneGone and similar errors at once.
        """
        last: CaptureFailed
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(wanted, fit)
            except _SeveralDisplays as several:
                self._display = await in_use(self._shell)
                last = several
            except UnknownFormat as unknown:
                logger.info("%s sends raw pictures of an unknown kind (%s): PNG from now on", self._name, unknown)
                self._png = True
            except MemoryError:
                raise NoMemory(words("phone.error.no_memory")) from None
            except CaptureFailed as broken:
                logger.warning("Screen capture %d of %d from %s failed: %s", attempt, ATTEMPTS, self._name, broken)
                await self.look_again()
                last = broken
        raise CaptureFailed(words("phone.error.captures", number=ATTEMPTS, last=sentence_of(last))) from last

    async def _once(self, wanted: Wanted, fit: Fit | None) -> Frame:
        began = time.monotonic()
        by_lane = self.by_lane
        frame = await self._fast(wanted, fit) if by_lane else None
        if frame is None:
            by_lane, began = False, time.monotonic()
            frame = await self._plain(wanted, fit)
            if frame.black and await self.look_again():
                frame = await self._plain(wanted, fit)
        if len(self._took[by_lane]) < TRIALS:
            self._took[by_lane].append(time.monotonic() - began)
        return frame

    async def _plain(self, wanted: Wanted, fit: Fit | None) -> Frame:
        line = f"screencap{' -p' if self._png else ''}{f' -d {self._display}' if self._display else ''}"
        return await self._shell.read(
            line, partial(self._read, wanted, fit), timeout=CAPTURE_TIMEOUT, doing=words("phone.doing.picture")
        )

    async def look_again(self) -> bool:
        """Return whether a phone with several screens has switched to another one, because it was folded or unfolded.
        Raises as `in_use`.
        """
        if self._display is None:
            return False
        before, self._display = self._display, await in_use(self._shell)
        return self._display != before

    def _read(self, wanted: Wanted, fit: Fit | None, data: memoryview) -> Frame:
        if self._display is None and WARNING in bytes(data[:WARNED]):
            raise _SeveralDisplays(words("phone.error.no_picture", told=bytes(data[:WARNED]).decode(errors="replace")))
        return from_png(bytes(data), fit) if self._png else from_raw(data, wanted, fit)

    async def _fast(self, wanted: Wanted, fit: Fit | None) -> Frame | None:
        """Capture through the fast lane; None if it returned nothing readable, after which it is not used again."""
        try:
            data = await self._lane.picture()
            if data is not None:
                return await asyncio.to_thread(from_jpeg, data, wanted, fit)
        except (LaneRefused, CaptureFailed) as broken:
            logger.info("no pictures by the fast lane of %s: %s", self._name, broken)
            self._refused = True
        return None

    @property
    def _name(self) -> str:
        return self._shell.connection.serial
