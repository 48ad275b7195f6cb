"""The strategies for scrolling, pressing keys, waiting and opening addresses."""

from __future__ import annotations

from agent.actions import MAX_WAIT_S, PressKey, WaitFor
from agent.actions import OpenUrl as OpenUrlAction
from agent.actions import Scroll as ScrollAction
from agent.actions import Wait as WaitAction
from agent.offline.clauses import OpenUrl, Press, Scroll, Wait
from agent.offline.strategies.tapping import look_further
from agent.offline.view import Done, Move, Several, View

MAX_SCROLLS = 15
APPEARS_S = 20.0
"""Seconds for which a clause "wait until …" waits."""


def scroll_next(clause: Scroll, view: View) -> Move:
    """Return the next move of a scroll clause: scrolls some screens, to the end, or until a text appears."""
    way = view.words(clause.direction)
    if clause.until:
        found = view.page.find(clause.until)
        if found is not None and not isinstance(found, Several):
            return Done()
        return look_further(view, clause.until) or view.stuck("not_found", name=clause.until)
    steps = view.staged("scroll")
    at_end = bool(steps) and not steps[-1].moved
    if at_end:
        return Done() if clause.times != 1 else view.stuck("not_scrolled", name=way)
    if len(steps) >= (clause.times or MAX_SCROLLS):
        return Done()
    return view.act(ScrollAction(direction=clause.direction), "scroll", "scrolling", name=way)


def press_next(clause: Press, view: View) -> Move:
    """Return the next move of a clause that presses a key once."""
    steps = view.staged("press")
    if any(step.worked for step in steps):
        return Done()
    if steps:
        return view.stuck("not_pressed", name=clause.key.value)
    return view.act(PressKey(key=clause.key), "press", "pressing", name=clause.key.value)


def url_next(clause: OpenUrl, view: View) -> Move:
    """Return the next move of a clause that opens an address once."""
    steps = view.staged("url")
    if any(step.worked for step in steps):
        return Done() if not view.page.at_launcher else view.stuck("not_open", name=clause.url)
    if steps:
        return view.stuck("not_open", name=clause.url)
    return view.act(OpenUrlAction(url=clause.url), "url", "opening_url", name=clause.url)


def wait_next(clause: Wait, view: View) -> Move:
    """Return the next move of a wait clause: waits some seconds, in several steps if they are many, or until a text
    appears.
    """
    if clause.text:
        if view.page.find(clause.text) is not None or view.page.says(clause.text):
            return Done()
        if view.staged("wait"):
            return view.stuck("not_shown", name=clause.text)
        action = WaitFor(what="text", text=clause.text, seconds=APPEARS_S)
        return view.act(action, "wait", "waiting_for", name=clause.text)
    left = clause.seconds - len(view.staged("wait")) * MAX_WAIT_S
    if left <= 0:
        return Done()
    return view.act(WaitAction(seconds=min(left, MAX_WAIT_S)), "wait", "waiting")
