"""Waiting for a screen to come to rest, by looking at it instead of sleeping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from PIL import Image, ImageChops

from devices.adb.pictures import Frame
from devices.measuring import measured
from devices.small import CELL, small_of

FIRST_CHANGE = 0.5
"""Seconds in which an input shows its first effect, if it has one; a slower one is seen in the next look."""

FIRST_CHANGE_OF_LAUNCH = 1.5
"""The same after an app or an address was opened: its process has to start."""

GAP = 0.1
"""Seconds between two frames that are compared. Closer ones agree in the middle of a slow animation."""

_SAME = 12
"""Levels of brightness that a cell may differ: gradients and dithering move a few."""

_STATUS_BAR = 0.045
"""Share of the longer side that the status bar (clock, signal) takes, cut off."""

_CARET = (2, 14)
"""Cells that a blinking caret covers at most: upright and thin."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A small luma picture of a screen without its status bar, for comparing."""

    luma: Image.Image
    size: tuple[int, int]

    @classmethod
    def of(cls, image: Image.Image) -> Probe:
        """The probe of a picture of the screen."""
        return cls.of_small(small_of(image), image.size)

    @classmethod
    def of_small(cls, small: Image.Image, size: tuple[int, int]) -> Probe:
        """The same of what there is in the small; `size` is that of the screen."""
        bar = min(-(-round(max(size) * _STATUS_BAR) // CELL), small.height - 1)
        return cls(small.crop((0, bar, small.width, small.height)), size)

    def same_as(self, other: Probe) -> bool:
        """Whether both show the same; a caret alone is no difference."""
        if self.size != other.size:
            return False
        box = ImageChops.difference(self.luma, other.luma).point(lambda level: 255 if level > _SAME else 0).getbbox()
        if box is None:
            return True
        left, top, right, bottom = box
        return right - left <= _CARET[0] and bottom - top <= _CARET[1] and bottom - top > right - left


@dataclass(frozen=True, slots=True)
class Rest:
    """The last frame, and whether the screen had come to rest when it was taken."""

    frame: Frame
    settled: bool


@measured("settle")
async def settle(
    capture: Callable[[], Awaitable[Frame]],
    before: Probe,
    *,
    first_change: float,
    patience: float,
    glance: bool = False,
    shown: Callable[[Frame, bool], None] = lambda _frame, _new: None,
) -> Rest:
    """Captures until the screen rests: first a change against `before`, then two frames in a row that agree.

    A screen that does not change within `first_change` seconds rests already. Ends after `patience` seconds with what
    there is; with `glance`, at the first frame when that shows a change. `shown` is called with each frame that the
    loop goes on from, and whether it is another than the one before. Raises what `capture` raises.
    """
    began = time.monotonic()
    previous = before
    changed = False
    while True:
        taken = time.monotonic()
        frame = await capture()
        probe = Probe.of_small(frame.small, frame.image.size)
        same = probe.same_as(previous)
        now = time.monotonic()
        if same and (changed or now - began >= first_change):
            return Rest(frame, settled=True)
        if glance and not same:
            return Rest(frame, settled=False)
        glance = False
        changed = changed or not same
        shown(frame, not same)
        if now - began >= patience:
            return Rest(frame, settled=False)
        previous = probe
        await asyncio.sleep(max(0.0, taken + GAP - now))
