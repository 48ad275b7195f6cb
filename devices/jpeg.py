"""Screenshots as JPEG, which take a hundredth of the memory of the full picture and are sent to models."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field

from PIL import Image

from devices.geometry import Size
from devices.opening import opened
from devices.resizing import resized, resized_bytes

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
