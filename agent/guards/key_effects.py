"""What an action presses, by whatever name it goes: a finger that stays on a button, and keys that reach one."""

from __future__ import annotations

from dataclasses import dataclass

from agent import actions as act
from agent.guards.touch_target import LARGE_SHARE, TouchTarget, is_button
from devices.geometry import Bounds
from devices.inputs import Key, keys_in
from devices.phone import Element

SLOP = 32
"""Pixels that a finger may stray from a button and press it all the same: Android's touch slop of 8 dp
(`ViewConfiguration.TOUCH_SLOP`) at 640 dpi, the most that phones have.
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of an action that press what has the focus.

    `space` presses a button, and is a letter in a field. `moved` says that a tab stands before them: then nobody knows
    what has the focus.
    """

    enter: bool = False
    space: bool = False
    moved: bool = False


def keys_of(action: act.Action) -> Keys:
    """The keys that come with an action."""
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
    """Whether the finger hardly moves: Android takes that for a touch."""
    start, end = spot.point, spot.end
    return start is not None and end is not None and max(abs(start.x - end.x), abs(start.y - end.y)) <= SLOP


def stays_on_button(spot: TouchTarget) -> bool:
    """Whether the finger leaves the screen on the button that it came down on: that presses it, however it moved.

    Only a list around the button takes such a touch away from it, and nobody can tell from here whether it does.
    """
    start, end = spot.point, spot.end
    if start is None or end is None:
        return False
    buttons = [e for e in spot.around if is_button(e) and not e.editable and _is_small(e, spot)]
    return any(e.bounds.holds(start) and _wider(e.bounds).holds(end) for e in buttons)


def focused_button(spot: TouchTarget) -> Element | None:
    """The button that has the focus, which keys press; None while a field has it, or a whole page."""
    focused = [e for e in spot.around if e.focused and _is_small(e, spot)]
    if any(e.editable for e in focused):
        return None
    return next((e for e in focused if is_button(e)), None)


def _is_small(element: Element, spot: TouchTarget) -> bool:
    """Whether it is no page."""
    return element.bounds.area <= LARGE_SHARE * spot.area


def _wider(box: Bounds) -> Bounds:
    return Bounds(box.left - SLOP, box.top - SLOP, box.right + SLOP, box.bottom + SLOP)
