"""Making pictures smaller: most of the processor time that a step takes."""

from __future__ import annotations

from PIL import Image

try:
    import cykooz_resizer as quick
except ImportError:  # not for Linux on ARM, where it would have to be compiled
    quick = None

_FOUR_SAMPLES = "CMYK"
"""The one mode with four samples for a pixel of which the resizer takes none for opacity. The colours are others."""
_SAMPLES = 4
"""Bytes of a pixel in Pillow's memory, whether it has three samples or four."""
_BESIDE = 2 * 1024 * 1024
"""Bytes that the resizer takes for all else."""
AS_IT_CAME = "RGBX"
"""Red, green, blue and a byte that counts for nothing: how most phones send a picture."""

CELL = 8
"""Pixels of the screen, each way, for one pixel of the thumbnail."""


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The RGB picture at this size, as Pillow's BILINEAR makes it.

    With the processor's vector instructions this takes a fifth of Pillow's time (4 ms for a phone's screen), and no
    pixel differs by more than a level.
    """
    if quick is None:
        return by_pillow(image, size)
    smaller = Image.new("RGB", size, None)
    _convolve(image, smaller, quick.FilterType.bilinear)
    return smaller


def resized_bytes(pixels: memoryview, size: tuple[int, int], target: tuple[int, int]) -> Image.Image:
    """The RGBX picture of another size, from rows of red, green, blue and a byte that counts for nothing.

    The rows are not copied: where the size stays, the picture stands upon the bytes themselves.
    """
    if target == size:
        return _upon(pixels, size)
    if quick is None:
        return by_pillow(_upon(pixels, size), target)
    smaller = memoryview(bytearray(target[0] * target[1] * len(AS_IT_CAME)))
    _convolve(_upon(pixels, size, _FOUR_SAMPLES), _upon(smaller, target, _FOUR_SAMPLES), quick.FilterType.bilinear)
    return _upon(smaller, target)


def by_pillow(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The picture resized by Pillow, for where nothing else is installed."""
    return image.resize(size, Image.Resampling.BILINEAR)


def averaged(image: Image.Image, cell: int) -> Image.Image:
    """The RGB or RGBX picture with one pixel, the mean, for each cell of so many pixels a side.

    What is left over at the right and at the bottom is a cell as well.
    """
    width, height = image.width // cell, image.height // cell
    if quick is None or image.mode != "RGB" or image.size != (width * cell, height * cell):
        return image.reduce(cell)
    smaller = Image.new("RGB", (width, height), None)
    _convolve(image, smaller, quick.FilterType.box)
    return smaller


def averaged_bytes(pixels: memoryview, size: tuple[int, int], cell: int) -> Image.Image:
    """The RGBX picture with one pixel, the mean, for each cell, from rows as `resized_bytes` takes them."""
    width, height = size[0] // cell, size[1] // cell
    if quick is None or size != (width * cell, height * cell):
        return averaged(_upon(pixels, size), cell)
    cells = memoryview(bytearray(width * height * len(AS_IT_CAME)))
    _convolve(_upon(pixels, size, _FOUR_SAMPLES), _upon(cells, (width, height), _FOUR_SAMPLES), quick.FilterType.box)
    return _upon(cells, (width, height))


def _upon(pixels: memoryview, size: tuple[int, int], mode: str = AS_IT_CAME) -> Image.Image:
    """The picture whose memory these bytes are."""
    # Pillow takes every buffer, and says so of arrays only.
    return Image.frombuffer(mode, size, pixels, "raw", mode, 0, 1)  # type: ignore[arg-type]


def _convolve(image: Image.Image, smaller: Image.Image, how: quick.FilterType) -> None:
    """Raises MemoryError where there is no room for it."""
    # What the resizer needs between the two directions: where it finds no room itself, it ends the whole process.
    bytearray(image.width * smaller.height * _SAMPLES + _BESIDE)
    options = quick.ResizeOptions(resize_alg=quick.ResizeAlg.convolution(how))
    # One for each call: it keeps memory between the two directions and belongs to one thread.
    quick.Resizer().resize_pil(image, smaller, options)


def thumbnail_of(image: Image.Image) -> Image.Image:
    """The brightness of the RGB picture, a pixel for each cell.

    Blocks for half a millisecond with a phone's screen; for two where the sides are no whole numbers of cells, or
    nothing but Pillow is installed. Both agree within a level.
    """
    return averaged(image, CELL).convert("L")


def thumbnail_of_bytes(pixels: memoryview, size: tuple[int, int]) -> Image.Image:
    """The brightness of a picture, a pixel for each cell, from rows of bytes (see `averaged_bytes`)."""
    return averaged_bytes(pixels, size, CELL).convert("L")


def black_thumbnail(width: int, height: int) -> Image.Image:
    """The thumbnail of a black screen of so many pixels."""
    return Image.new("L", (-(-width // CELL), -(-height // CELL)))
