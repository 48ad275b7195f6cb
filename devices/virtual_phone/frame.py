"""An encoded picture of the screen."""

from __future__ import annotations

import io
import struct
from dataclasses import dataclass, field
from functools import cached_property

from PIL import Image

# Header of raw screencap since Android 9: width, height, PixelFormat RGBA_8888 and the colour space
# (screencap.cpp; 1 is HAL_DATASPACE_V0_SRGB as screencap numbers it).
RAW_HEADER = struct.Struct("<4I")
RGBA_8888 = 1
SRGB = 1


@dataclass
class Frame:
    """One picture, each encoding made once. Costs CPU time: use it in a thread."""

    image: Image.Image = field(repr=False)

    @cached_property
    def raw(self) -> bytes:
        """What `screencap` prints."""
        width, height = self.image.size
        return RAW_HEADER.pack(width, height, RGBA_8888, SRGB) + self.image.convert("RGBA").tobytes()

    @cached_property
    def png(self) -> bytes:
        """What `screencap -p` prints."""
        out = io.BytesIO()
        self.image.save(out, "PNG", compress_level=1)
        return out.getvalue()

    @cached_property
    def jpeg(self) -> bytes:
        """What uiautomator2's server gives, at its usual quality of 80 (Bitmap.compress)."""
        out = io.BytesIO()
        self.image.save(out, "JPEG", quality=80)
        return out.getvalue()
