"""The bytes of a screen as they leave the phone, turned into a picture."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field

from PIL import Image, UnidentifiedImageError

from devices.errors import CaptureFailed
from devices.geometry import Size
from devices.small import small_of
from devices.wording import Words, words

MAX_SIDE = 16384
"""No phone's screen is larger; a header that says so is not a header."""

DARKEST = 8
"""A picture whose brightest sample is below this is black: compression and dithering leave a few levels."""

# Where the system draws its own bars, which stay visible above a secure window; shares of the longer side, generous.
_STATUS_BAR = 0.06
_NAVIGATION_BAR = 0.07

# AOSP hardware/interfaces PixelFormat: Pillow's raw mode and bytes per pixel.
_FORMATS = {1: ("RGBX", 4), 2: ("RGBX", 4), 3: ("RGB", 3), 4: ("BGR;16", 2), 5: ("BGRX", 4)}
KEPT_BLOCKS = 4
"""Pieces of memory that Pillow keeps for the next picture. To get ten megabytes from the system each time costs more
than to fill them (https://pillow.readthedocs.io/en/stable/reference/block_allocator.html)."""
Image.core.set_blocks_max(KEPT_BLOCKS)  # type: ignore[attr-defined]  # documented, but Pillow does not type it

_PNG = b"\x89PNG\r\n\x1a\n"


class UnknownFormat(CaptureFailed):
    """The raw picture has a pixel format that is not known here: ask for a PNG."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the screen, RGB at native size, and the same in the small. Blocks for 2 ms when it is made."""

    image: Image.Image
    small: Image.Image = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "small", small_of(self.image))

    @property
    def size(self) -> Size:
        """Width and height as the phone is held now."""
        return Size(*self.image.size)

    @property
    def black(self) -> bool:
        """Whether nothing is to be seen between the system's bars: a secure window, or a screen that is off."""
        width, height = self.image.size
        reduced = self.image.resize((max(1, width // 8), max(1, height // 8)), Image.Resampling.NEAREST)
        top, bottom = round(reduced.height * _STATUS_BAR), round(reduced.height * (1 - _NAVIGATION_BAR))
        middle = reduced.crop((0, top, reduced.width, max(top + 1, bottom)))
        low, high = middle.convert("L").getextrema()
        return isinstance(low, (int, float)) and isinstance(high, (int, float)) and high < DARKEST


def from_raw(data: bytes | memoryview) -> Frame:
    """The picture that `screencap` writes without `-p`.

    Header (AOSP `frameworks/base/cmds/screencap/screencap.cpp`): width, height, pixel format, and since Android 9 the
    colour space, each a little-endian uint32; then the rows without padding. Raises CaptureFailed when bytes are
    missing, UnknownFormat when the format is none that is known here.
    """
    if len(data) < 16:
        raise CaptureFailed(words("phone.error.few_bytes", number=len(data)))
    width, height, pixels = struct.unpack_from("<III", data)
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise CaptureFailed(_no_picture(bytes(data[:80])))
    if pixels not in _FORMATS:
        raise UnknownFormat(f"pixel format {pixels} is not known")
    mode, depth = _FORMATS[pixels]
    wanted = width * height * depth
    header = len(data) - wanted
    if header not in {12, 16}:
        raise CaptureFailed(words("phone.error.cut_picture", number=len(data), width=width, height=height))
    return Frame(Image.frombytes("RGB", (width, height), memoryview(data)[header:], "raw", mode))


def from_png(data: bytes) -> Frame:
    """The picture that `screencap -p` writes. Raises CaptureFailed when it is none, or cut short."""
    start = data.find(_PNG, 0, 4096)  # phones with two displays print a warning first
    if start < 0:
        raise CaptureFailed(_no_picture(data[:80]))
    return _opened(data[start:])


def from_jpeg(data: bytes) -> Frame:
    """The picture that uiautomator2's server gives. Raises CaptureFailed when it is none, or cut short."""
    return _opened(data)


def _no_picture(told: bytes) -> Words:
    return words("phone.error.no_picture", told=repr(told.decode(errors="replace").strip()))


def _opened(data: bytes) -> Frame:
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as picture:
            return Frame(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as broken:
        raise CaptureFailed(words("phone.error.broken_picture")) from broken
