"""What the scripted model does: 20 steps through four apps, the same whenever it is asked for a step again."""

from __future__ import annotations

import re

from tests.end_to_end.brain import FINISH, Act, call, on, tap
from tests.fakes.model_server import Answer, Recorded

_FIELD = re.compile(r"\[(\d+)\] field ")


def _in_first_field(request: Recorded, text: str) -> Answer:
    """Types into the first field, whatever stands in it from an earlier task, and submits."""
    found = _FIELD.findall(request.text.rpartition("The screen now")[2])
    return call("type", element=int(found[0]), text=text, clear=True, submit=True)(request)


STEPS: tuple[Act, ...] = (
    call("open_app", name="Settings"),
    tap("Bluetooth"),
    tap("Location"),
    call("scroll", direction="down"),
    call("scroll", direction="up"),
    tap("Display"),
    call("key", key="back"),
    call("key", key="home"),
    call("open_app", name="Notes"),
    tap("New note"),
    on("Title", "type", text="Shopping"),
    on("Note", "type", text="Milk, bread and coffee"),
    tap("Save"),
    call("open_app", name="Browser"),
    lambda request: _in_first_field(request, "weather"),
    tap("weather - Free Encyclopedia"),
    call("key", key="back"),
    call("key", key="back"),
    call("key", key="home"),
    FINISH,
)

_STEP = re.compile(r"Step (\d+) of at most")
_PIECE = 12
_FRAMING = 4
"""Streamed pieces around the arguments of a call: role, head, finish, usage."""


def step_of(request: Recorded) -> int | None:
    """The number of the step that an acting request is about, None for another request."""
    found = _STEP.findall(request.text)
    return int(found[-1]) if found else None


def think(seconds: float, request: Recorded) -> Answer:
    """The answer to one request, streamed over `seconds`; other calls than acting are answered at once."""
    if "You check whether a task" in request.text:
        return Answer(text='{"proven": true}')
    step = step_of(request)
    if step is None:
        return Answer(text="Working on the phone")
    answer = STEPS[(step - 1) % len(STEPS)](request)
    return answer.model_copy(update={"piece": _PIECE, "pace": seconds / (_FRAMING + _pieces(answer))})


def _pieces(answer: Answer) -> int:
    return sum(-(-len(each.raw) // _PIECE) for each in answer.tool_calls)
