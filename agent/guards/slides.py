"""Finds the sliding control under a finger, and the words on and around it.

Apps draw "Slide to pay" on a track or as text around it. Element trees omit elements that have no words and receive no
touch, so these words may be all that is reported of a custom-drawn track.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from agent.guards.touch_target import TouchTarget, is_button, is_row
from devices.geometry import Bounds
from devices.phone import Element, is_slider

REACH: Final = 0.04
"""The share of the screen's height within which words belong to a control. It is at least the control's own height."""
LONG: Final = 3
"""A track is at least this many times longer than thick."""
_AGREEING: Final = ("SlideToActView", "SwipeButton")
_CONFIRMING: Final = re.compile(r"(?:slide|swipe|drag)(?:to|button|confirm|unlock|pay|view\Z)", re.IGNORECASE)
"""Classes of controls that are slid to agree to something; a SeekBar may also just set a value."""
_CALL: Final = re.compile(
    r"answer_?(?:call|button|slider|handle|icon)|incoming_call_puck|slide_to_answer|swipe_to_answer"
)

_Said = list[tuple[Element, str]]


def on_slider(spot: TouchTarget) -> bool:
    """Whether the finger lands on an element that Android reports as a slider."""
    return any(map(_is_slider, _held(spot)))


def is_confirming_slider(spot: TouchTarget) -> bool:
    """Whether the finger lands on a control made for sliding to confirm."""
    return any(_CONFIRMING.search(e.class_name.rsplit(".", 1)[-1]) for e in _held(spot))


def takes_call(spot: TouchTarget) -> bool:
    """Whether the finger lands on the control that answers a call. It is recognised by its id, because most dialers
    give it no words.
    """
    return any(_CALL.search(e.short_id) for e in _held(spot))


def is_made_to_slide(spot: TouchTarget) -> bool:
    """Whether the finger lands on a slider, or on a track or knob without words of its own."""
    return on_slider(spot) or is_confirming_slider(spot) or _drawn(spot) is not None


def words_in_row(spot: TouchTarget) -> _Said:
    """Return pairs of an element and a label at the height where the finger lands, because a slider's words may be on
    it or beside it.
    """
    start = spot.finger
    if start is None:
        return []
    return _said(e for e in spot.around if e.bounds.top <= start.y < e.bounds.bottom and spot.has_small(e))


def words_around(spot: TouchTarget) -> _Said:
    """Return pairs of an element and a label on, above and below the control that is slid, from top to bottom; none if
    nothing is slid.

    A sideways movement may slide any element; other movements only elements made for it.
    """
    box = _slid(spot)
    return [] if box is None else _near(box, spot)


def words_by_end(spot: TouchTarget) -> _Said:
    """Return pairs of an element and a label directly above and below the place where a finger drops what it drags."""
    end = spot.end
    if end is None:
        return []
    here = Bounds(end.x, end.y, end.x + 1, end.y + 1)
    under = [e.bounds for e in spot.around if e.bounds.holds(end) and spot.has_small(e)]
    return _near(min(under, key=lambda box: box.area, default=here), spot)


def _near(box: Bounds, spot: TouchTarget) -> _Said:
    height = spot.size.height if spot.size is not None else max((e.bounds.bottom for e in spot.around), default=0)
    reach = max(min(_sides(box)), round(REACH * height))
    near = (
        e
        for e in spot.around
        if not e.editable
        and e.bounds.left < box.right
        and box.left < e.bounds.right
        and box.top - reach <= e.bounds.bottom
        and e.bounds.top <= box.bottom + reach
        and spot.has_small(e)
    )
    return _said(sorted(near, key=lambda e: (e.bounds.top, e.bounds.left)))


def _slid(spot: TouchTarget) -> Bounds | None:
    """Return the bounds of what is slid, including its track if reported."""
    under, start, end = spot.under, spot.finger, spot.end
    sliders = [e for e in under if _is_slider(e)]
    if sliders:
        return max(sliders, key=lambda e: e.bounds.area).bounds
    if (drawn := _drawn(spot)) is not None:
        return drawn
    if start is None or end is None or abs(end.x - start.x) <= abs(end.y - start.y):
        return None
    here = Bounds(start.x, start.y, start.x + 1, start.y + 1)
    box = min((e.bounds for e in under), key=lambda b: b.area, default=here)
    return Bounds(min(box.left, end.x), box.top, max(box.right, end.x), box.bottom)


def _drawn(spot: TouchTarget) -> Bounds | None:
    """Return the bounds of the custom-drawn track under the finger, where neither track nor knob has words."""
    under = spot.under
    knob = min(under, key=lambda e: e.bounds.area, default=None)
    if knob is None or _speaks(knob) or knob.editable or knob.checkable or is_row(knob, spot.around):
        return None
    wide, high = _sides(knob.bounds)
    tracks = [
        e.bounds
        for e in under
        if e is not knob
        and not is_row(e, spot.around)
        and max(_sides(e.bounds)) >= LONG * max(wide, high)
        and min(_sides(e.bounds)) <= 2 * min(wide, high)
    ]
    if tracks:
        return min(tracks, key=lambda b: b.area)
    holds = any(_speaks(e) and knob.bounds.holds(e.bounds.centre) for e in spot.around)
    return knob.bounds if is_button(knob) and max(wide, high) >= LONG * min(wide, high) and not holds else None


def _speaks(element: Element) -> bool:
    """Whether the element has words; arrows and other symbols do not count."""
    return any(map(str.isalnum, element.label + element.hint))


def _said(elements: Iterable[Element]) -> _Said:
    return [(e, label) for e in elements for label in (e.text, e.description, e.hint) if label]


def _is_slider(element: Element) -> bool:
    return is_slider(element) or element.class_name.endswith(_AGREEING)


def _held(spot: TouchTarget) -> list[Element]:
    """Return everything that the finger lands on, including pages."""
    start = spot.finger
    return [] if start is None else [e for e in spot.around if e.bounds.holds(start)]


def _sides(box: Bounds) -> tuple[int, int]:
    return box.width, box.height
