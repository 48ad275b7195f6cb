"""Looks for something that is out of sight: hides the keyboard, then scrolls down to the end, then up."""

from __future__ import annotations

from agent.actions import PressKey, Scroll
from agent.offline.view import Act, View
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
