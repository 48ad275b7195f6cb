"""Finds the pictures that an approval is about but no words describe, such as a photo to delete or a
message's preview.
"""

from __future__ import annotations

import re
from typing import Final

from agent.guards.binding import ApprovalContext, picture_of, same_picture, whole_screen
from agent.guards.structure import is_drawn
from devices.geometry import Bounds
from devices.phone import Element, Observation

_CLASSES: Final = re.compile(r"Image|Photo|Picture|Thumb|Video|Surface|Texture")
SMALLEST_SHARE: Final = 0.006
"""Pictures below this share of the screen are avatars and icons, which are ignored because they come and go."""
LEAF_SHARE: Final = 0.04
"""An element without words and children counts as a picture from this share of the screen on."""
PAGE_SHARE: Final = 0.1
"""A picture is what the page is about from this share of the screen on."""
REACH: Final = 0.2
"""A picture belongs to a control if it is within this share of the screen's height."""
MOST: Final = 8
CELLS: Final = 16
"""How many cells per side a picture is reduced to before it is compared; another photo differs in some of them."""


def shown_pictures(
    seen: Observation, near: ApprovalContext, target: Element | None, before: Observation | None = None
) -> list[str | None]:
    """Return the pictures that a touch of `target` is about, in the form of `picture_of`: those of its dialog or row
    from top to bottom or, on a page, those that the page is about.

    A picture that had already changed on its own since the observation `before` is replaced by None.
    """
    boxes = _boxes(seen, near, target)
    now = [picture_of(seen, box, cells=CELLS) for box in boxes]
    if before is None:
        return now
    then = [picture_of(before, box, cells=CELLS) for box in boxes]
    return [new if new and old and same_picture(old, new) else None for old, new in zip(then, now, strict=True)]


def same_pictures(approved: list[str | None], now: list[str | None]) -> bool:
    """Whether the pictures are still those that were approved. An approved None matches anything."""
    if len(approved) != len(now):
        return False
    pairs = zip(approved, now, strict=True)
    return all(old is None or (new is not None and same_picture(old, new)) for old, new in pairs)


def _boxes(seen: Observation, near: ApprovalContext, target: Element | None) -> list[Bounds]:
    if target is None:
        return []
    screen = seen.size.width * seen.size.height
    part = near.window if near.kind == "page" else near.near
    found = [e for e in part if e is not target and _is_picture(e, part, screen)]
    if near.kind == "page":
        found = [e for e in found if _is_about(e, target, seen)]
    if is_drawn(target):
        found.append(target)
    found = sorted(found, key=lambda e: e.bounds.area, reverse=True)[:MOST]
    whole = whole_screen(seen)
    boxes = [
        Bounds(b.left, max(b.top, whole.top), b.right, b.bottom).clipped(seen.size) for b in (e.bounds for e in found)
    ]
    return sorted((box for box in boxes if box.area), key=lambda box: (box.top, box.left))


def _is_picture(element: Element, window: tuple[Element, ...], screen: int) -> bool:
    if element.editable or element.scrollable or element.bounds.area < SMALLEST_SHARE * screen:
        return False
    if _CLASSES.search(element.class_name.rsplit(".", 1)[-1]):
        return True
    if element.label or element.bounds.area < LEAF_SHARE * screen:
        return False
    return not any(e is not element and element.bounds.holds(e.bounds.centre) for e in window)


def _is_about(picture: Element, target: Element, seen: Observation) -> bool:
    """Whether a picture is what the page is about, is selected, or is near the control."""
    if picture.bounds.area >= PAGE_SHARE * seen.size.width * seen.size.height or picture.checked or picture.selected:
        return True
    gap = max(target.bounds.top - picture.bounds.bottom, picture.bounds.top - target.bounds.bottom)
    return gap <= REACH * seen.size.height
