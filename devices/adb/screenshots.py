"""Takes screenshots of a phone in the fastest way that works, and turns the bytes that it sends into pictures.

Foldables have two screens, and `screencap` captures the first one unless told otherwise.
"""

from __future__ import annotations

import asyncio
import logging
import re
import struct
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from PIL import Image

from devices.adb.fastlane.lane import FastLane
from devices.adb.fastlane.server import LaneRefused
from devices.adb.shell import Shell
from devices.errors import CaptureFailed, NoMemory
from devices.geometry import Bounds, Size
from devices.measuring import measured
from devices.phone import Element
from devices.pictures import AS_IT_CAME, CELL, MAX_SIDE, Fit, Jpeg, NoPicture, opened, thumbnail_of, thumbnail_of_bytes
from devices.wording import Words, sentence_of, words

logger = logging.getLogger(__name__)


MOST_PLACES = 200
"""How many elements with words are looked for in a picture; our own choice."""
DARKEST = 8
"""The brightness of the brightest cell below which a picture is black; compression leaves a few levels."""

# Where the system draws its own bars, which stay visible above a secure window; shares of the longer side, generous.
_STATUS_BAR = 0.06
_NAVIGATION_BAR = 0.07

# AOSP hardware/interfaces PixelFormat: Pillow's raw mode and bytes per pixel.
_FORMATS = {1: ("RGBX", 4), 2: ("RGBX", 4), 3: ("RGB", 3), 4: ("BGR;16", 2), 5: ("BGRX", 4)}
BLOCK, KEPT_BLOCKS = 2 * 1024 * 1024, 8
"""Bytes of a memory block of Pillow, and how many blocks it keeps for the next picture. Allocating ten megabytes each
time costs more than filling them, and blocks of another size are not reused: one for a whole picture would always have
another size (https://pillow.readthedocs.io/en/stable/reference/block_allocator.html).
"""
Image.core.set_block_size(BLOCK)  # type: ignore[attr-defined]  # documented, but Pillow does not type it
Image.core.set_blocks_max(KEPT_BLOCKS)  # type: ignore[attr-defined]

MOST_WARNINGS = 2048
"""Bytes of text that a phone may print before a picture; any picture has more."""
_LINE = re.compile(rb"[\x20-\x7e]{8,}\n")

_PNG = b"\x89PNG\r\n\x1a\n"


class UnknownFormat(CaptureFailed):
    """The raw picture has an unknown pixel format; a PNG must be requested instead."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One screenshot: always a thumbnail and the size in pixels and, if wanted, either the full picture (RGB, native
    size) or a JPEG of a requested size.
    """

    thumbnail: Image.Image = field(repr=False, compare=False)
    size: Size
    image: Image.Image | None = None
    jpeg: Jpeg | None = None

    @classmethod
    def of(cls, image: Image.Image, fit: Fit | None = None) -> Frame:
        """Build the frame from a full picture. With `fit` it contains a JPEG of the size that `fit` returns instead.
        Blocks.
        """
        thumbnail, size = thumbnail_of(image), Size(*image.size)
        return cls(thumbnail, size, image) if fit is None else cls(thumbnail, size, jpeg=Jpeg.of(image, fit(size)))

    @property
    def shows(self) -> bool:
        """Whether it contains a picture besides the thumbnail."""
        return self.image is not None or self.jpeg is not None

    @property
    def black(self) -> bool:
        """Whether the picture is black between the system's bars: a secure window, or a screen that is off."""
        width, height = self.thumbnail.size
        top, bottom = round(height * _STATUS_BAR), round(height * (1 - _NAVIGATION_BAR))
        return _is_dark(self.thumbnail, (0, top, width, max(top + 1, bottom)))


def hides_words(thumbnail: Image.Image, elements: Iterable[Element]) -> bool:
    """Return whether most elements with words are invisible because the picture is black there.

    This happens with a secure window next to another one, such as the keyboard: only part of the picture is black
    then.
    """
    width, height = thumbnail.size
    places = [
        area
        for e in islice((e for e in elements if e.label), MOST_PLACES)
        if (area := _cells(e.bounds))[0] < min(area[2], width) and area[1] < min(area[3], height)
    ]
    return bool(places) and sum(_is_dark(thumbnail, area) for area in places) * 2 > len(places)


def _cells(bounds: Bounds) -> tuple[int, int, int, int]:
    """Return the cells entirely within the bounds, so that nothing outside counts."""
    left, top = -(-max(0, bounds.left) // CELL), -(-max(0, bounds.top) // CELL)
    return left, top, bounds.right // CELL, bounds.bottom // CELL


def _is_dark(thumbnail: Image.Image, area: tuple[int, int, int, int]) -> bool:
    low, high = thumbnail.crop(area).getextrema()
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and high < DARKEST


Wanted = Callable[[Image.Image, Size], bool]
"""A function that decides by thumbnail and size whether the full picture is wanted. Called in another thread."""


def always(_small: Image.Image, _size: Size) -> bool:
    """A `ExpectedState` that always wants the full picture."""
    return True


def never(_small: Image.Image, _size: Size) -> bool:
    """A `ExpectedState` that never wants the full picture, because only the thumbnail is needed."""
    return False


def from_raw(data: bytes | memoryview, wanted: Wanted = always, fit: Fit | None = None) -> Frame:
    """Parse the picture that `screencap` writes without `-p`. `wanted` and `fit` are as in `Camera.capture`.

    Header (AOSP `frameworks/base/cmds/screencap/screencap.cpp`): width, height, pixel format, and since Android 9 the
    colour space, each a little-endian uint32; then the rows without padding. A preceding warning is skipped. Raises
    CaptureFailed if bytes are missing, UnknownFormat if the format is unknown.
    """
    start = _warned(data)
    length = len(data) - start
    if length < 16:
        raise CaptureFailed(words("phone.error.few_bytes", number=length))
    width, height, pixels = struct.unpack_from("<III", data, start)
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise CaptureFailed(_no_picture(bytes(data[:80])))
    if pixels not in _FORMATS:
        raise UnknownFormat(f"pixel format {pixels} is not known")
    mode, depth = _FORMATS[pixels]
    header = length - width * height * depth
    if header not in {12, 16}:
        raise CaptureFailed(words("phone.error.cut_picture", number=length, width=width, height=height))
    size, rows = Size(width, height), memoryview(data)[start + header :]
    if mode != AS_IT_CAME:
        return Frame.of(_whole(rows, size, mode), fit)
    thumbnail = thumbnail_of_bytes(rows, (width, height))
    if not wanted(thumbnail, size):
        return Frame(thumbnail, size)
    if fit is not None:
        return Frame(thumbnail, size, jpeg=Jpeg.of_bytes(rows, size, fit(size)))
    return Frame(thumbnail, size, _whole(rows, size, mode))


def _whole(rows: memoryview, size: Size, mode: str) -> Image.Image:
    return Image.frombytes("RGB", (size.width, size.height), rows, "raw", mode)


def _warned(data: bytes | memoryview) -> int:
    """Return the length of text lines before the picture, whose first byte would be the low byte of the width."""
    told, length = bytes(data[:MOST_WARNINGS]), 0
    while line := _LINE.match(told, length):
        length = line.end()
    return length if len(data) - length >= MOST_WARNINGS else 0


def from_png(data: bytes, fit: Fit | None = None) -> Frame:
    """Parse the picture that `screencap -p` writes. Raises CaptureFailed if it is no PNG or incomplete."""
    start = data.find(_PNG, 0, 4096)  # phones with two displays print a warning first
    if start < 0:
        raise CaptureFailed(_no_picture(data[:80]))
    return Frame.of(_decoded(data[start:]), fit)


def from_jpeg(data: bytes, wanted: Wanted = always, fit: Fit | None = None) -> Frame:
    """Parse the picture from uiautomator2's server. `wanted` and `fit` are as in `Camera.capture`. Raises
    CaptureFailed if it is no JPEG or incomplete.

    A JPEG stores the mean of each 8×8-pixel block, so the thumbnail is read without decoding the rest.
    """
    try:
        with opened(data, ("JPEG",)) as picture:
            size = Size(*picture.size)
            picture.draft("L", (size.width // CELL, size.height // CELL))
            thumbnail = picture.convert("L")
    except NoPicture as broken:
        raise CaptureFailed(words("phone.error.broken_picture")) from broken
    if thumbnail.size != (-(-size.width // CELL), -(-size.height // CELL)):
        return Frame.of(_decoded(data), fit)
    if not wanted(thumbnail, size):
        return Frame(thumbnail, size)
    whole = _decoded(data)
    return Frame(thumbnail, size, whole) if fit is None else Frame(thumbnail, size, jpeg=Jpeg.of(whole, fit(size)))


def _no_picture(told: bytes) -> Words:
    return words("phone.error.no_picture", told=repr(told.decode(errors="replace").strip()))


def _decoded(data: bytes) -> Image.Image:
    try:
        with opened(data, ("PNG", "JPEG")) as picture:
            picture.load()
            return picture if picture.mode == "RGB" else picture.convert("RGB")  # which would copy ten megabytes
    except NoPicture as broken:
        raise CaptureFailed(words("phone.error.broken_picture")) from broken


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
