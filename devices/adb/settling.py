"""Waiting for a screen to come to rest, or for a loading screen to go, by looking at it instead of sleeping."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from PIL import Image, ImageChops

from devices.adb.pictures import Frame, Wanted
from devices.geometry import Size
from devices.measuring import measured
from devices.phone import Element
from devices.resizing import CELL, thumbnail_of

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
    size: Size

    @classmethod
    def of(cls, image: Image.Image) -> Probe:
        """The probe of a picture of the screen."""
        return cls.of_thumbnail(thumbnail_of(image), Size(*image.size))

    @classmethod
    def of_thumbnail(cls, thumbnail: Image.Image, size: Size) -> Probe:
        """The probe of a thumbnail that there is already; `size` is that of the screen."""
        bar = min(-(-round(max(size.width, size.height) * _STATUS_BAR) // CELL), thumbnail.height - 1)
        return cls(thumbnail.crop((0, bar, thumbnail.width, thumbnail.height)), size)

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
    """A frame with its picture that shows the screen as it was last, and whether that had come to rest."""

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
    """Captures until the screen rests: first a change against `before`, then two frames in a row that agree.

    A screen that does not change within `first_change` seconds rests already, when a frame shows it that was begun in
    the second half of them or later. Ends after `patience` seconds with what there is; with `glance`, at the first
    frame when that shows a change. `shown` is called with each frame that the loop goes on from, and whether it is
    another than the one before. Raises what `capture` raises.

    With `paired` the second capture begins GAP after the first, also while that is still on its way: most screens stand
    still by then, and a frame may take a quarter of a second.

    More than the thumbnail, which takes most of a frame's processor time, is made of a frame that shows something
    new, and of one after so long that it may be the last.
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
            # A frame that took long may show how it was before the effect: one begun that early proves nothing.
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
            second.cancel()
            await asyncio.wait({second})
            if not second.cancelled():
                second.exception()  # it was of no interest any more


@dataclass(frozen=True, slots=True)
class Watched:
    """A screen that is waited for: how it is captured, what it showed before, and the seconds of `settle`."""

    capture: Callable[[Wanted], Awaitable[Frame]]
    before: Probe
    first_change: float
    patience: float

    async def rest(
        self, *, glance: bool, shown: Callable[[Frame, bool], None], clock: Callable[[], float], paired: bool = False
    ) -> Rest:
        """See `settle`."""
        return await settle(
            self.capture,
            self.before,
            first_change=self.first_change,
            patience=self.patience,
            glance=glance,
            paired=paired,
            shown=shown,
            clock=clock,
        )


WORDS = frozenset(
    {"loading", "please wait", "just a moment", "one moment", "wait a moment"}
    | {"加载中", "正在加载", "请稍候", "请稍等", "载入中"}
)
BAR = "android.widget.ProgressBar"
"""A circle that turns, or a bar without a number; one that moves is seen by itself."""
MOST_LABELS = 6
"""What else such a screen has: a title, a way back, an address. A player or a list with a bar in it has more."""


def loads(elements: tuple[Element, ...] | None) -> bool:
    """Whether there is a sign of loading and little beside it."""
    if not elements:
        return False
    signs = [e for e in elements if e.class_name == BAR or e.label.strip(" .…").casefold() in WORDS]
    labels = {e.label for e in elements if e.label}
    return bool(signs) and len(labels) <= MOST_LABELS
