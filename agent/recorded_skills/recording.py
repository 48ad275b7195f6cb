"""Converts the actions of a run to their recorded form, from which a skill can be made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from agent.guards.binding import words_of
from agent.recorded_skills.anchors import anchor_of, control_of, is_chosen_of_many, landmarks_of, place_of_words
from agent.recorded_skills.step_record import RecordedAction
from devices.geometry import Point
from devices.phone import Element, Observation

MOST_READ: Final = 5
"""How many labels one note or result may consist of to be read again by code. A longer one is a text that a model has
to write.
"""
SIDEWAYS: Final = re.compile("Horizontal|Pager|SeekBar|Gallery")
"""Class names of lists that scroll sideways or hold a value."""
MOST_SLANT: Final = 3
"""A scroll must go at least this many times farther up or down than sideways."""


def recorded(
    action: Mapping[str, Any],
    seen: Observation | None,
    target: Element | None,
    *,
    touches: bool,
    seconds: float = 0.0,
    looks_up: bool = False,
) -> RecordedAction:
    """Return an action in its recorded form.

    `seen` is the screen it was done on, with secrets covered, and `target` the touched element. `touches` says whether
    the action touches the screen, `seconds` is how long the action and the wait for its effect took, and `looks_up`
    says whether it is a tool that only looks something up.
    """
    plain = {key: value for key, value in action.items() if key not in {"target", "readings"}}
    if seen is None:
        return RecordedAction(action=plain, touches=touches, looks_up=looks_up)
    if target is None and plain["kind"] == "type":
        target = next((e for e in seen.elements or () if e.focused and e.editable), None)
    if target is not None:
        target = control_of(target, seen)
    marks = landmarks_of(seen, target)
    return RecordedAction(
        action=plain,
        package=seen.package,
        activity=seen.activity,
        anchor=None if target is None else anchor_of(target, seen),
        touches=touches,
        landmarks=marks,
        chosen=target is not None and is_chosen_of_many(target, seen),
        dialog=_is_dialog(seen),
        looks_up=looks_up,
        seconds=round(seconds, 2),
    )


def recorded_words(action: Mapping[str, Any], text: str, seen: Observation) -> RecordedAction:
    """Return a note or the end of the work in recorded form, with the places of its words on the screen if all of them
    are labels. `text` are these words.
    """
    made = recorded(action, seen, None, touches=False)
    lines = [line for each in text.splitlines() if (line := " ".join(each.split()))]
    said = [[e for e in seen.elements or () if words_of(e) == line and not e.editable] for line in lines[:MOST_READ]]
    places = [place_of_words(found[0], seen) if len(found) == 1 else None for found in said]
    told = tuple(place for place in places if place is not None)
    if len(told) < len(lines):
        return made.model_copy(update={"touches": True})
    return made.model_copy(update={"reads": told})


def as_scroll(start: Point, end: Point, seen: Observation) -> str | None:
    """Return the direction of the scroll that a swipe performed ("down" or "up"); None for any other swipe.

    A finger that moves up or down inside the largest list scrolls it. A sideways one may swipe a row away, and any
    other may open or set something.
    """
    lists = [e for e in seen.elements or () if e.scrollable]
    largest = max(lists, key=lambda e: e.bounds.clipped(seen.size).area, default=None)
    across, down = abs(end.x - start.x), end.y - start.y
    if largest is None or not (largest.bounds.holds(start) and largest.bounds.holds(end)):
        return None
    if SIDEWAYS.search(largest.class_name) or abs(down) < MOST_SLANT * across or not down:
        return None
    return "down" if down < 0 else "up"


def _is_dialog(seen: Observation) -> bool:
    elements = [e for e in seen.elements or () if words_of(e) or e.clickable]
    return bool(elements) and any("alertTitle" in e.resource_id or "parentPanel" in e.resource_id for e in elements)
