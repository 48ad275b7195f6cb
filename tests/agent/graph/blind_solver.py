"""A model that sees nothing but the words of its request: it finds what it touches in the list, in its dialect's form.

`tools` touches by numbers, `autoglm` by points.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.base import ModelReply, ModelRequest
from tests.agent.dialects.test_offered import reply_in
from tests.fakes.scripted_model import call

DIALECTS = ("tools", "autoglm")
_NUMBERED = re.compile(r"^\[(\d+)\] (\w+) (.*?) ?(?:\(\d+,\d+\))?$")
_POINTED = re.compile(r"^- (\w+) (.*?) ?[\[(](\d+),(\d+)[\])]$")


@dataclass(frozen=True)
class Line:
    """A line of the list: its number or its point, and what it says."""

    role: str
    words: str
    number: int | None
    point: tuple[int, int] | None


def lines(request: ModelRequest) -> list[Line]:
    """The list of the current screen, as it is written in the request."""
    shown = request.messages[-1].text.rpartition("<screen>")[2].partition("</screen>")[0]
    found: list[Line] = []
    for line in shown.splitlines():
        if met := _NUMBERED.match(line.strip()):
            found.append(Line(met[2], met[3], int(met[1]), None))
        elif met := _POINTED.match(line.strip()):
            found.append(Line(met[1], met[2], None, (int(met[3]), int(met[4]))))
    return found


def line_with(request: ModelRequest, words: str, role: str = "") -> Line:
    """The first line with these words; raises AssertionError where there is none."""
    for line in lines(request):
        if words in line.words and role in {"", line.role}:
            return line
    raise AssertionError(f"{words!r} is not in {[line.words for line in lines(request)]}")


@dataclass(frozen=True)
class Solver:
    """Answers in one dialect."""

    dialect: str

    def tap(self, words: str, role: str = "", kind: str = "tap") -> Callable[[ModelRequest], ModelReply]:
        """Touches what has these words."""

        def answer(request: ModelRequest) -> ModelReply:
            line = line_with(request, words, role)
            if self.dialect == "tools":
                return call(kind, element=line.number)
            assert line.point is not None
            name = {"tap": "Tap", "long_press": "Long Press"}[kind]
            return _printed(f'do(action="{name}", element=[{line.point[0]},{line.point[1]}])')

        return answer

    def open(self, app: str) -> ModelReply:
        """Opens an app."""
        return call("open_app", name=app) if self.dialect == "tools" else _printed(f'do(action="Launch", app="{app}")')

    def type(self, text: str) -> ModelReply:
        """Types into the focused field."""
        if self.dialect == "tools":
            return call("type", text=text)
        return _printed(f'do(action="Type", text="{text}")')

    def set(self, value: str, on: str = "", role: str = "") -> Callable[[ModelRequest], ModelReply]:
        """Sets a value, on what has these words or this role."""

        def answer(request: ModelRequest) -> ModelReply:
            given: dict[str, Any] = {"value": value}
            if on or role:
                line = line_with(request, on, role)
                given |= {"element": line.number} if self.dialect == "tools" else {"target": line.point}
            return reply_in(self.dialect, "set_value", **given)

        return answer

    def drag(self, words: str, onto: str, below: int = 0) -> Callable[[ModelRequest], ModelReply]:
        """Holds what has these words and lets it go on what has others, or as many pixels further down."""

        def answer(request: ModelRequest) -> ModelReply:
            start, end = (_place(request, each, self.dialect) for each in (words, onto))
            ends = {"start": start, "end": (end[0], end[1] + below)}
            if self.dialect == "tools":
                return reply_in("tools", "drag", **ends)
            return reply_in(self.dialect, "drag", **ends)

        return answer

    def finish(self, said: str = "Done.") -> ModelReply:
        """The end."""
        return (
            call("finish", status="success", summary=said)
            if self.dialect == "tools"
            else _printed(f'finish(message="{said}")')
        )


def _place(request: ModelRequest, words: str, dialect: str) -> tuple[int, int]:
    """Where something stands, as the list says."""
    if dialect != "tools":
        point = line_with(request, words).point
        assert point is not None
        return point
    shown = request.messages[-1].text.rpartition("<screen>")[2]
    found = next(met for line in shown.splitlines() if words in line and (met := re.search(r"\((\d+),(\d+)\)$", line)))
    return int(found[1]), int(found[2])


def _printed(action: str) -> ModelReply:
    return ModelReply(f"<think>t</think><summary>s</summary><answer>{action}</answer>")


def told(requests: Sequence[ModelRequest], number: int) -> str:
    """All words of a request."""
    return "\n".join(message.text for message in requests[number].messages)
