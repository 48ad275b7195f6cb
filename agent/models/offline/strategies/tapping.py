"""Tap: something with a label, or a row of a list."""

from __future__ import annotations

from agent.actions import DoubleTap, LongPress, WaitFor
from agent.actions import Tap as TapAction
from agent.models.offline.clauses import Gesture, Tap
from agent.models.offline.moves import Act, Done, Move
from agent.models.offline.page import Several
from agent.models.offline.strategies.looking import look_further
from agent.models.offline.view import View, on
from agent.scene import ScreenElement

PATIENCE_S = 5.0
"""Seconds for a touch to show an effect, beyond those that the driver waits."""
MAX_REJECTED = 2
_UNCONFIRMED = "did not confirm"


def tap_next(clause: Tap, view: View) -> Move:
    """Touch once, and see that something changed."""
    return touch(view, clause.label, nth=clause.nth, gesture=clause.gesture)


def touch(view: View, label: str, *, nth: int = 0, gesture: Gesture = "tap") -> Move:
    """Find it, touch it once, wait for an effect. What had none, or may have had one, is not touched again."""
    name = label or str(nth)
    taps = view.staged("tap")
    if taps and taps[-1].worked:
        if taps[-1].moved or any(step.moved for step in view.since("tap")):
            return Done()
        if not view.worked("settle"):
            return view.act(WaitFor(what="change", seconds=PATIENCE_S), "settle", "waiting")
        return view.stuck("no_effect", name=name)
    if taps and (taps[-1].uncertain or not view.told or any(_UNCONFIRMED in told for told in view.told)):
        return view.stuck("uncertain", name=name)
    if len(taps) >= MAX_REJECTED:
        return view.stuck("not_found", name=name)
    target = _row(view, nth) if nth else view.page.find(label, such=view.page.tappable)
    if isinstance(target, Several):
        return view.stuck("several", name=name, texts=", ".join(target.texts))
    if target is None:
        further = None if nth else look_further(view, name)
        return further or (view.stuck("no_list", number=name) if nth else view.stuck("not_found", name=name))
    return touched(view, target, gesture)


def touched(view: View, target: ScreenElement, gesture: Gesture = "tap", *, stage: str = "tap") -> Act:
    """The touch on this element."""
    actions = {"tap": TapAction, "double_tap": DoubleTap, "long_press": LongPress}
    return view.act(actions[gesture](target=on(target)), stage, "tapping", name=target.text)


def _row(view: View, nth: int) -> ScreenElement | None:
    """The label of a row: a rule about labels would not see an area without one."""
    rows = view.page.rows
    position = nth - 1 if nth > 0 else nth
    return rows[position].title if -len(rows) <= position < len(rows) else None
