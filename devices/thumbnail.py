"""A tiny picture of a screen: enough to tell whether two looks show the same, and a 256th of the memory."""

from __future__ import annotations

from PIL import Image

from devices.resizing import averaged, averaged_bytes

CELL = 8
"""Pixels of the screen, each way, for one pixel of the small picture."""


def small_of(image: Image.Image) -> Image.Image:
    """The brightness of the RGB picture, a pixel for each cell.

    Blocks for half a millisecond with a phone's screen; for two where the sides are no whole numbers of cells, or
    nothing but Pillow is installed. Both agree within a level.
    """
    return averaged(image, CELL).convert("L")


def small_of_bytes(pixels: memoryview, size: tuple[int, int]) -> Image.Image:
    """The brightness of a picture, a pixel for each cell, from rows of bytes (see `averaged_bytes`)."""
    return averaged_bytes(pixels, size, CELL).convert("L")


def black(width: int, height: int) -> Image.Image:
    """A black screen of so many pixels in the small."""
    return Image.new("L", (-(-width // CELL), -(-height // CELL)))
