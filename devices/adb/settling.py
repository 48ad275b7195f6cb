"""Waits until a screen has come to rest or a loading screen is over, by comparing pictures instead of sleeping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageChops

from devices.adb.screenshots import Frame, Wanted
from devices.geometry import Size
from devices.measuring import measured
from devices.phone import Element
from devices.pictures import CELL, thumbnail_of

FIRST_CHANGE = 0.5
"""Seconds in which an input shows its first effect, if it has one; a slower one is seen by the next observation."""

FIRST_CHANGE_OF_LAUNCH = 1.5
"""The same after opening an app or address, whose process must start."""

GAP = 0.1
"""Seconds between two compared frames. Closer ones look equal in the middle of a slow animation."""

_SAME = 12
"""Brightness levels by which a cell may differ: gradients and dithering change a few."""

_STATUS_BAR = 0.045
"""The share of the longer side that is cut off as status bar (clock, signal)."""

_CARET = (2, 14)
"""The maximum cells that a blinking caret covers, upright and thin."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A small brightness picture of a screen without its status bar, for comparing screens. `size` is the screen's in
    pixels.
    """

    luma: Image.Image
    size: Size

    @classmethod
    def of(cls, image: Image.Image) -> Probe:
        """Return the probe of a screenshot, by making its thumbnail."""
        return cls.of_thumbnail(thumbnail_of(image), Size(*image.size))

    @classmethod
    def of_thumbnail(cls, thumbnail: Image.Image, size: Size) -> Probe:
        """Return the probe of a screenshot's thumbnail; `size` is the screen's in pixels."""
        bar = min(-(-round(max(size.width, size.height) * _STATUS_BAR) // CELL), thumbnail.height - 1)
        return cls(thumbnail.crop((0, bar, thumbnail.width, thumbnail.height)), size)

    def same_as(self, other: Probe) -> bool:
        """Return whether both screens look the same, ignoring a blinking caret."""
        if self.size != other.size:
            return False
        box = ImageChops.difference(self.luma, other.luma).point(lambda level: 255 if level > _SAME else 0).getbbox()
        if box is None:
            return True
        left, top, right, bottom = box
        return right - left <= _CARET[0] and bottom - top <= _CARET[1] and bottom - top > right - left


async def end(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait until it has released the phone, ignoring its failure."""
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # retrieve it so that asyncio does not warn


@dataclass(frozen=True, slots=True)
class Rest:
    """The result of `settle`: the latest frame, and whether the screen had come to rest."""

    frame: Frame
    settled: bool


@measured("settle")
async def settle(
    capture: Callable[[Wanted], Awaitable[Frame]],
    before: Probe,
    *,
    first_change: float,
    patience: float,
    glance: bool = False,
    paired: bool = False,
    shown: Callable[[Frame, bool], None] = lambda _frame, _new: None,
    clock: Callable[[], float] = time.monotonic,
) -> Rest:
    """Capture frames until the screen rests: first a change against `before`, then two equal frames in a row.

    - `first_change`: Seconds after which a screen without any change counts as at rest. The deciding frame must have
      begun in the second half of that time or later.
    - `patience`: Seconds after which it ends in any case, with the latest frame.
    - `glance`: Whether it ends at the first frame already if that shows a change.
    - `paired`: Whether the second capture begins `GAP` after the first even if that is still running, because most
      screens are at rest by then and a frame may take a quarter of a second.
    - `shown`: Called with each frame that the loop continues from, and whether it differs from the one before.

    Raises what `capture` raises. The full picture takes most of a frame's processor time, so it is made only if a
    frame shows something new or may be the last.
    """
    began = clock()
    previous = before
    changed = False
    last: Frame | None = None

    def wanted(thumbnail: Image.Image, size: Size) -> bool:
        over = not changed and clock() - began >= min(first_change, patience)
        return over or not Probe.of_thumbnail(thumbnail, size).same_as(previous)

    async def captured(pause: float) -> tuple[float, Frame]:
        await asyncio.sleep(pause)
        return clock(), await capture(wanted)

    second = asyncio.create_task(captured(GAP)) if paired else None
    ahead = [second] if second is not None else []
    coming: Awaitable[tuple[float, Frame]] = captured(0.0)
    try:
        while True:
            taken, frame = await coming
            probe = Probe.of_thumbnail(frame.thumbnail, frame.size)
            same = probe.same_as(previous)
            now = clock()
            last = frame if frame.shows else last
            # A slow frame may show the state before the effect: one that began so early proves nothing.
            late = now - began >= first_change and taken - began >= first_change / 2
            if last is not None and same and (changed or late):
                return Rest(last, settled=True)
            if glance and not same:
                return Rest(frame, settled=False)
            glance = False
            changed = changed or not same
            shown(frame, not same)
            if last is not None and now - began >= patience:
                return Rest(last, settled=False)
            previous = probe
            coming = ahead.pop() if ahead else captured(max(0.0, taken + GAP - now))
    finally:
        if second is not None:
            await end(second)


WORDS = frozenset(
    {"loading", "please wait", "just a moment", "one moment", "wait a moment"}
    | {"加载中", "正在加载", "请稍候", "请稍等", "载入中"}
)
BAR = "android.widget.ProgressBar"
"""A spinner, or a bar without a number; if it moves, that is seen anyway."""
MOST_LABELS = 6
"""The maximum other labels of a loading screen: a title, a way back, an address. A player or list has more."""


def loads(elements: tuple[Element, ...] | None) -> bool:
    """Return whether the elements look like a loading screen: a sign of loading, and little else."""
    if not elements:
        return False
    signs = [e for e in elements if e.class_name == BAR or e.label.strip(" .…").casefold() in WORDS]
    labels = {e.label for e in elements if e.label}
    return bool(signs) and len(labels) <= MOST_LABELS
