"""Turns the bytes of a screenshot that the phone sent into a picture."""

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
    """A `Wanted` that always wants the full picture."""
    return True


def never(_small: Image.Image, _size: Size) -> bool:
    """A `Wanted` that never wants the full picture, because only the thumbnail is needed."""
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
