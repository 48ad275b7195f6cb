"""A scripted model behind a real endpoint: it reads the element list that it is sent, as a real model would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

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


class NotOnScreen(AssertionError):
    """The element with this label is not on the last screen."""

    def __init__(self, label: str, screen: str) -> None:
        self.label = label
        super().__init__(f"{label!r} is not on the screen:\n{screen}")


@dataclass(frozen=True)
class Listed:
    """One line of an element list. `number` is "" in lists of models that point."""

    number: str
    role: str
    caption: str
    """Its own words and those in it, with " · " between them."""
    states: str
    x: str
    y: str

    def likeness(self, label: str) -> int:
        """How well it is what a person calls by this label: 3 by all its words, 2 by a part, 1 by its beginning."""
        parts = self.caption.split(" · ")
        return 3 if self.caption == label else 2 if label in parts else int(self.caption.startswith(label))


_LINE = re.compile(r"^(?:\[(\d+)\]|-) (\w+) (['\"])(.*)\3((?: [a-z]+)*) \((\d+),(\d+)\)$", re.MULTILINE)


def listed(request: Recorded) -> list[Listed]:
    """The lines with words of the list of the last screen."""
    shown = request.text.rpartition("The screen now")[2]
    return [Listed(number, role, caption, *rest) for number, role, _, caption, *rest in _LINE.findall(shown)]


def find(request: Recorded, label: str) -> Listed:
    """What this label is on the last screen: the last of those that it fits best. Raises NotOnScreen."""
    best = max(reversed(listed(request)), key=lambda line: line.likeness(label), default=None)
    if best is None or not best.likeness(label):
        raise NotOnScreen(label, request.text[-2000:])
    return best


def number(request: Recorded, label: str) -> int:
    """The number in front of the element with this label on the last screen. Raises NotOnScreen."""
    return int(find(request, label).number)


MOST_WAITS = 3
"""Times that an act waits for its element before the test fails."""

FINISH = call("finish", status="success", summary="It is done.", data="42")


def brain(*acts: Act) -> Callable[[Recorded], Answer]:
    """Takes every task as simple, believes every proof, and does one of these acts a step, in order.

    A step is asked for anew when its screen moved after the model was shown it (see `PhoneScreen`) or its request
    failed: the answer is then the same act on the screen as it is now. One that could not be used, or that never came,
    is followed by the next. What is not on the screen yet, as an app that opens slowly, is waited for.
    """
    rest = iter(acts)
    asked, act, waits, over = 0, FINISH, 0, True

    def think(request: Recorded) -> Answer:
        nonlocal asked, act, waits, over
        if "Decide how to handle" in request.text:
            return Answer(text=json.dumps({"kind": "simple", "need_plan": False, "answer": ""}))
        if "You check whether a task" in request.text:
            return Answer(text=json.dumps({"proven": True}))
        if "You write captions" in request.text:
            return Answer(text="Working on the phone")
        step = _step(request)
        # A first step that comes after an end is another task's. What has no step is the question whether the model is
        # there.
        if step != asked or step == 0 or (step == 1 and over) or "could not be used" in request.text:
            asked, act = step, act if waits else next(rest)
        try:
            answer, waits = act(request), 0
        except NotOnScreen as missing:
            waits += 1
            if waits > MOST_WAITS:
                raise
            return _answer("wait_for", {"what": "text", "text": missing.label})
        over = any(called.name == "finish" for called in answer.tool_calls)
        if answer.hang:
            asked = 0
        return answer

    return think


def _step(request: Recorded) -> int:
    return int(next(reversed(re.findall(r"Step (\d+) of at most", request.text)), "0"))


def _answer(tool: str, arguments: dict[str, object]) -> Answer:
    return Answer(tool_calls=(Call(name=tool, arguments=arguments),))
