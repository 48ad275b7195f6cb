"""Screenshots for people: made smaller, with a ring where the last touch went."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Mapping
from contextlib import ExitStack

from PIL import Image, ImageDraw, ImageFont

from agent.ports.frames import Frames
from bot.domain.outgoing import Picture
from devices.opening import opened
from devices.recent import Recent
from devices.resizing import resized

LONG_SIDE = 1200
"""Pixels. Chats show pictures smaller than this; it keeps text readable when opened."""
JPEG_QUALITY = 82
SHEET_MOST = 8
"""Phones on one picture; more would be too small to read."""
SHEET_WIDTH = 2560
"""Pixels, which Telegram shows in full and Discord as well."""
GAP = 12
STRIP_PART = 18
"""A strip with a number is as high as the screen below it divided by this."""
RING_PART = 22
"""The ring's radius is the picture's width divided by this: about a fingertip."""
_RING = (230, 30, 60)
_HALO = (255, 255, 255)
_GROUND = (40, 40, 48)

DRAWN_KEPT = 160
"""Drawn screens that are kept, of about 50 kB: a step is shown on its card and alone, and again with a new clock and in
the recap. As many as eight runs of 20 steps have.
"""
_drawn: Recent[tuple[str, tuple[int, int] | None], bytes] = Recent(DRAWN_KEPT)
"""By the reference of the screen, which is that of its bytes alone, and the mark; the last used at the end."""

logger = logging.getLogger(__name__)


def draw_screen(image: Image.Image, mark: tuple[int, int] | None = None) -> bytes:
    """A JPEG of the screen for a chat. `mark` is in pixels of `image`; one outside of it is not drawn.

    A larger one is made exactly LONG_SIDE long, whatever the phone's own size.
    """
    width, height = image.size
    scale = min(1.0, LONG_SIDE / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    image.draft("RGB", size)  # a stored JPEG is made smaller while it is read, by a whole number
    canvas = image.convert("RGB") if image.size == size else resized(image.convert("RGB"), size)
    if mark is not None:
        draw_mark(canvas, mark, (width, height))
    target = io.BytesIO()
    canvas.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def whole_screen(image: Image.Image) -> bytes:
    """A PNG of the screen in every pixel, for a file: chats make pictures smaller than they came."""
    target = io.BytesIO()
    image.convert("RGB").save(target, "PNG")
    return target.getvalue()


def draw_sheet(images: Mapping[int, Image.Image]) -> bytes:
    """The screens of several phones side by side, all of one height, each with its number above it."""
    height = min(LONG_SIDE, max(image.height for image in images.values()))
    fitted = [_of_height(image, height) for image in images.values()]
    width = sum(one.width for one in fitted) + GAP * (len(fitted) - 1)
    above = height // STRIP_PART
    sheet = Image.new("RGB", (width, above + height), _HALO)
    left = 0
    for number, one in zip(images, fitted, strict=True):
        sheet.paste(one, (left, above))
        write_number(sheet, str(number), (left, 0, left + one.width, above))
        left += one.width + GAP
    scale = min(1.0, SHEET_WIDTH / width)
    if scale < 1.0:
        sheet = sheet.resize(
            (SHEET_WIDTH, max(1, round(sheet.height * scale))), Image.Resampling.LANCZOS, reducing_gap=2.0
        )
    target = io.BytesIO()
    sheet.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def _of_height(image: Image.Image, height: int) -> Image.Image:
    width = max(1, round(image.width * height / image.height))
    return image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)


def write_number(canvas: Image.Image, number: str, strip: tuple[int, int, int, int]) -> None:
    """A number in the middle of a strip beside a screen, so that nothing of the screen is hidden."""
    left, top, right, bottom = strip
    pen = ImageDraw.Draw(canvas)
    pen.rectangle((left, top, right - 1, bottom - 1), fill=_GROUND)
    middle = ((left + right) / 2, (top + bottom) / 2)
    pen.text(middle, number, fill=_HALO, anchor="mm", font=ImageFont.load_default((bottom - top) * 0.7))


def draw_mark(canvas: Image.Image, mark: tuple[int, int], size: tuple[int, int]) -> None:
    """A ring: red between two white lines, so that it shows on any ground.

    `mark` is in pixels of the picture of this size that the canvas was made from; one outside of it is not drawn.
    """
    if not (0 <= mark[0] < size[0] and 0 <= mark[1] < size[1]):
        return
    scale = canvas.width / size[0]
    x, y = round(mark[0] * scale), round(mark[1] * scale)
    radius = max(6, canvas.width // RING_PART)
    line = max(3, radius // 4)
    pen = ImageDraw.Draw(canvas)
    for colour, out, width in ((_HALO, line // 2 + 1, line + 2 * (line // 2 + 1)), (_RING, 0, line)):
        reach = radius + out
        pen.ellipse((x - reach, y - reach, x + reach, y + reach), outline=colour, width=width)


def _shown(data: bytes, mark: tuple[int, int] | None) -> bytes:
    with opened(data) as image:
        return draw_screen(image, mark)


def _sheet(screens: Mapping[int, bytes]) -> bytes:
    with ExitStack() as stack:
        return draw_sheet({number: stack.enter_context(opened(data)) for number, data in screens.items()})


async def sheet_picture(frames: Frames, references: Mapping[int, str]) -> Picture | None:
    """The stored screens of several phones with their numbers as one picture, the first SHEET_MOST of them.

    None when none can be read.
    """
    screens = {}
    for number, reference in [*references.items()][:SHEET_MOST]:
        try:
            screens[number] = await frames.load(reference)
        except KeyError:
            logger.info("the frame %s is not kept any more", reference)
    if not screens:
        return None
    try:
        return Picture("screens.jpg", await asyncio.to_thread(_sheet, screens))
    except (OSError, ValueError, MemoryError) as error:
        logger.warning("the frames of several phones cannot be shown: %s", type(error).__name__)
        return None


async def screen_picture(frames: Frames, reference: str | None, mark: tuple[int, int] | None = None) -> Picture | None:
    """The stored screen, ready to send; None when there is none (any more) or it cannot be read."""
    if reference is None:
        return None
    key = (reference, mark)
    try:
        drawn = _drawn.get(key)
        if drawn is None:
            drawn = await asyncio.to_thread(_shown, await frames.load(reference), mark)
        _drawn[key] = drawn
        return Picture("screen.jpg", drawn)
    except KeyError:
        logger.info("the frame %s is not kept any more", reference)
    except (OSError, ValueError, MemoryError) as error:
        logger.warning("the frame %s cannot be shown: %s", reference, type(error).__name__)
    return None
