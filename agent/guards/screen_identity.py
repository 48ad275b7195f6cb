"""Decides for the loop guard whether two observations of the phone show the same screen, ignoring clocks and small
movements.
"""

from __future__ import annotations

import re

from PIL import Image, ImageChops, ImageStat

from agent.effects import STATUS_BAR_SHARE, hash_text
from devices.phone import Element, Observation

SMALL = (54, 120)
MOVED_MEAN = 4.0
"""The mean difference of two small grey pictures (0–255) from which an action counts as having an effect although no
word changed, for example in a map or drawing. A banner or a second hand stays below.
"""
SCROLLED_MEAN = 0.8
"""The same threshold after a scroll, which may do no more than move a picture."""
_SECONDS = re.compile(r"\b\d{1,2}:\d{2}:\d{2}\b")
_CLOCKS = ("clock", "chronometer")


def screen_word(seen: Observation) -> str:
    """Return a digest of the screen that stays the same while only clocks change."""
    top = seen.size.height * STATUS_BAR_SHARE
    below = [e for e in seen.elements or () if e.bounds.centre.y > top]
    words = sorted({_SECONDS.sub("", " ".join(e.label.split())) for e in below if e.label and not _is_clock(e)})
    states = "".join(f"{e.checked:d}{e.selected:d}" for e in below if e.checkable or e.selected)
    focus = next((f"{e.resource_id}{e.bounds}" for e in below if e.focused), "")
    image = _coarse(seen.thumbnail) if seen.thumbnail is not None and not words else ""
    told = [seen.package, seen.activity, str(seen.rotation), *words, states, focus, str(seen.keyboard_shown), image]
    return hash_text("\n".join(told))


def moved(before: Observation, after: Observation, *, least: float) -> bool:
    """Whether the pictures of two observations differ by more than `least` (mean grey value, 0–255), ignoring the
    status bar. False if there are no pictures or the screens differ in size.
    """
    if before.thumbnail is None or after.thumbnail is None or before.size != after.size:
        return False
    difference = ImageChops.difference(_thumb(before.thumbnail), _thumb(after.thumbnail))
    return ImageStat.Stat(difference).mean[0] > least


def _is_clock(element: Element) -> bool:
    name = f"{element.resource_id} {element.class_name}".lower()
    return any(clock in name for clock in _CLOCKS) and bool(re.search(r"\d", element.label))


def _thumb(thumbnail: Image.Image) -> Image.Image:
    top = int(thumbnail.height * STATUS_BAR_SHARE)
    return thumbnail.resize(SMALL, Image.Resampling.BOX, box=(0, top, thumbnail.width, thumbnail.height))


def _coarse(thumbnail: Image.Image) -> str:
    coarse = _thumb(thumbnail).resize((12, 16), Image.Resampling.BOX)
    return bytes(value >> 4 for value in coarse.tobytes()).hex()
