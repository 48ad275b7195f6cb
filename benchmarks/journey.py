"""What the scripted model does: 20 steps through four apps, the same whenever it is asked for a step again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.end_to_end.brain import FINISH, Act, call, on, tap
from tests.fakes.model_server import Answer, Recorded

_FIELD = re.compile(r"\[(\d+)\] field ")


def _in_first_field(request: Recorded, text: str) -> Answer:
    """Types into the first field, whatever stands in it from an earlier task, and submits."""
    found = _FIELD.findall(request.text.rpartition("The screen now")[2])
    return call("type", element=int(found[0]), text=text, clear=True, submit=True)(request)


STEPS: tuple[tuple[str, Act], ...] = (
    ("launch", call("open_app", name="Settings")),
    ("tap", tap("Bluetooth")),
    ("tap", tap("Location")),
    ("scroll", call("scroll", direction="down")),
    ("scroll", call("scroll", direction="up")),
    ("tap", tap("Display")),
    ("key", call("key", key="back")),
    ("key", call("key", key="home")),
    ("launch", call("open_app", name="Notes")),
    ("tap", tap("New note")),
    ("type", on("Title", "type", text="Shopping")),
    ("type", on("Note", "type", text="Milk, bread and coffee")),
    ("tap", tap("Save")),
    ("launch", call("open_app", name="Browser")),
    ("type", lambda request: _in_first_field(request, "weather")),
    ("tap", tap("weather - Free Encyclopedia")),
    ("key", call("key", key="back")),
    ("key", call("key", key="back")),
    ("key", call("key", key="home")),
    ("finish", FINISH),
)
"""What each step does, and what kind of a step it is."""


def _at(label: str) -> Act:
    """The same touch by a model that points, on the grid of the list that it is shown."""

    def act(request: Recorded) -> Answer:
        x, y = re.findall(rf"- \w+ '{re.escape(label)}'.* \((\d+),(\d+)\)$", request.text, re.MULTILINE)[-1]
        return _pointing(f"click(point='<point>{x} {y}</point>')")(request)

    return act


def _pointing(action: str) -> Act:
    return lambda _: Answer(text=f"Thought: the next thing\nSummary: Going on\nAction: {action}")


def _scroll(direction: str) -> Act:
    return _pointing(f"scroll(point='<point>500 500</point>', direction='{direction}')")


POINTING_STEPS: tuple[tuple[str, Act], ...] = (
    ("launch", _pointing("open_app(app_name='Settings')")),
    ("tap", _at("Bluetooth")),
    ("tap", _at("Location")),
    ("scroll", _scroll("down")),
    ("scroll", _scroll("up")),
    ("tap", _at("Display")),
    ("key", _pointing("press_back()")),
    ("key", _pointing("press_home()")),
    ("launch", _pointing("open_app(app_name='Notes')")),
    ("tap", _at("New note")),
    ("type", _pointing("type(content='Milk, bread and coffee')")),
    ("tap", _at("Save")),
    ("launch", _pointing("open_app(app_name='Settings')")),
    ("tap", _at("Bluetooth")),
    ("key", _pointing("press_home()")),
    ("finish", _pointing("finished(content='It is done.')")),
)
"""A way like that in the words of UI-TARS."""

_STEP = re.compile(r"Step (\d+) of at most")
_PIECE = 12
_FRAMING = 4
"""Streamed pieces around the arguments of a call: role, head, finish, usage."""


def step_of(request: Recorded) -> int | None:
    """The number of the step that an acting request is about, None for another request."""
    found = _STEP.findall(request.text)
    return int(found[-1]) if found else None


def think(seconds: float, request: Recorded, steps: Sequence[tuple[str, Act]] = STEPS) -> Answer:
    """The answer to one request, streamed over `seconds`; other calls than acting are answered at once."""
    if "You check whether a task" in request.text:
        return Answer(text='{"proven": true}')
    step = step_of(request)
    if step is None:
        return Answer(text="Working on the phone")
    answer = steps[(step - 1) % len(steps)][1](request)
    return answer.model_copy(update={"piece": _PIECE, "pace": seconds / (_FRAMING + _pieces(answer))})


def _pieces(answer: Answer) -> int:
    return sum(-(-len(each) // _PIECE) for each in (answer.text, *(call.raw for call in answer.tool_calls)))
