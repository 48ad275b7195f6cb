"""Screenshots for people: made smaller, with a ring where the last touch went."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Mapping
from contextlib import ExitStack

from PIL import Image, ImageDraw, ImageFont, UnidentifiedImageError

from agent.ports.frames import Frames
from bot.domain.outgoing import Picture
from devices.recent import Recent

LONG_SIDE = 1280
"""Pixels. Chats show pictures smaller than this; it keeps text readable when opened."""
JPEG_QUALITY = 82
SHEET_MOST = 8
"""Phones on one picture; more would be too small to read."""
SHEET_WIDTH = 2560
"""Pixels, which Telegram shows in full and Discord as well."""
GAP = 12
RING_PART = 22
"""The ring's radius is the picture's width divided by this: about a fingertip."""
_RING = (230, 30, 60)
_HALO = (255, 255, 255)

DRAWN_KEPT = 160
"""Drawn screens that are kept, of about 50 kB: a step is shown on its card and alone, and again with a new clock and in
the recap. As many as eight runs of 20 steps have.
"""
_drawn: Recent[tuple[str, tuple[int, int] | None], bytes] = Recent(DRAWN_KEPT)
"""By the reference of the screen, which is that of its bytes alone, and the mark; the last used at the end."""

logger = logging.getLogger(__name__)


def draw_screen(image: Image.Image, mark: tuple[int, int] | None = None) -> bytes:
    """A JPEG of the screen for a chat. `mark` is in pixels of `image`; one outside of it is not drawn.

    It is made smaller by a whole number, which takes a fifth of the time: each step of each task is shown.
    """
    width, height = image.size
    image.draft("RGB", (width // _parts(width, height), height // _parts(width, height)))  # a stored JPEG, while read
    parts = _parts(*image.size)
    canvas = image.convert("RGB") if parts == 1 else image.convert("RGB").reduce(parts)
    if mark is not None:
        draw_mark(canvas, mark, (width, height))
    target = io.BytesIO()
    canvas.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def _parts(width: int, height: int) -> int:
    """The whole number by which a picture of this size is divided."""
    return -(-max(width, height) // LONG_SIDE)


def whole_screen(image: Image.Image) -> bytes:
    """A PNG of the screen in every pixel, for a file: chats make pictures smaller than they came."""
    target = io.BytesIO()
    image.convert("RGB").save(target, "PNG")
    return target.getvalue()


def draw_sheet(images: Mapping[int, Image.Image]) -> bytes:
    """The screens of several phones side by side, all of one height, each with its number."""
    height = min(LONG_SIDE, max(image.height for image in images.values()))
    fitted = [_of_height(image, height) for image in images.values()]
    width = sum(one.width for one in fitted) + GAP * (len(fitted) - 1)
    sheet = Image.new("RGB", (width, height), _HALO)
    left = 0
    for number, one in zip(images, fitted, strict=True):
        sheet.paste(one, (left, 0))
        _badge(sheet, left, number)
        left += one.width + GAP
    scale = min(1.0, SHEET_WIDTH / width)
    if scale < 1.0:
        sheet = sheet.resize((SHEET_WIDTH, max(1, round(height * scale))), Image.Resampling.LANCZOS, reducing_gap=2.0)
    target = io.BytesIO()
    sheet.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def _of_height(image: Image.Image, height: int) -> Image.Image:
    width = max(1, round(image.width * height / image.height))
    return image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)


def _badge(sheet: Image.Image, left: int, number: int) -> None:
    side = max(16, sheet.height // 16)
    pen = ImageDraw.Draw(sheet)
    pen.rectangle((left, 0, left + side, side), fill=_RING)
    middle = (left + side / 2, side / 2)
    pen.text(middle, str(number), fill=_HALO, anchor="mm", font=ImageFont.load_default(side * 0.7))


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
    with Image.open(io.BytesIO(data)) as image:
        return draw_screen(image, mark)


def _sheet(screens: Mapping[int, bytes]) -> bytes:
    with ExitStack() as stack:
        opened = {number: stack.enter_context(Image.open(io.BytesIO(data))) for number, data in screens.items()}
        return draw_sheet(opened)


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
    except (UnidentifiedImageError, OSError, ValueError) as error:
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
    except (UnidentifiedImageError, OSError, ValueError) as error:
        logger.warning("the frame %s cannot be shown: %s", reference, type(error).__name__)
    return None
