"""The function `mobile_use` of the Qwen and GUI-Owl families. Its coordinates are thousandths, 0 to 1000."""

from __future__ import annotations

from typing import Any

from agent import actions as act
from agent.dialects.base import BadReply
from agent.dialects.grid import Grid, number
from agent.dialects.replies import made, shortened
from devices.geometry import Size
from devices.inputs import Key

NAME = "mobile_use"
ACTIONS = frozenset(
    {
        *("click", "long_press", "swipe", "type", "key", "system_button", "open", "wait"),
        *("answer", "interact", "terminate", "note", "take_over"),
    }
)
"""Its own actions, and two of ours that its instructions add."""

_BUTTONS = {"recent": Key.RECENTS, "recents": Key.RECENTS, "back": Key.BACK, "home": Key.HOME}


def action_of(given: dict[str, Any], space: Size, said: str) -> act.Action:
    """The action in the arguments of one call; `said` is what the model wrote before it. Raises BadReply."""
    name = given.get("action")
    grid = Grid(space, thousandths=True)
    match name:
        case "click":
            return act.Tap(target=grid.target(given.get("coordinate"), name))
        case "long_press":
            return act.LongPress(target=grid.target(given.get("coordinate"), name))
        case "swipe":
            start = grid.target(given.get("coordinate"), f"coordinate of {name}")
            return act.Swipe(start=start, end=grid.target(given.get("coordinate2"), f"coordinate2 of {name}"))
        case "type":
            return made(act.Type, name, text=_text(given, "text", name))
        case "key":
            return _key(_text(given, "text", name))
        case "system_button":
            return _key(_text(given, "button", name))
        case "open":
            return made(act.OpenApp, name, name=_text(given, "text", name))
        case "wait":
            seconds = number(given.get("time"))
            return act.Wait() if seconds is None else act.Wait(seconds=min(max(seconds, 0), act.MAX_WAIT_S))
        case _:
            return _spoken(name, given, said)


def _spoken(name: object, given: dict[str, Any], said: str) -> act.Action:
    match name:
        case "note":
            return made(act.Note, name, text=_text(given, "text", name))
        case "interact":
            return made(act.AskUser, name, question=_text(given, "text", name))
        case "take_over":
            return made(act.TakeOver, name, reason=_text(given, "reason", name))
        case "answer":
            text = _text(given, "text", name)
            return made(act.Finish, name, summary=shortened(text), data=text)
        case "terminate":
            return made(act.Finish, name, status=given.get("status", "success"), summary=said)
        case _:
            raise BadReply(f"mobile_use has no action {name!r}." if name else "mobile_use needs an action.")


def _text(given: dict[str, Any], argument: str, name: str) -> str:
    value = given.get(argument)
    if not isinstance(value, str) or not value:
        raise BadReply(f"{name} needs a text in {argument}, and it must not be empty.")
    return value


def _key(name: str) -> act.PressKey:
    key = name.strip().lower().removeprefix("keycode_")
    if key in _BUTTONS:
        return act.PressKey(key=_BUTTONS[key])
    if key not in {known.value for known in Key}:
        raise BadReply(f"There is no key {name!r}. The keys are: {', '.join(known.value for known in Key)}.")
    return act.PressKey(key=Key(key))
