"""The recap of a run: its marked steps as one small moving picture, bounded in frames, bytes and time."""

from __future__ import annotations

import asyncio
import io
import logging
import time
from collections.abc import Sequence

from PIL import Image

from agent.ports.frames import Frames
from bot.cards.picture import STRIP_PART, screen_picture, write_number
from bot.domain.outgoing import Picture
from bot.domain.task import StepRow
from devices.opening import opened
from devices.resizing import resized
from devices.threads import ThreadPool

FRAMES = 24
"""Steps that are shown at most, spread evenly over the run; the last one is always among them."""
LONG_SIDES = (512, 384, 256)
"""Pixels; the next smaller one where the bytes do not do. The first is half of what was shown, and so read quickly."""
COLOURS = 255
"""The same for all screens: one more than that is what shines through."""
PALETTE_PARTS = 4
"""The palette is made from the screens at a quarter of their width and height."""
FRAME_MS = 900
LAST_MS = 2500
MOST_BYTES = 3_000_000
"""Small enough to start at once on a phone, and far below every chat's limit."""
MAKING_SECONDS = 4.0
"""After that the final message goes out without a recap: it never waits longer for it."""

logger = logging.getLogger(__name__)
_ONE_AT_A_TIME = ThreadPool(1, "recap")
"""Many tasks that end at once do not take every processor."""


def spread(steps: Sequence[StepRow], most: int = FRAMES) -> tuple[StepRow, ...]:
    """At most so many of the steps that have a screen, evenly, with the first and the last."""
    seen = [step for step in steps if step.frame]
    if len(seen) <= most:
        return tuple(seen)
    return tuple(seen[round(number * (len(seen) - 1) / (most - 1))] for number in range(most))


async def make_recap(
    steps: Sequence[StepRow], frames: Frames, *, most_bytes: int = MOST_BYTES, seconds: float = MAKING_SECONDS
) -> Picture | None:
    """The steps as an animated GIF; None where fewer than two screens are kept, or the limits do not suffice.

    What was hidden on a stored screen (secrets) stays hidden, and a screen that forbids pictures has none.
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
        logger.warning("a recap cannot be made: %s", type(error).__name__)
        return None
    return None if data is None else Picture("recap.gif", data)


def _animated(screens: Sequence[tuple[str, bytes]], most_bytes: int, deadline: float) -> bytes | None:
    """The GIF of the screens with their steps' numbers, None when it does not fit.

    Raises TimeoutError at the deadline (`time.monotonic`).
    """
    for side in LONG_SIDES:
        pictures = []
        for _, data in screens:
            if time.monotonic() > deadline:
                raise TimeoutError
            pictures.append(_small(data, side))
        # Screens of a phone that was turned stand in the middle of one canvas.
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
    """The screen at its small size."""
    with opened(data) as image:
        scale = min(1.0, side / max(image.size))
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
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
