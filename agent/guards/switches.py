"""Finds the words that say what a switch, checkbox or radio button turns on or off."""

from __future__ import annotations

from agent.guards.touch_target import LARGE_SHARE, TouchTarget, beside, has_state, is_button
from devices.phone import Element


def words_of_switch(touched: Element, spot: TouchTarget) -> tuple[str, ...]:
    """Return the words in the row or line of a control with two states; none if the touch toggles nothing."""
    most = LARGE_SHARE * spot.area
    if not has_state(touched) and (
        touched.bounds.area > most
        or not any(has_state(e) and touched.bounds.holds(e.bounds.centre) for e in spot.around)
    ):
        return ()
    rows = [
        e
        for e in spot.around
        if is_button(e) and e is not touched and e.bounds.area <= most and e.bounds.holds(touched.bounds.centre)
    ]
    row = min(rows, key=lambda e: e.bounds.area, default=touched)
    line = [e for e in spot.around if e.label and not e.editable and row.bounds.holds(e.bounds.centre)]
    if not line or row is touched:
        line += [e for e in spot.around if e.label and not e.editable and not is_button(e) and beside(touched, e)]
    return tuple(dict.fromkeys(label for e in (touched, *line) for label in (e.text, e.description) if label))
