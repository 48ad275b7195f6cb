"""Opening encoded pictures that others have made: phones, hosts, people, models. A look at the declared size comes
first, as a few kilobytes can say that they are gigabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from PIL import Image

MAX_SIDE: Final = 16384
"""No phone's screen is larger; a header that says so is not a header."""
MAX_PIXELS: Final = 40_000_000
"""Of one picture: screens of 8K have 33 million."""
MAX_RATIO: Final = 16
"""The long side by the short one: a picture of one row is small, and gigabytes once it is made as high as a screen."""
FORMATS: Final = ("JPEG", "PNG", "WEBP")


class NoPicture(OSError):
    """These bytes are no picture that could be one of a screen, or only a part of one."""


def is_picture(width: int, height: int) -> bool:
    """Whether a picture may have this size."""
    short, long = min(width, height), max(width, height)
    return short > 0 and long <= min(MAX_SIDE, MAX_RATIO * short) and short * long <= MAX_PIXELS


@contextmanager
def opened(data: bytes, formats: tuple[str, ...] = FORMATS) -> Iterator[Image.Image]:
    """The picture while the block lasts, of which only the header was read. Raises NoPicture, also for what Pillow
    finds in it later in the block.
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
