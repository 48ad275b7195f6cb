"""What a text means at a place: the answer to what is asked there, a note to the task at work, or a new task."""

from __future__ import annotations

from dataclasses import dataclass

from bot.application.access import Caller, may_see
from bot.application.services import Services
from bot.domain.task import OpenQuestion, Task, TaskState

FOLLOWED_SECONDS = 1800.0
"""For so long after its end a private chat is still about a task; ours. A task's own thread always is."""

_STEERED = frozenset({TaskState.WORKING, TaskState.PAUSED})
"""Such a task can be told something."""


@dataclass(frozen=True, slots=True)
class Answer:
    """It answers one of these questions."""

    questions: tuple[OpenQuestion, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """It is for this task, which is at work there."""

    task: Task


@dataclass(frozen=True, slots=True)
class NewTask:
    """It asks for something."""

    follows: str = ""
    """The id of the task of before that it follows up; "" for none."""
    beside: Task | None = None
    """The task that has begun there and can be told nothing now; it may have been meant."""


Meaning = Answer | Note | NewTask


async def interpret(caller: Caller, services: Services) -> Meaning:
    """What a text of the caller means where they write it, by what is asked and done there."""
    service, place = services.task_service, caller.address
    if questions := await service.open_questions(place=place):
        return Answer(questions)
    task = await service.in_place(place)
    if task is None:
        return NewTask()
    if task.state in _STEERED:
        return Note(task)
    if task.state not in {TaskState.QUEUED, TaskState.ENDED}:
        return NewTask(beside=task)
    # Without a model the words alone count: nothing could tell what they refer to.
    followed = not services.offline() and await _is_followed(caller, services, task)
    return NewTask(task.id if followed else "")


async def _is_followed(caller: Caller, services: Services, before: Task) -> bool:
    """Whether what is written now follows up that task: in its own thread, or soon after its end."""
    if before.ended is None or before.place != caller.address or not may_see(caller, services.policy, before):
        return False
    recent = services.clock() - before.ended <= FOLLOWED_SECONDS
    return recent or await services.task_service.made_for_tasks(caller.address)
