"""A task's events as lines for the command line: one JSON object each, told apart by `type`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Protocol

from agent.events import Asked, Step, TaskEnded, TaskEvent
from bot.chats.address import Person
from bot.tasks.views import tokens_json
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Heard:
    """An event, and which phone's part it is of, such as "12.1", with the phone's name; "" where one phone works."""

    event: TaskEvent
    part: str = ""
    phone: str = ""

    @property
    def last(self) -> bool:
        """Whether it is the end of the task, not only of one phone's part."""
        return isinstance(self.event, TaskEnded) and not self.part


class Runs(Protocol):
    """The work on tasks, as the command line follows it."""

    def events(self, task: str) -> AsyncGenerator[Heard, None]:
        """The task's events from its very first one on, also those before this call; ends after TaskEnded, or
        without it when the service shuts down. Closing it changes nothing for the task. Where several phones work,
        the events of all come as they happen, and the TaskEnded of each before that of the task.
        """
        ...

    async def answer(self, person: Person, question: str, text: str | None) -> str:
        """Answer an open question; None says that nobody will. "" when that was taken, else why not."""
        ...


def line_of(heard: Heard) -> dict[str, Any]:
    """The event as one plain object; steps, questions and the end have the form that scripts rely on.

    Where several phones work, each of theirs has `part` and `on`, the phone's name, and an end of one is a `part end`.
    """
    line = _line(heard.event)
    if not heard.part:
        return line
    ended = {"type": "part end"} if isinstance(heard.event, TaskEnded) else {}
    return line | ended | {"part": heard.part, "on": heard.phone}


def _line(event: TaskEvent) -> dict[str, Any]:
    match event:
        case Step():
            line = event.model_dump(mode="json", exclude={"usage"})
            return line | {"tokens": tokens_json(event.usage)}
        case Asked():
            line = event.question.model_dump(mode="json", exclude={"id"})
            return {"type": "question", "question": event.question.id} | line
        case TaskEnded():
            line = event.model_dump(mode="json", exclude={"usage"})
            return line | {"tokens": tokens_json(event.usage)}
        case _:
            return event.model_dump(mode="json")


def interrupted() -> dict[str, Any]:
    """The last line when there is no final one."""
    return {"type": "interrupted", "text": say("desk.stopping")}


def encoded(line: dict[str, Any]) -> bytes:
    """The object as one line of UTF-8."""
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"
