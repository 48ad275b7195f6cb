"""Opens encoded pictures from outside: from phones, other computers, people and models. The size that they declare is
checked first, because a few kilobytes can claim to be gigabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import Image

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
