"""A screen in the small: enough to tell whether two looks show the same, and a 256th of the memory."""

from __future__ import annotations

from PIL import Image

try:
    import cykooz_resizer as quick
except ImportError:  # not for Linux on ARM, where it would have to be compiled
    quick = None

CELL = 8
"""Pixels of the screen, each way, for one pixel of the small picture."""

_FOUR_SAMPLES = "CMYK"
"""The one mode with four samples for a pixel of which the resizer takes none for opacity. The colours are others."""


def small_of(image: Image.Image) -> Image.Image:
    """The brightness of the RGB or RGBX picture, a pixel for each cell.

    Blocks for half a millisecond with a phone's screen; for two where the sides are no whole numbers of cells, or
    nothing but Pillow is installed. Both agree within a level.
    """
    width, height = image.width // CELL, image.height // CELL
    if quick is None or image.mode != "RGB" or image.size != (width * CELL, height * CELL):
        return image.reduce(CELL).convert("L")
    return _averaged(image, (width, height)).convert("L")


def small_of_bytes(pixels: memoryview, size: tuple[int, int]) -> Image.Image:
    """The same of rows of red, green, blue and a byte that counts for nothing, without a copy of them."""
    if quick is None or size[0] % CELL or size[1] % CELL:
        return small_of(_upon(pixels, size, "RGBX"))
    cells = _averaged(_upon(pixels, size, _FOUR_SAMPLES), (size[0] // CELL, size[1] // CELL))
    return Image.frombytes("RGB", cells.size, cells.tobytes(), "raw", "RGBX").convert("L")


def _upon(pixels: memoryview, size: tuple[int, int], mode: str) -> Image.Image:
    """The picture whose memory these bytes are."""
    # Pillow takes every buffer, and says so of arrays only.
    return Image.frombuffer(mode, size, pixels, "raw", mode, 0, 1)  # type: ignore[arg-type]


def _averaged(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    smaller = Image.new(image.mode, size)
    how = quick.ResizeOptions(resize_alg=quick.ResizeAlg.convolution(quick.FilterType.box))
    quick.Resizer().resize_pil(image, smaller, how)
    return smaller


def black(width: int, height: int) -> Image.Image:
    """A black screen of so many pixels in the small."""
    return Image.new("L", (-(-width // CELL), -(-height // CELL)))
