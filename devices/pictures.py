"""Pictures of screens: opened with limits, because they come from outside, made smaller, and kept as JPEG."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from PIL import Image

from devices.geometry import Size

MAX_SIDE: Final = 16384
"""The maximum side of a picture in pixels; no phone's screen is larger."""
MAX_PIXELS: Final = 40_000_000
"""The maximum pixels of a picture; an 8K screen has 33 million."""
MAX_RATIO: Final = 16
"""The maximum ratio of the sides: a one-row picture is small, but takes gigabytes once scaled to a screen's height."""
FORMATS: Final = ("JPEG", "PNG", "WEBP")


class NoPicture(OSError):
    """The bytes are not a complete picture that could be a screenshot."""


def is_picture(width: int, height: int) -> bool:
    """Return whether a picture may have this size in pixels: not empty, and within the limits for sides, pixels and
    ratio.
    """
    short, long = min(width, height), max(width, height)
    return short > 0 and long <= min(MAX_SIDE, MAX_RATIO * short) and short * long <= MAX_PIXELS


@contextmanager
def opened(data: bytes, formats: tuple[str, ...] = FORMATS) -> Iterator[Image.Image]:
    """Context manager that opens a picture. Only its header has been read at first.

    Raises NoPicture if the bytes are not one of the formats or its size is not allowed, also for errors that Pillow
    finds later in the block.
    """
    try:
        with Image.open(io.BytesIO(data), formats=formats) as picture:
            _look_at_size(picture)
            yield picture
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise NoPicture(str(error) or type(error).__name__) from error


def _look_at_size(picture: Image.Image) -> None:
    if not is_picture(*picture.size):
        raise NoPicture(f"{picture.width}×{picture.height} is no screen")


try:
    import cykooz_resizer as quick
except ImportError:  # not for Linux on ARM, where it would have to be compiled
    quick = None

_FOUR_SAMPLES = "CMYK"
"""The only mode with four samples per pixel in which the resizer does not treat one as opacity."""
_SAMPLES = 4
"""Bytes per pixel in Pillow's memory, for three samples as well as for four."""
_BESIDE = 2 * 1024 * 1024
"""Bytes that the resizer needs for everything else."""
AS_IT_CAME = "RGBX"
"""The pixel format of most phones' screenshots: red, green, blue and an unused byte."""

CELL = 8
"""Screen pixels per thumbnail pixel, in each direction."""


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return the RGB picture at this (width, height), like Pillow's BILINEAR.

    With vector instructions this is five times as fast as Pillow (4 ms for a phone's screen), and no pixel differs by
    more than one level.
    """
    if quick is None:
        return by_pillow(image, size)
    smaller = Image.new("RGB", size, None)
    _convolve(image, smaller, quick.FilterType.bilinear)
    return smaller


def resized_bytes(pixels: memoryview, size: tuple[int, int], target: tuple[int, int]) -> Image.Image:
    """Return a picture at the size `target` (width, height), from rows of red, green, blue and an unused byte (RGBX).

    The rows are not copied: if the size stays, the picture uses the given bytes directly.
    """
    if target == size:
        return _upon(pixels, size)
    if quick is None:
        return by_pillow(_upon(pixels, size), target)
    smaller = memoryview(bytearray(target[0] * target[1] * len(AS_IT_CAME)))
    _convolve(_upon(pixels, size, _FOUR_SAMPLES), _upon(smaller, target, _FOUR_SAMPLES), quick.FilterType.bilinear)
    return _upon(smaller, target)


def by_pillow(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Resize the picture to this (width, height) with Pillow, for installations without the faster library."""
    return image.resize(size, Image.Resampling.BILINEAR)


def _upon(pixels: memoryview, size: tuple[int, int], mode: str = AS_IT_CAME) -> Image.Image:
    """Return a picture that uses these bytes as its memory."""
    # Pillow accepts any buffer but only documents arrays.
    return Image.frombuffer(mode, size, pixels, "raw", mode, 0, 1)  # type: ignore[arg-type]


def _convolve(image: Image.Image, smaller: Image.Image, how: quick.FilterType) -> None:
    """Resize `image` into `smaller`. Raises MemoryError if there is not enough memory."""
    # Test for the memory that the resizer needs between its two passes: if it finds none, it aborts the process.
    bytearray(image.width * smaller.height * _SAMPLES + _BESIDE)
    options = quick.ResizeOptions(resize_alg=quick.ResizeAlg.convolution(how))
    # One resizer per call: it keeps memory between the two passes and belongs to one thread.
    quick.Resizer().resize_pil(image, smaller, options)


def thumbnail_of(image: Image.Image) -> Image.Image:
    """Return the brightness of an RGB or RGBX picture, one pixel for each `CELL`×`CELL` pixels; incomplete squares at
    the right and bottom count too.

    Blocks for half a millisecond on a phone's screen; for two if the sides are not multiples of `CELL` or only Pillow
    is installed. Both methods agree within one level.
    """
    width, height = image.width // CELL, image.height // CELL
    if quick is None or image.mode != "RGB" or image.size != (width * CELL, height * CELL):
        return image.reduce(CELL).convert("L")
    smaller = Image.new("RGB", (width, height), None)
    _convolve(image, smaller, quick.FilterType.box)
    return smaller.convert("L")


def thumbnail_of_bytes(pixels: memoryview, size: tuple[int, int]) -> Image.Image:
    """Return what `thumbnail_of` does for a picture given as rows of bytes (see `resized_bytes`)."""
    width, height = size[0] // CELL, size[1] // CELL
    if quick is None or size != (width * CELL, height * CELL):
        return thumbnail_of(_upon(pixels, size))
    cells = memoryview(bytearray(width * height * len(AS_IT_CAME)))
    _convolve(_upon(pixels, size, _FOUR_SAMPLES), _upon(cells, (width, height), _FOUR_SAMPLES), quick.FilterType.box)
    return _upon(cells, (width, height)).convert("L")


def black_thumbnail(width: int, height: int) -> Image.Image:
    """Return the thumbnail of a black screen of this size in pixels."""
    return Image.new("L", (-(-width // CELL), -(-height // CELL)))


QUALITY = 80
"""JPEG quality at which text stays sharp. WebP takes eight times as long for half the bytes."""
LIGHT_QUALITY = 7
"""JPEG quality for repeated pictures: words stay readable, colours are coarse, a third of the bytes."""

Fit = Callable[[Size], Size]
"""A function from the screen's size to that of its picture, never larger. It is called in another thread."""


@dataclass(frozen=True, slots=True)
class Jpeg:
    """A screenshot encoded as JPEG; `size` is in pixels."""

    data: bytes = field(repr=False)
    size: Size

    @classmethod
    def of(cls, image: Image.Image, size: Size) -> Jpeg:
        """Encode an RGB picture at exactly this size. Blocks for about 10 ms, so do not call it on the event loop."""
        return cls._written(image if image.size == _sides(size) else resized(image, _sides(size)), size)

    @classmethod
    def of_bytes(cls, pixels: memoryview, screen: Size, size: Size) -> Jpeg:
        """Encode a screenshot at exactly this size, from raw screen bytes (see `resized_bytes`).

        Blocks for about 10 ms, so do not call it on the event loop.
        """
        return cls._written(resized_bytes(pixels, _sides(screen), _sides(size)), size)

    @classmethod
    def _written(cls, image: Image.Image, size: Size) -> Jpeg:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=QUALITY, optimize=True)
        return cls(buffer.getvalue(), size)

    def image(self) -> Image.Image:
        """Decode the picture as RGB. Blocks for about 6 ms. Raises OSError."""
        with opened(self.data, ("JPEG",)) as picture:
            return picture.convert("RGB")


def lightened(data: bytes) -> bytes:
    """Compress a JPEG to a third of its bytes at the same size; equal input gives equal output.

    Blocks for about 20 ms.
    """
    buffer = io.BytesIO()
    with opened(data, ("JPEG",)) as picture:
        picture.save(buffer, "JPEG", quality=LIGHT_QUALITY, optimize=True)
    return buffer.getvalue()


def _sides(size: Size) -> tuple[int, int]:
    return size.width, size.height
