"""A screen in the small: enough to tell whether two looks show the same, and a 256th of the memory."""

from __future__ import annotations

from PIL import Image

CELL = 8
"""Pixels of the screen, each way, for one pixel of the small picture."""


def small_of(image: Image.Image) -> Image.Image:
    """The brightness of the picture, a pixel for each cell. Blocks for 2 ms with a phone's screen."""
    return image.reduce(CELL).convert("L")


def black(width: int, height: int) -> Image.Image:
    """A black screen of so many pixels in the small."""
    return Image.new("L", (-(-width // CELL), -(-height // CELL)))
