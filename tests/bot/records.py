"""Tasks, steps and questions for tests."""

from __future__ import annotations

import io
from dataclasses import fields
from typing import Any

from PIL import Image

from agent.effect_facts import PageChanged
from agent.models.base import Usage
from agent.questions import Question, QuestionKind
from agent.run import Outcome
from bot.domain.address import Address, Person
from bot.domain.task import OpenQuestion, StepRow, Task, TaskState
from bot.domain.task_request import Origin, TaskOptions, TaskRequest

ANNA = Person("discord", "42", "Anna")
HOME = Address("discord", "bot", "chan", "guild")


def a_request(**changes: Any) -> TaskRequest:
    """A request with these fields; `origin` may be an address, and fields of it and of the options may stand beside."""
    origin = changes.pop("origin", HOME)
    if isinstance(origin, Address):
        origin = Origin(origin, "", **{name: changes.pop(name) for name in ("anchor", "private") if name in changes})
    options = {name: changes.pop(name) for name in TaskOptions.model_fields if name in changes}
    values: dict[str, Any] = {"text": "open settings and turn on airplane mode", "person": ANNA, "origin": origin}
    return TaskRequest(**(values | {"options": TaskOptions(**options)} | changes))


def a_task(**changes: object) -> Task:
    """A task with these fields, those of its request included."""
    own = {field.name for field in fields(Task)}
    asked = {name: changes.pop(name) for name in list(changes) if name not in own}
    values: dict[str, Any] = {
        "id": "12",
        "request": a_request(**({"anchor": "m1"} | asked)),
        "place": None,
        "state": TaskState.WORKING,
        "outcome": None,
        "summary": "",
        "data": None,
        "phone": "pixel",
        "steps": 3,
        "usage": Usage(input=12000, output=345, calls=3, cost=0.0123),
        "created": 1000.0,
        "started": 1010.0,
        "ended": None,
        "frame": None,
    }
    return Task(**(values | changes))


def an_ended_task(outcome: Outcome = Outcome.SUCCEEDED, **changes: object) -> Task:
    values: dict[str, Any] = {
        "state": TaskState.ENDED,
        "outcome": outcome,
        "ended": 1100.0,
        "summary": "Airplane mode is on.",
    }
    return a_task(**(values | changes))


def a_step(**changes: object) -> StepRow:
    values: dict[str, Any] = {
        "task": "12",
        "run": "12-1",
        "subtask": 1,
        "step": 3,
        "max_steps": 60,
        "summary": "Tapped Network and internet",
        "thought": "",
        "action": {},
        "effect": (PageChanged(),),
        "app": "Settings",
        "frame": None,
        "mark": None,
        "usage": Usage(),
        "seconds": 2.0,
        "at": 1030.0,
    }
    return StepRow(**(values | changes))


def a_question(kind: QuestionKind = QuestionKind.ASK, **changes: object) -> OpenQuestion:
    asked: dict[str, Any] = {
        name: changes.pop(name) for name in ("id", "text", "choices", "detail", "frame", "before") if name in changes
    }
    values: dict[str, Any] = {"id": "12-1.q1", "run": "12-1", "kind": kind, "text": "Which one?"}
    held: dict[str, Any] = {
        "task": "12",
        "question": Question(**(values | asked)),
        "asked": 1000.0,
        "expires": 1900.0,
        "message": None,
        "answer": None,
        "answered_by": "",
        "expired": False,
    }
    return OpenQuestion(**(held | changes))


def screen_bytes(width: int = 1080, height: int = 2400, format_: str = "JPEG") -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (width, height), (20, 120, 60)).save(target, format_)
    return target.getvalue()
