"""A screen with numbers on what can be touched, for chats."""

from __future__ import annotations

import io
from collections.abc import Mapping

from PIL import Image, ImageDraw, ImageFont

from bot.cards.picture import JPEG_QUALITY, LONG_SIDE
from devices.geometry import Bounds, Size
from devices.resizing import resized

_FRAME = (230, 30, 60)
_HALO = (255, 255, 255)
_GROUND = (40, 40, 48)
_BADGE_PART = 32
"""A number is as high as the picture's longer side divided by this: it can be read in a chat's small picture."""


def draw_marks(image: Image.Image | None, screen: Size, marks: Mapping[int, Bounds]) -> bytes:
    """A JPEG of the screen with a frame and a number around each place, in native pixels; where the screen may not be
    shown, the frames alone. Blocks for some 20 ms.
    """
    scale = min(1.0, LONG_SIDE / max(screen.width, screen.height))
    size = (max(1, round(screen.width * scale)), max(1, round(screen.height * scale)))
    canvas = Image.new("RGB", size, _GROUND) if image is None else resized(image.convert("RGB"), size)
    pen = ImageDraw.Draw(canvas)
    height = max(size) // _BADGE_PART
    font = ImageFont.load_default(height * 0.8)
    for box in marks.values():
        edges = tuple(round(side * scale) for side in (box.left, box.top, box.right, box.bottom))
        pen.rectangle(edges, outline=_FRAME, width=2)
    for number, box in marks.items():
        _badge(pen, str(number), round(box.left * scale), round(box.top * scale), height, font)
    target = io.BytesIO()
    canvas.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def _badge(
    pen: ImageDraw.ImageDraw,
    number: str,
    left: int,
    top: int,
    height: int,
    font: ImageFont.ImageFont | ImageFont.FreeTypeFont,
) -> None:
    """The number, half outside the corner of its place, so that it hides little of that; above all frames."""
    width = round(pen.textlength(number, font=font)) + height // 2
    left, top = max(0, left - width // 2), max(0, top - height // 2)
    pen.rounded_rectangle((left, top, left + width, top + height), height // 4, fill=_FRAME, outline=_HALO, width=1)
    pen.text((left + width / 2, top + height / 2), number, fill=_HALO, anchor="mm", font=font)
