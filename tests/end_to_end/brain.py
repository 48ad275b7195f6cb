"""A scripted model behind a real endpoint: it reads the element list that it is sent, as a real model would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tests.fakes.model_server import Answer, Call, Recorded

Act = Callable[[Recorded], Answer]


def call(tool: str, /, **arguments: object) -> Act:
    """One tool call."""
    return lambda _: _answer(tool, arguments)


def tap(label: str) -> Act:
    """Touches what has this label."""
    return lambda request: _answer("tap", {"element": number(request, label)})


def on(label: str, tool: str, /, **arguments: object) -> Act:
    """A tool call on the element with this label."""
    return lambda request: _answer(tool, {"element": number(request, label), **arguments})


def number(request: Recorded, label: str) -> int:
    """The number in front of the element with this label on the last screen."""
    found = re.findall(rf"\[(\d+)\] \w+ '{re.escape(label)}'", request.text)
    assert found, f"{label!r} is not on the screen:\n{request.text[-2000:]}"
    return int(found[-1])


FINISH = call("finish", status="success", summary="It is done.", data="42")


def brain(*acts: Act) -> Callable[[Recorded], Answer]:
    """Takes every task as simple, believes every proof, and does these acts in order."""
    rest = iter(acts)

    def think(request: Recorded) -> Answer:
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        if "You write captions" in request.text:
            return Answer(text="Working on the phone")
        return next(rest)(request)

    return think


def _answer(tool: str, arguments: dict[str, object]) -> Answer:
    return Answer(tool_calls=(Call(name=tool, arguments=arguments),))
