"""What the page and the command line get to see of tasks, questions and phones, as plain JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.chats.web.chat import PLATFORM
from bot.tasks.model import OpenQuestion, StepRow, Task
from bot.tasks.views import Json, phone_json, task_json
from devices.phone import PhoneInfo

TASKS_SHOWN = 100
"""Tasks in the list of the page."""


class ConsoleTasks(Protocol):
    """What the console needs to know of the tasks."""

    async def recent(self, limit: int, *, before: str | None = None) -> Sequence[Task]:
        """The latest tasks of all chats, newest first; with `before`, those accepted earlier than that one."""
        ...

    async def get(self, task: str) -> Task | None:
        """The task with this number, None when there is none."""
        ...


class ConsoleQuestions(Protocol):
    """What the console needs to know of the questions."""

    async def open(self) -> Sequence[OpenQuestion]:
        """Every question that waits for an answer now."""
        ...


class ConsoleSteps(Protocol):
    """What the console needs to know of the steps."""

    async def of(self, task: str) -> Sequence[StepRow]:
        """The steps of a task in order, none when it is unknown."""
        ...


class ConsolePhones(Protocol):
    """What the console needs to know of the phones."""

    def list(self) -> tuple[PhoneInfo, ...]:
        """Every known phone, from memory."""
        ...


def console_task_json(task: Task) -> Json:
    """A task, with `thread`: its place in the console, null when it lives in another chat."""
    here = task.place if task.place is not None and task.place.platform == PLATFORM else None
    return task_json(task) | {"thread": here.thread if here is not None else None}


def question_json(open_question: OpenQuestion) -> Json:
    """An open question. `message` is the console message that shows it, null when another chat does."""
    message = open_question.message
    here = message is not None and message.address.platform == PLATFORM
    question = open_question.question
    return {
        "question": question.id,
        "task": open_question.task,
        "kind": question.kind.value,
        "text": question.text,
        "choices": list(question.choices),
        "detail": question.detail,
        "frame": question.frame,
        "expires": open_question.expires,
        "message": message.message if here and message else None,
    }


async def state_json(tasks: ConsoleTasks, questions: ConsoleQuestions, phones: ConsolePhones) -> Json:
    """All that the page shows beside the messages."""
    recent = await tasks.recent(TASKS_SHOWN)
    return {
        "tasks": [console_task_json(task) for task in recent],
        "devices": [phone_json(phone, recent) for phone in phones.list()],
        "questions": [question_json(question) for question in await questions.open()],
    }
