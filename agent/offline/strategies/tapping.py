"""The strategies for opening an app by one of its names, and for touching something by its label or a row of a list,
also if it is out of sight at first.
"""

from __future__ import annotations

from dataclasses import replace

from agent.actions import DoubleTap, LongPress, OpenApp, PressKey, Scroll, WaitFor
from agent.actions import Tap as TapAction
from agent.offline.clauses import Gesture, Open, Tap
from agent.offline.matching import SAME, folded, is_chinese, likeness
from agent.offline.view import Act, Done, Move, Several, Stuck, View, on
from agent.offline.vocabulary import labels
from agent.scene import ScreenElement
from devices.inputs import Key

MAX_LOOKS = 8
"""The maximum number of screens in one direction. For longer lists, the app's own search should be used."""


def look_further(view: View, name: str) -> Act | None:
    """Return the next action of looking for something; None if everything was looked at or nothing scrolls. `name` is
    what is looked for, for the task's card in the chat.
    """
    steps = view.since("open", "back", "tap")
    if view.page.keyboard and not any(step.stage == "keyboard" for step in steps):
        return view.act(PressKey(key=Key.BACK), "keyboard", "hiding_keyboard")
    if not view.page.scrollable:
        return None
    downs = [step for step in steps if step.stage == "lookdown"]
    ups = [step for step in steps if step.stage == "lookup"]
    if not ups and len(downs) < MAX_LOOKS and all(step.moved for step in downs):
        return view.act(Scroll(direction="down"), "lookdown", "looking", name=name)
    if len(ups) < len(downs) + MAX_LOOKS and all(step.moved for step in ups):
        return view.act(Scroll(direction="up"), "lookup", "looking", name=name)
    return None


PATIENCE_S = 5.0
"""Seconds to wait for the effect of a touch, after those that the driver has already waited."""
MAX_REJECTED = 2


def tap_next(clause: Tap, view: View) -> Move:
    """Return the next move of a tap clause: touches once, and checks that something changed."""
    return touch(view, clause.label, nth=clause.nth, gesture=clause.gesture)


def touch(view: View, label: str, *, nth: int = 0, gesture: Gesture = "tap") -> Move:
    """Return the next move towards touching something: looks for it, touches it once, and waits for an effect.

    It is found by `label` or, if `nth` is not 0, as that row of the list. It is not touched again after a touch that
    had no effect or may have had one.
    """
    name = label or str(nth)
    taps = view.staged("tap")
    if taps and taps[-1].worked:
        if taps[-1].moved or any(step.moved for step in view.since("tap")):
            return Done()
        if not view.worked("settle"):
            return view.act(WaitFor(what="change", seconds=PATIENCE_S), "settle", "waiting")
        return view.stuck("no_effect", name=name)
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
    """Return the action that touches this element. `stage` is the purpose by which the step is recognised later."""
    actions = {"tap": TapAction, "double_tap": DoubleTap, "long_press": LongPress}
    return view.act(actions[gesture](target=on(target)), stage, "tapping", name=target.text)


def _row(view: View, nth: int) -> ScreenElement | None:
    """Return the label of a row. The area around it has no words, so the rules about labels would not recognise it."""
    rows = view.page.rows
    position = nth - 1 if nth > 0 else nth
    return rows[position].title if -len(rows) <= position < len(rows) else None


def names_of(name: str) -> tuple[str, ...]:
    """Return the given name, followed by the other names of the same thing."""
    same = [group for group in labels().same if folded(name) in map(folded, group)]
    return tuple(dict.fromkeys([name, *(other for group in same for other in group if folded(other) != folded(name))]))


def launch(view: View, names: tuple[str, ...]) -> Act | Stuck:
    """Return the action that opens an app by the next of its names that was not tried yet; Stuck if all were tried."""
    failed = sum(not step.worked for step in view.staged("open"))
    if failed >= len(names):
        return _not_opened(view, names[0])
    shown = next((name for name in names if is_chinese(name) == view.chinese), names[0])
    return view.act(OpenApp(name=names[failed]), "open", "opening", name=shown)


def _not_opened(view: View, name: str) -> Stuck:
    """Return that the app was not opened. If the phone does not have it, offer to look it up."""
    if not view.unknown_app:
        return view.stuck("not_open", name=name)
    return replace(view.stuck("no_app", name=name), near=(view.words("look_up", name=name),))


def launch_known(view: View, kind: str) -> Act | Stuck:
    """Return the action that opens an app of this kind, such as "browser" (see [apps] in labels.toml)."""
    return launch(view, labels().apps[kind])


def open_next(clause: Open, view: View) -> Move:
    """Return the next move of an open clause.

    The name is that of an app, or of a page that is known to be in one. If an app is open already, something on the
    screen with exactly this name is touched first.
    """
    inside = view.index > 0 and not view.page.at_launcher
    page = next((place for place in labels().places if place.page and likeness(clause.name, place.page) >= SAME), None)
    if page is not None and view.worked("open"):
        return touch(view, clause.name)
    if page is not None and not inside:
        return launch_known(view, page.app)
    if view.worked("open"):
        return Done() if not view.page.at_launcher else view.stuck("not_open", name=clause.name)
    if view.staged("tap", "settle", "lookdown", "lookup"):
        return touch(view, clause.name)
    if inside and not view.staged("open") and _stands_there(clause.name, view):
        return touch(view, clause.name)
    move = launch(view, names_of(clause.name))
    if isinstance(move, Stuck) and inside:
        touched = touch(view, clause.name)
        return move if isinstance(touched, Stuck) else touched
    return move


def _stands_there(name: str, view: View) -> bool:
    found = view.page.button(name)
    return found is not None and likeness(name, found.text) >= SAME
