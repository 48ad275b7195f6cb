"""The function `mobile_use` of the Qwen, GUI-Owl and MAI-UI models, with coordinates in thousandths of the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agent import actions as act
from agent.captions import phrase
from agent.dialects.base import BadReply, echo
from agent.dialects.call_syntax import Arguments, Call
from agent.dialects.grid import PER_MILLE, Grid
from agent.dialects.offered import Forms, OfferedAction
from agent.dialects.replies import REVEALED_BY_FINGER, key_named, made, status_of, waiting
from agent.dialects.tool_schemas import SAY
from agent.wording import sentence
from devices.geometry import Size
from devices.inputs import Key

NAME = "mobile_use"
_KEYS = frozenset({"back", "home", "enter", "menu", "recent", "recents"})
"""Keys that some of these models write as actions."""
ACTIONS = _KEYS | frozenset(
    {
        *("click", "double_click", "long_press", "swipe", "type", "key", "system_button", "open", "wait"),
        *("answer", "interact", "call_user", "calluser", "terminate", "note", "take_over"),
    }
)
"""The function's own action names in lower case, those that its makers treat as `interact`, and two that this project's
instructions add.
"""

_DRAG_MS = 400
"""How long a drag takes in MAI-UI's own client, with a finger that moves at once (Tongyi-MAI/MobileWorld 34e6a58,
runtime/controller.py `drag`).
"""


def _in_a_list(action: OfferedAction) -> str:
    arguments = ", ".join(argument.in_brackets for argument in action.arguments)
    return f"- {action.kind}: {arguments or 'no arguments'}. {action.about}"


def _as_json(action: OfferedAction) -> str:
    given = "".join(f', "{argument.name}": {argument.form}' for argument in action.arguments)
    return f'{{"action": "{action.kind}"{given}}} {action.words}'


@dataclass(frozen=True, slots=True)
class Family:
    """How a family of models calls the function.

    `dialect` is the dialect's name, `prompt` its instructions, `image_window` how many pictures the model should be
    shown, and `edge` the coordinate of the screen's far edge. With `thought_ends_in_caption`, the last line of a
    thought describes the step.
    """

    dialect: str
    prompt: str
    image_window: int = 1
    edge: int = PER_MILLE
    thought_ends_in_caption: bool = False
    told: Callable[[OfferedAction], str] = _in_a_list
    """Returns the line of an additional action in the instructions."""

    def grid(self, space: Size) -> Grid:
        """Return the family's coordinate system for a picture of this size."""
        return Grid(space, thousandths=True, last=self.edge, whole=self.edge)


QWEN = Family("mobile-use", "dialects/mobile_use")
MAI_UI = Family("mai-ui", "dialects/mai_ui", 3, edge=999, thought_ends_in_caption=True, told=_as_json)
"""Tongyi-MAI/MAI-UI 4dd07b9, src/prompt.py and src/mai_naivigation_agent.py (`SCALE_FACTOR`, `history_n`)."""

FORMS = Forms(
    text='"…"',
    places={
        "target": ("[x, y]", "coordinate"),
        "start": ("[x, y]", "coordinate", "coordinate1", "start_coordinate"),
        "end": ("[x, y]", "coordinate2", "end_coordinate"),
    },
)


def action_of(given: dict[str, Any], grid: Grid, said: str, further: Mapping[str, OfferedAction]) -> act.Action:
    """Parse the arguments of one call to `mobile_use`.

    `said` is what the model wrote before the call, and `further` are the additional actions by name. Raises BadReply.
    """
    name = given.get("action")
    if isinstance(name, str):
        name = name.strip().lower()
    match name:
        case "click":
            return act.Tap(target=grid.target(given.get("coordinate"), name))
        case "double_click":
            return act.DoubleTap(target=grid.target(given.get("coordinate"), name))
        case "long_press":
            return act.LongPress(target=grid.target(given.get("coordinate"), name))
        case "swipe" if given.get("direction") is not None:
            place = given.get("coordinate")
            direction = REVEALED_BY_FINGER.get(str(given["direction"]).strip().lower())
            target = None if place is None else grid.target(place, name)
            return made(act.Scroll, name, direction=direction, target=target)
        case "drag" if "start_coordinate" in given:
            start = grid.target(given.get("start_coordinate"), f"start_coordinate of {name}")
            end = grid.target(given.get("end_coordinate"), f"end_coordinate of {name}")
            return act.Swipe(start=start, end=end, duration_ms=_DRAG_MS)
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
            return _spoken(name, given, said, grid)


def _spoken(name: object, given: dict[str, Any], said: str, grid: Grid) -> act.Action:
    match name:
        case "note":
            return made(act.Note, name, text=_text(given, "text", name))
        case "interact" | "call_user" | "calluser" | "ask_user":
            question = _text(given, "text", name) if given.get("text") else sentence("ask.help")
            return made(act.AskUser, name, question=question)
        case "enter_secret":
            place = given.get("coordinate")
            target = None if place is None else grid.target(place, name)
            return made(act.EnterSecret, name, question=_text(given, "text", name), target=target)
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
