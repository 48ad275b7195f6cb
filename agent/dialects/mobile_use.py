"""The function `mobile_use` of the Qwen and GUI-Owl families. Its coordinates are thousandths, 0 to 1000."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent import actions as act
from agent.captions import phrase
from agent.dialects.base import BadReply, echo
from agent.dialects.call_syntax import Arguments, Call
from agent.dialects.grid import Grid
from agent.dialects.offered import Forms, OfferedAction
from agent.dialects.replies import key_named, made, status_of, waiting
from agent.dialects.tool_schemas import SAY
from agent.wording import sentence
from devices.geometry import Size
from devices.inputs import Key

NAME = "mobile_use"
_KEYS = frozenset({"back", "home", "enter", "menu", "recent", "recents"})
"""Keys that some of these models write as actions."""
ACTIONS = _KEYS | frozenset(
    {
        *("click", "long_press", "swipe", "type", "key", "system_button", "open", "wait"),
        *("answer", "interact", "call_user", "calluser", "terminate", "note", "take_over"),
    }
)
"""Its own actions, in small letters, those that its makers read as `interact`, and two of ours that its instructions
add.
"""

FORMS = Forms(
    text='"…"',
    places={
        "target": ("[x, y]", "coordinate"),
        "start": ("[x, y]", "coordinate", "coordinate1"),
        "end": ("[x, y]", "coordinate2"),
    },
)


def told(action: OfferedAction) -> str:
    """The line of an action in the instructions."""
    arguments = ", ".join(argument.in_brackets for argument in action.arguments)
    return f"- {action.kind}: {arguments or 'no arguments'}. {action.about}"


def action_of(given: dict[str, Any], space: Size, said: str, further: Mapping[str, OfferedAction]) -> act.Action:
    """The action in the arguments of one call; `said` is what the model wrote before it. Raises BadReply."""
    name = given.get("action")
    if isinstance(name, str):
        name = name.strip().lower()
    grid = Grid(space, thousandths=True)
    match name:
        case "click":
            return act.Tap(target=grid.target(given.get("coordinate"), name))
        case "long_press":
            return act.LongPress(target=grid.target(given.get("coordinate"), name))
        case "swipe":
            start = grid.target(given.get("coordinate", given.get("coordinate1")), f"coordinate of {name}")
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
            return waiting(name, given.get("time"))
        case str() if name in further:
            own = {key: value for key, value in given.items() if key not in {"action", SAY}}
            return further[name].read(name, Arguments(Call(name, (), own, 0)), grid)
        case str() if name in _KEYS:
            return _key(name)
        case _:
            return _spoken(name, given, said)


def _spoken(name: object, given: dict[str, Any], said: str) -> act.Action:
    match name:
        case "note":
            return made(act.Note, name, text=_text(given, "text", name))
        case "interact" | "call_user" | "calluser":
            question = _text(given, "text", name) if given.get("text") else sentence("ask.help")
            return made(act.AskUser, name, question=question)
        case "take_over":
            return made(act.TakeOver, name, reason=_text(given, "reason", name))
        case "answer":
            text = _text(given, "text", name)
            return made(act.Finish, name, status="success", summary=phrase(text) or text, data=text)
        case "terminate":
            status = status_of(name, given)
            if status is None:
                raise BadReply('terminate needs a status, "success" or "failure".')
            return made(act.Finish, name, status=status, summary=said)
        case _:
            raise BadReply(f"mobile_use has no action {echo(name)!r}." if name else "mobile_use needs an action.")


def _text(given: dict[str, Any], argument: str, name: str) -> str:
    value = given.get(argument)
    if not isinstance(value, str) or not value:
        raise BadReply(f"{name} needs a text in {argument}, and it must not be empty.")
    return value


def _key(name: str) -> act.PressKey:
    key = key_named(name)
    if key is None:
        raise BadReply(f"There is no key {echo(name)!r}. The keys are: {', '.join(known.value for known in Key)}.")
    return key
