"""The bytes of a screen as they leave the phone, turned into a picture."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from PIL import Image

from devices.errors import CaptureFailed
from devices.geometry import Bounds, Size
from devices.jpeg import Fit, Jpeg
from devices.opening import MAX_SIDE, NoPicture, opened
from devices.phone import Element
from devices.resizing import AS_IT_CAME, CELL, thumbnail_of, thumbnail_of_bytes
from devices.wording import Words, words

MOST_PLACES = 200
"""Elements with words that are looked for in a picture; ours."""
DARKEST = 8
"""A picture whose brightest cell is below this is black: compression and dithering leave a few levels."""

# Where the system draws its own bars, which stay visible above a secure window; shares of the longer side, generous.
_STATUS_BAR = 0.06
_NAVIGATION_BAR = 0.07

# AOSP hardware/interfaces PixelFormat: Pillow's raw mode and bytes per pixel.
_FORMATS = {1: ("RGBX", 4), 2: ("RGBX", 4), 3: ("RGB", 3), 4: ("BGR;16", 2), 5: ("BGRX", 4)}
BLOCK, KEPT_BLOCKS = 2 * 1024 * 1024, 8
"""Bytes of a piece of memory that Pillow takes, and how many it keeps for the next picture. To get ten megabytes from
the system each time costs more than to fill them, and a piece of another size is got anew: one that holds a whole
picture has another size each time (https://pillow.readthedocs.io/en/stable/reference/block_allocator.html)."""
Image.core.set_block_size(BLOCK)  # type: ignore[attr-defined]  # documented, but Pillow does not type it
Image.core.set_blocks_max(KEPT_BLOCKS)  # type: ignore[attr-defined]

MOST_WARNINGS = 2048
"""Bytes of text that a phone may print before a picture; any picture has more."""
_LINE = re.compile(rb"[\x20-\x7e]{8,}\n")

_PNG = b"\x89PNG\r\n\x1a\n"


class UnknownFormat(CaptureFailed):
    """The raw picture has a pixel format that is not known here: ask for a PNG."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the screen as a thumbnail, and where it was wanted the whole one, RGB at native size, or in its
    place a JPEG of the size that was wanted.
    """

    thumbnail: Image.Image = field(repr=False, compare=False)
    size: Size
    image: Image.Image | None = None
    jpeg: Jpeg | None = None

    @classmethod
    def of(cls, image: Image.Image, fit: Fit | None = None) -> Frame:
        """The frame of a whole picture. Blocks as `thumbnail_of` does, and with `fit` as `Jpeg.of` does."""
        thumbnail, size = thumbnail_of(image), Size(*image.size)
        return cls(thumbnail, size, image) if fit is None else cls(thumbnail, size, jpeg=Jpeg.of(image, fit(size)))

    @property
    def shows(self) -> bool:
        """Whether there is more of it than the thumbnail."""
        return self.image is not None or self.jpeg is not None

    @property
    def black(self) -> bool:
        """Whether nothing is to be seen between the system's bars: a secure window, or a screen that is off."""
        width, height = self.thumbnail.size
        top, bottom = round(height * _STATUS_BAR), round(height * (1 - _NAVIGATION_BAR))
        return _is_dark(self.thumbnail, (0, top, width, max(top + 1, bottom)))


def hides_words(thumbnail: Image.Image, elements: Iterable[Element]) -> bool:
    """Whether most words that the elements tell are not to be seen in the picture, where it is black.

    So it is with a secure window beside another one, such as the keyboard: then not all of the picture is black.
    """
    width, height = thumbnail.size
    places = [
        area
        for e in islice((e for e in elements if e.label), MOST_PLACES)
        if (area := _cells(e.bounds))[0] < min(area[2], width) and area[1] < min(area[3], height)
    ]
    return bool(places) and sum(_is_dark(thumbnail, area) for area in places) * 2 > len(places)


def _cells(bounds: Bounds) -> tuple[int, int, int, int]:
    """The cells that lie wholly within, so that nothing beside it counts."""
    left, top = -(-max(0, bounds.left) // CELL), -(-max(0, bounds.top) // CELL)
    return left, top, bounds.right // CELL, bounds.bottom // CELL


def _is_dark(thumbnail: Image.Image, area: tuple[int, int, int, int]) -> bool:
    low, high = thumbnail.crop(area).getextrema()
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and high < DARKEST


Wanted = Callable[[Image.Image, Size], bool]
"""Whether the whole picture is wanted, by its thumbnail and size. It is asked in another thread."""


def always(_small: Image.Image, _size: Size) -> bool:
    """Wanted, whatever it shows."""
    return True


def never(_small: Image.Image, _size: Size) -> bool:
    """Not wanted: it is only compared."""
    return False


def from_raw(data: bytes | memoryview, wanted: Wanted = always, fit: Fit | None = None) -> Frame:
    """The picture that `screencap` writes without `-p`.

    Header (AOSP `frameworks/base/cmds/screencap/screencap.cpp`): width, height, pixel format, and since Android 9 the
    colour space, each a little-endian uint32; then the rows without padding. What a phone warns of before it is left
    out. Raises CaptureFailed when bytes are missing, UnknownFormat when the format is none that is known here.
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
    """The length of the lines of text before the picture: its first sign would be the width's low byte."""
    told, length = bytes(data[:MOST_WARNINGS]), 0
    while line := _LINE.match(told, length):
        length = line.end()
    return length if len(data) - length >= MOST_WARNINGS else 0


def from_png(data: bytes, fit: Fit | None = None) -> Frame:
    """The picture that `screencap -p` writes. Raises CaptureFailed when it is none, or cut short."""
    start = data.find(_PNG, 0, 4096)  # phones with two displays print a warning first
    if start < 0:
        raise CaptureFailed(_no_picture(data[:80]))
    return Frame.of(_decoded(data[start:]), fit)


def from_jpeg(data: bytes, wanted: Wanted = always, fit: Fit | None = None) -> Frame:
    """The picture that uiautomator2's server gives. Raises CaptureFailed when it is none, or cut short.

    A JPEG keeps the mean of each block of 8×8 pixels: the thumbnail is read without the rest.
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
