"""The strategies for switches and alarms: read the state of a switch, and touch it only if it has to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.actions import PressKey, WaitFor
from agent.actions import Tap as TapAction
from agent.offline.clauses import Alarm, Open, Toggle
from agent.offline.matching import GOOD, likeness
from agent.offline.progress import time_of_day
from agent.offline.strategies.tapping import PATIENCE_S, launch_known, look_further
from agent.offline.view import Act, Done, Move, Page, Stuck, View, on
from agent.scene import ScreenElement
from devices.inputs import Key

MAX_TOUCHES = 2
"""How often a switch is touched at most: first its row, then the switch itself."""


def toggle_next(clause: Toggle, view: View) -> Move:
    """Return the next move of a toggle clause. The switch is looked for on this page, then in the app that was opened
    or in Settings.
    """
    found = _switch(view.page, lambda each: likeness(clause.label, each.text))
    if found is None:
        return _look(view, clause.label, "settings") or view.stuck("no_switch", name=clause.label)
    return _set(view, *found, clause.label, wanted=clause.on)


def alarm_next(clause: Alarm, view: View) -> Move:
    """Return the next move of an alarm clause, which sets the switch of an existing alarm."""
    found = _switch(view.page, lambda each: float(time_of_day(each.text) == clause.time))
    if found is None:
        return _look(view, clause.time, "clock") or _no_alarm(clause, view)
    return _set(view, *found, clause.time, wanted=clause.on)


def _no_alarm(clause: Alarm, view: View) -> Stuck:
    """Return that there is no such alarm and, if it should be turned on, offer the existing ones instead."""
    times = [each.text for each in view.page.named if time_of_day(each.text) and view.page.switch_beside(each)]
    stuck = view.stuck("no_alarm", name=clause.time)
    return replace(stuck, near=tuple(view.words("set_alarm", name=time) for time in times[:3])) if clause.on else stuck


def _switch(page: Page, fits: Callable[[ScreenElement], float]) -> tuple[ScreenElement, ScreenElement] | None:
    """Return the best fitting of the labels that have a switch at their height, and that switch."""
    pairs = [(fits(each), each, page.switch_beside(each)) for each in page.named]
    good = [(score, label, switch) for score, label, switch in pairs if score >= GOOD and switch is not None]
    best = max(good, key=lambda each: each[0], default=None)
    return (best[1], best[2]) if best is not None else None


def _set(view: View, label: ScreenElement, switch: ScreenElement, name: str, *, wanted: bool) -> Move:
    if ("checked" in switch.states) == wanted:
        return Done()
    touches = len(view.staged("switch"))
    if touches and not view.since("switch") and not view.staged("switch")[-1].moved:
        return view.act(WaitFor(what="change", seconds=PATIENCE_S), "settle", "waiting")
    if touches >= MAX_TOUCHES:
        return view.stuck("not_switched", name=name)
    # A touch of the label shows the safety rules what is touched; in some rows only the switch reacts.
    target = label if view.page.tappable(label) and not touches else switch
    return view.act(TapAction(target=on(target)), "switch", "switching_on" if wanted else "switching_off", name=name)


def _look(view: View, name: str, app: str) -> Act | Stuck | None:
    """Return how to look for the switch: further down if some page is open, otherwise in the app that has such
    switches, and there on its first page.
    """
    opened = view.worked("open")
    if opened or isinstance(view.before, Open | Toggle | Alarm):
        if (further := look_further(view, name)) is not None:
            return further
        if opened and view.page.button("back") is not None and not view.staged("back"):
            return view.act(PressKey(key=Key.BACK), "back", "going_back")
    return None if opened else launch_known(view, app)
