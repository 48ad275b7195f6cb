"""Screenshots for people: made smaller, with a ring where the last touch went."""

from __future__ import annotations

import asyncio
import io
import logging

from PIL import Image, ImageDraw, UnidentifiedImageError

from agent.ports.frames import Frames
from bot.chats.base import Picture

LONG_SIDE = 1280
"""Pixels. Chats show pictures smaller than this; it keeps text readable when opened."""
JPEG_QUALITY = 82
RING_PART = 22
"""The ring's radius is the picture's width divided by this: about a fingertip."""
_RING = (230, 30, 60)
_HALO = (255, 255, 255)

logger = logging.getLogger(__name__)


def draw_screen(image: Image.Image, mark: tuple[int, int] | None = None) -> bytes:
    """A JPEG of the screen for a chat. `mark` is in pixels of `image`; one outside of it is not drawn."""
    scale = min(1.0, LONG_SIDE / max(image.size))
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    canvas = image.convert("RGB").resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)
    if mark is not None and 0 <= mark[0] < image.width and 0 <= mark[1] < image.height:
        _ring(canvas, round(mark[0] * scale), round(mark[1] * scale))
    target = io.BytesIO()
    canvas.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def _ring(canvas: Image.Image, x: int, y: int) -> None:
    """Red between two white lines, so that it shows on any ground."""
    radius = max(6, canvas.width // RING_PART)
    line = max(3, radius // 4)
    pen = ImageDraw.Draw(canvas)
    for colour, out, width in ((_HALO, line // 2 + 1, line + 2 * (line // 2 + 1)), (_RING, 0, line)):
        reach = radius + out
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), outline=colour, width=width)


def _shown(data: bytes, mark: tuple[int, int] | None) -> bytes:
    with Image.open(io.BytesIO(data)) as image:
        return draw_screen(image, mark)


async def screen_picture(frames: Frames, reference: str | None, mark: tuple[int, int] | None = None) -> Picture | None:
    """The stored screen, ready to send; None when there is none (any more) or it cannot be read."""
    if reference is None:
        return None
    try:
        data = await frames.load(reference)
        return Picture("screen.jpg", await asyncio.to_thread(_shown, data, mark))
    except KeyError:
        logger.info("the frame %s is not kept any more", reference)
    except (UnidentifiedImageError, OSError, ValueError) as error:
        logger.warning("the frame %s cannot be shown: %s", reference, type(error).__name__)
    return None
