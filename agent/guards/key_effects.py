"""Determines which button an action presses, whatever the action is called: by a finger that stays on the button, or by
keys.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent import actions as act
from agent.guards.touch_target import LARGE_SHARE, TouchTarget, is_button
from devices.geometry import Bounds
from devices.inputs import Key, keys_in
from devices.phone import Element

SLOP = 32
"""How many pixels a finger may leave a button and still press it. It is Android's touch slop of 8 dp
(`ViewConfiguration.TOUCH_SLOP`) at 640 dpi, the maximum of phones.
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys in an action that press the focused element.

    `enter` and `space` say whether the action has these keys; a space is a mere character in a field. `moved` means
    that a tab comes before them, so that it is unknown which element has the focus.
    """

    enter: bool = False
    space: bool = False
    moved: bool = False


def keys_of(action: act.Action) -> Keys:
    """Return which of the keys that press the focused element (Enter and space) an action has, also in the text that it
    types.
    """
    match action:
        case act.PressKey(key=Key.ENTER) | act.EnterSecret(submit=True):
            return Keys(enter=True)
        case act.Type(text=text, submit=submit):
            _, tab, after = text.partition("\t")
            space = " " in text
            return Keys(
                enter=submit or Key.ENTER in keys_in(text), space=space, moved=bool(tab) and (submit or bool(after))
            )
        case _:
            return Keys()


def stays(spot: TouchTarget) -> bool:
    """Whether the finger moves so little that Android treats it as a touch."""
    start, end = spot.point, spot.end
    return start is not None and end is not None and max(abs(start.x - end.x), abs(start.y - end.y)) <= SLOP


def stays_on_button(spot: TouchTarget) -> bool:
    """Whether the finger lands on and leaves from the same button, which presses it however the finger moved in
    between.

    A list around the button might take over such a movement; that cannot be known here.
    """
    start, end = spot.point, spot.end
    if start is None or end is None:
        return False
    buttons = [e for e in spot.around if is_button(e) and not e.editable and _is_small(e, spot)]
    return any(e.bounds.holds(start) and _wider(e.bounds).holds(end) for e in buttons)


def focused_button(spot: TouchTarget) -> Element | None:
    """Return the focused button, which keys press; None if nothing, a field or a whole page has the focus."""
    focused = [e for e in spot.around if e.focused and _is_small(e, spot)]
    if any(e.editable for e in focused):
        return None
    return next((e for e in focused if is_button(e)), None)


def _is_small(element: Element, spot: TouchTarget) -> bool:
    """Whether the element is small enough not to be a page."""
    return element.bounds.area <= LARGE_SHARE * spot.area


def _wider(box: Bounds) -> Bounds:
    return Bounds(box.left - SLOP, box.top - SLOP, box.right + SLOP, box.bottom + SLOP)
