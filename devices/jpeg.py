"""A screen as JPEG: a hundredth of the memory of the whole picture, and what a model is sent."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field

from PIL import Image

from devices.geometry import Size
from devices.opening import opened
from devices.resizing import resized, resized_bytes

QUALITY = 80
"""Text stays sharp. WebP takes eight times as long for half the bytes."""
LIGHT_QUALITY = 7
"""Words can still be read, colours are in steps: a third of the bytes, for what is shown once more."""

Fit = Callable[[Size], Size]
"""How large the picture of a screen of this size shall be; never larger than the screen. Asked in another thread."""


@dataclass(frozen=True, slots=True)
class Jpeg:
    """A picture of a screen, encoded; `size` in pixels."""

    data: bytes = field(repr=False)
    size: Size

    @classmethod
    def of(cls, image: Image.Image, size: Size) -> Jpeg:
        """The RGB picture at exactly this size. Blocks for about 10 ms: call it off the loop."""
        return cls._written(image if image.size == _sides(size) else resized(image, _sides(size)), size)

    @classmethod
    def of_bytes(cls, pixels: memoryview, screen: Size, size: Size) -> Jpeg:
        """The picture at exactly this size, from the bytes of the screen (see `resized_bytes`).

        Blocks for about 10 ms: call it off the loop.
        """
        return cls._written(resized_bytes(pixels, _sides(screen), _sides(size)), size)

    @classmethod
    def _written(cls, image: Image.Image, size: Size) -> Jpeg:
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=QUALITY, optimize=True)
        return cls(buffer.getvalue(), size)

    def image(self) -> Image.Image:
        """The RGB picture. Blocks for about 6 ms. Raises OSError."""
        with opened(self.data, ("JPEG",)) as picture:
            return picture.convert("RGB")


def lightened(data: bytes) -> bytes:
    """A JPEG made to a third of its bytes, at the size that it has; the result is the same whenever it is asked for.

    Blocks for about 20 ms.
    """
    buffer = io.BytesIO()
    with opened(data, ("JPEG",)) as picture:
        picture.save(buffer, "JPEG", quality=LIGHT_QUALITY, optimize=True)
    return buffer.getvalue()


def _sides(size: Size) -> tuple[int, int]:
    return size.width, size.height
