"""What the page and the command line get to see of tasks, questions and phones, as plain JSON objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from agent.models.base import Usage
from bot.chats.web.chat import PLATFORM
from bot.tasks.model import OpenQuestion, StepRow, Task
from devices.phone import PhoneInfo

Json = dict[str, Any]

TASKS_SHOWN = 100
"""Tasks in the list of the page."""


class ConsoleTasks(Protocol):
    """What the console needs to know of the tasks."""

    async def recent(self, limit: int) -> Sequence[Task]:
        """The latest tasks of all chats, newest first."""
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


def tokens_json(usage: Usage) -> Json:
    """Tokens of a task or step; `cost` is null when the price is unknown."""
    return {
        "input": usage.input,
        "output": usage.output,
        "cached": usage.cached,
        "reasoning": usage.reasoning,
        "calls": usage.calls,
        "estimated": usage.estimated,
        "cost": usage.cost,
    }


def task_json(task: Task) -> Json:
    """A task. `thread` is its place in the console, null when it lives in another chat; times are Unix seconds."""
    here = task.place is not None and task.place.platform == PLATFORM
    return {
        "task": task.id,
        "state": task.state.value,
        "outcome": task.outcome.value if task.outcome else None,
        "text": task.text,
        "summary": task.summary,
        "data": task.data,
        "phone": task.phone,
        "person": task.person.name or task.person.id,
        "platform": task.origin.platform,
        "thread": task.place.thread if here and task.place else None,
        "quick": task.quick,
        "steps": task.steps,
        "max_steps": task.max_steps,
        "tokens": tokens_json(task.usage),
        "created": task.created,
        "started": task.started,
        "ended": task.ended,
        "frame": task.frame,
    }


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


def step_json(step: StepRow) -> Json:
    """A step of a run, for the replay."""
    return {
        "step": step.step,
        "max_steps": step.max_steps,
        "subtask": step.subtask,
        "summary": step.summary,
        "thought": step.thought,
        "action": step.action,
        "effect": step.effect,
        "app": step.app,
        "frame": step.frame,
        "mark": list(step.mark) if step.mark else None,
        "seconds": step.seconds,
        "at": step.at,
    }


def phone_json(phone: PhoneInfo, tasks: Sequence[Task]) -> Json:
    """A phone. `tasks` are those that hold or want it, by id."""
    return {
        "id": phone.id,
        "serial": phone.serial,
        "name": phone.name,
        "state": phone.health.value,
        "usable": phone.health.usable,
        "reason": phone.reason,
        "fix": phone.fix,
        "model": phone.model,
        "android": phone.android,
        "size": [phone.size.width, phone.size.height] if phone.size else None,
        "battery": phone.battery,
        "app": phone.app,
        "virtual": phone.virtual,
        "tasks": [task.id for task in tasks if task.phone == phone.id and task.outcome is None],
    }


async def state_json(tasks: ConsoleTasks, questions: ConsoleQuestions, phones: ConsolePhones) -> Json:
    """All that the page shows beside the messages."""
    recent = await tasks.recent(TASKS_SHOWN)
    return {
        "tasks": [task_json(task) for task in recent],
        "devices": [phone_json(phone, recent) for phone in phones.list()],
        "questions": [question_json(question) for question in await questions.open()],
    }
