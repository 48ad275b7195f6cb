"""Makes pictures smaller, which takes most of a step's processor time."""

from __future__ import annotations

from PIL import Image

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


def averaged(image: Image.Image, cell: int) -> Image.Image:
    """Return a smaller copy of an RGB or RGBX picture in which each pixel is the average of a square of `cell` ×
    `cell` pixels.

    Incomplete squares at the right and bottom count as squares too.
    """
    width, height = image.width // cell, image.height // cell
    if quick is None or image.mode != "RGB" or image.size != (width * cell, height * cell):
        return image.reduce(cell)
    smaller = Image.new("RGB", (width, height), None)
    _convolve(image, smaller, quick.FilterType.box)
    return smaller


def averaged_bytes(pixels: memoryview, size: tuple[int, int], cell: int) -> Image.Image:
    """Return what `averaged` does, as RGBX, for a picture given as rows of bytes (see `resized_bytes`)."""
    width, height = size[0] // cell, size[1] // cell
    if quick is None or size != (width * cell, height * cell):
        return averaged(_upon(pixels, size), cell)
    cells = memoryview(bytearray(width * height * len(AS_IT_CAME)))
    _convolve(_upon(pixels, size, _FOUR_SAMPLES), _upon(cells, (width, height), _FOUR_SAMPLES), quick.FilterType.box)
    return _upon(cells, (width, height))


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
    """Return the brightness of an RGB picture, one pixel for each `CELL`×`CELL` pixels.

    Blocks for half a millisecond on a phone's screen; for two if the sides are not multiples of `CELL` or only Pillow
    is installed. Both methods agree within one level.
    """
    return averaged(image, CELL).convert("L")


def thumbnail_of_bytes(pixels: memoryview, size: tuple[int, int]) -> Image.Image:
    """Return the brightness of a picture given as rows of bytes (see `averaged_bytes`), one pixel for each
    `CELL`×`CELL` pixels.
    """
    return averaged_bytes(pixels, size, CELL).convert("L")


def black_thumbnail(width: int, height: int) -> Image.Image:
    """Return the thumbnail of a black screen of this size in pixels."""
    return Image.new("L", (-(-width // CELL), -(-height // CELL)))
