"""Makes pictures for messages: screenshots in a smaller size, with a ring at the last touch or with numbers at the
elements, several phones side by side, and the animated recap of a task's steps.
"""

from __future__ import annotations

import asyncio
import io
import logging
import time
from collections.abc import Mapping, Sequence

from PIL import Image, ImageDraw, ImageFont

from agent.ports.stores import Frames
from bot.domain.outgoing import Picture
from bot.domain.task import StepRow
from devices.geometry import Bounds, Size
from devices.pictures import opened, resized
from devices.processes import ThreadPool
from devices.recent import Recent

LONG_SIDE = 1200
"""Pixels. Chats show pictures smaller than this; when opened, the text is readable."""
JPEG_QUALITY = 82
SHEET_MOST = 8
"""Most phones in one picture; more would be too small to read."""
SHEET_WIDTH = 2560
"""Pixels, which Telegram shows in full and Discord as well."""
GAP = 12
STRIP_PART = 18
"""The height of the strip with a number is the height of the screen below it divided by this."""
RING_PART = 22
"""The ring's radius is the picture's width divided by this: about a fingertip."""
_RING = (230, 30, 60)
_HALO = (255, 255, 255)
_GROUND = (40, 40, 48)

DRAWN_KEPT = 160
"""Number of drawn screenshots in the cache, of about 50 kB each: a step is shown on its card, alone and in the recap.
Enough for eight runs of 20 steps.
"""
_drawn: Recent[tuple[str, tuple[int, int] | None], bytes] = Recent(DRAWN_KEPT)
"""Drawn screens by the screenshot's reference and the mark."""

logger = logging.getLogger(__name__)

RECAP_FRAMES = 24
"""Most steps in a recap, spread evenly over the task; the last one is always included."""
RECAP_LONG_SIDES = (512, 384, 256)
"""Pixels; the next smaller one is used if the file is too large."""
COLOURS = 255
"""Colours in the common palette; one more is needed for transparency."""
PALETTE_PARTS = 4
"""The palette is made from the screens at a quarter of their width and height."""
FRAME_MS = 900
LAST_MS = 2500
MOST_BYTES = 3_000_000
"""Bytes; small enough to load at once on a phone, and far below every chat's limit."""
MAKING_SECONDS = 4.0
"""Seconds after which the final message is sent without a recap."""

_ONE_AT_A_TIME = ThreadPool(1, "recap")
"""One thread, so that many tasks that end together do not occupy every processor."""

_BADGE_PART = 32
"""The height of a number is the picture's longer side divided by this, readable in a chat's small picture."""


def draw_screen(image: Image.Image, mark: tuple[int, int] | None = None) -> bytes:
    """Return a screenshot as a JPEG for a chat, with a ring around the pixel `mark` of `image`.

    A larger image is scaled down to `LONG_SIDE`. A mark outside the image is not drawn.
    """
    whole, (_, size) = image.size, _within(LONG_SIDE, *image.size)
    image.draft("RGB", size)  # a stored JPEG is made smaller while it is read, by a whole number
    canvas = image.convert("RGB") if image.size == size else resized(image.convert("RGB"), size)
    if mark is not None:
        draw_mark(canvas, mark, whole)
    return _jpeg(canvas)


def _within(side: int, width: int, height: int) -> tuple[float, tuple[int, int]]:
    """The scale at which a picture fits into a square with this side, at most 1, and its size then."""
    scale = min(1.0, side / max(width, height))
    return scale, (max(1, round(width * scale)), max(1, round(height * scale)))


def _jpeg(image: Image.Image) -> bytes:
    target = io.BytesIO()
    image.save(target, "JPEG", quality=JPEG_QUALITY)
    return target.getvalue()


def whole_screen(image: Image.Image) -> bytes:
    """Return a screenshot as a PNG in full resolution, to be sent as a file: chats scale pictures down."""
    target = io.BytesIO()
    image.convert("RGB").save(target, "PNG")
    return target.getvalue()


def draw_sheet(images: Mapping[int, Image.Image]) -> bytes:
    """Return a JPEG with the screens of several phones side by side, all of one height, each with its number above
    it.
    """
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
    return _jpeg(sheet)


def _of_height(image: Image.Image, height: int) -> Image.Image:
    width = max(1, round(image.width * height / image.height))
    return image.convert("RGB").resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)


def write_number(canvas: Image.Image, number: str, strip: tuple[int, int, int, int]) -> None:
    """Draw a number in the middle of a strip (left, top, right, bottom) next to a screen, so that it hides nothing of
    the screen.
    """
    left, top, right, bottom = strip
    pen = ImageDraw.Draw(canvas)
    pen.rectangle((left, top, right - 1, bottom - 1), fill=_GROUND)
    middle = ((left + right) / 2, (top + bottom) / 2)
    pen.text(middle, number, fill=_HALO, anchor="mm", font=ImageFont.load_default((bottom - top) * 0.7))


def draw_mark(canvas: Image.Image, mark: tuple[int, int], size: tuple[int, int]) -> None:
    """Draw a ring on the canvas: red between two white lines, visible on any background.

    `mark` is a pixel of the original picture, whose `size` (width, height) may differ from the canvas. A mark outside
    it is not drawn.
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


def _sheet(screens: Mapping[int, bytes]) -> bytes | None:
    """The screens that can be read side by side, None when none can."""
    images = {}
    for number, data in screens.items():
        try:
            with opened(data) as image:
                images[number] = image.convert("RGB")
        except OSError as error:
            logger.warning("The screenshot with the number %d is left out of a picture: %s", number, error)
    return draw_sheet(images) if images else None


async def sheet_picture(frames: Frames, references: Mapping[int, str]) -> Picture | None:
    """Return one picture with the stored screenshots of several phones, by their numbers; at most the first
    `SHEET_MOST`. Those that are no longer stored or cannot be read are left out; None when that leaves none.
    """
    screens = {}
    for number, reference in [*references.items()][:SHEET_MOST]:
        try:
            screens[number] = await frames.load(reference)
        except KeyError:
            logger.info("the frame %s is not kept any more", reference)
        except OSError as error:
            logger.warning("The screenshot %s is left out of a picture: %s", reference, type(error).__name__)
    try:
        sheet = await asyncio.to_thread(_sheet, screens)
    except (OSError, ValueError, MemoryError) as error:
        logger.warning(
            "Screenshots of several phones could not be combined, so a message has no picture: %s", type(error).__name__
        )
        return None
    return None if sheet is None else Picture("screens.jpg", sheet)


async def screen_picture(frames: Frames, reference: str | None, mark: tuple[int, int] | None = None) -> Picture | None:
    """Return a stored screenshot ready to send, with a ring at the pixel `mark`; None if there is none (any more) or
    it cannot be read.
    """
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
        logger.warning(
            "The screenshot %s could not be drawn, so its message has no picture: %s", reference, type(error).__name__
        )
    return None


def spread(steps: Sequence[StepRow], most: int = RECAP_FRAMES) -> tuple[StepRow, ...]:
    """Return at most `most` of the steps that have a screenshot, evenly spread, including the first and the last."""
    seen = [step for step in steps if step.frame]
    if len(seen) <= most:
        return tuple(seen)
    return tuple(seen[round(number * (len(seen) - 1) / (most - 1))] for number in range(most))


async def make_recap(
    steps: Sequence[StepRow], frames: Frames, *, most_bytes: int = MOST_BYTES, seconds: float = MAKING_SECONDS
) -> Picture | None:
    """Return the steps as an animated GIF; None if fewer than two screenshots are stored and readable, if it exceeds
    `most_bytes` or `seconds`, or if it cannot be made.

    Whatever was hidden on a stored screenshot (secrets) remains hidden.
    """
    deadline = time.monotonic() + seconds
    try:
        async with asyncio.timeout(seconds):
            # As the chat has seen them: with their marks, and most are still in memory.
            drawn = [(step, await screen_picture(frames, step.frame, step.mark)) for step in spread(steps)]
            screens = [(str(step.step), picture.data) for step, picture in drawn if picture is not None]
            if len(screens) < 2:
                return None
            loop = asyncio.get_running_loop()
            data = await loop.run_in_executor(_ONE_AT_A_TIME, _animated, screens, min(most_bytes, MOST_BYTES), deadline)
    except TimeoutError:
        logger.info("a recap was not made within %.0f s and is left out", seconds)
        return None
    except (OSError, ValueError, MemoryError, RuntimeError) as error:
        # RuntimeError: no memory for the thread, either.
        logger.warning("The animated recap of a task could not be made and is left out: %s", type(error).__name__)
        return None
    return None if data is None else Picture("recap.gif", data)


def _animated(screens: Sequence[tuple[str, bytes]], most_bytes: int, deadline: float) -> bytes | None:
    """The GIF of the screens with their steps' numbers, None when it does not fit.

    Raises TimeoutError at the deadline (`time.monotonic`).
    """
    for side in RECAP_LONG_SIDES:
        pictures = []
        for _, data in screens:
            if time.monotonic() > deadline:
                raise TimeoutError
            pictures.append(_small(data, side))
        # Screenshots of a rotated phone are centred on a common canvas.
        size = (max(one.width for one in pictures), max(one.height for one in pictures))
        canvases = [_on_canvas(one, size, number) for one, (number, _) in zip(pictures, screens, strict=True)]
        colours = _palette(canvases)
        pages = [one.quantize(palette=colours, dither=Image.Dither.NONE) for one in canvases]
        target = io.BytesIO()
        times = [FRAME_MS] * (len(pages) - 1) + [LAST_MS]
        # Without Pillow's search for unused colours: it takes longer than all the rest, and saves next to nothing.
        pages[0].save(
            *(target, "GIF"), save_all=True, append_images=pages[1:], duration=times, loop=0, disposal=1, optimize=False
        )
        if target.tell() <= most_bytes:
            return target.getvalue()
    return None


def _small(data: bytes, side: int) -> Image.Image:
    with opened(data) as image:
        _, size = _within(side, *image.size)
        image.draft("RGB", size)  # a JPEG is made smaller while it is read, by a whole number
        return resized(image.convert("RGB"), size)


def _palette(pictures: Sequence[Image.Image]) -> Image.Image:
    """The colours of all of them together: one palette takes a quarter of the time that one for each takes."""
    parts = [one.reduce(PALETTE_PARTS) for one in pictures]
    strip = Image.new("RGB", (sum(one.width for one in parts), parts[0].height))
    left = 0
    for one in parts:
        strip.paste(one, (left, 0))
        left += one.width
    return strip.quantize(COLOURS, method=Image.Quantize.FASTOCTREE)


def _on_canvas(picture: Image.Image, size: tuple[int, int], number: str) -> Image.Image:
    """The screen in the middle, below a strip with its step's number."""
    above = max(16, size[1] // STRIP_PART)
    canvas = Image.new("RGB", (size[0], above + size[1]))
    canvas.paste(picture, ((size[0] - picture.width) // 2, above + (size[1] - picture.height) // 2))
    write_number(canvas, number, (0, 0, size[0], above))
    return canvas


def draw_marks(image: Image.Image | None, screen: Size, marks: Mapping[int, Bounds]) -> bytes:
    """Return a JPEG of the screen with a frame and a number around each of the `marks`, which are in pixels of the
    phone.

    `image` is None if the screen may not be shown; only the frames are drawn then. Blocks for some 20 ms.
    """
    scale, size = _within(LONG_SIDE, screen.width, screen.height)
    canvas = Image.new("RGB", size, _GROUND) if image is None else resized(image.convert("RGB"), size)
    pen = ImageDraw.Draw(canvas)
    height = max(size) // _BADGE_PART
    font = ImageFont.load_default(height * 0.8)
    for box in marks.values():
        edges = tuple(round(side * scale) for side in (box.left, box.top, box.right, box.bottom))
        pen.rectangle(edges, outline=_RING, width=2)
    for number, box in marks.items():
        _badge(pen, str(number), round(box.left * scale), round(box.top * scale), height, font)
    return _jpeg(canvas)


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
    pen.rounded_rectangle((left, top, left + width, top + height), height // 4, fill=_RING, outline=_HALO, width=1)
    pen.text((left + width / 2, top + height / 2), number, fill=_HALO, anchor="mm", font=font)
