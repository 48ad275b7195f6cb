"""What the page and the command line get to see of tasks, questions and phones, as plain JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from agent.models.state import ModelState
from bot.application.services import Services
from bot.checks.settings import Shown
from bot.domain.address import Address
from bot.domain.finding import Finding
from bot.domain.task import OpenQuestion, Task, TaskState
from bot.monitoring.dependencies import Wait
from bot.monitoring.outage_notice import STORE, standstill_words
from bot.texts import say
from bot.views.model import model_json
from bot.views.tasks import Json, phone_json, task_json
from bot.web.chat import HOME
from devices.phone import PhoneInfo
from devices.wording import said

TASKS_SHOWN = 100
"""Tasks in the list of the page."""
HOLDING_UP: Final = (STORE, "disk", "memory", "adb")
"""What nothing goes on without. The model and the phones are shown by themselves, chats where they are connected."""
HOLDS = frozenset({TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED})
"""A task in one of these states has its phone, or will go on where it left it."""


class ConsoleChecks(Protocol):
    """What the service finds when it looks at itself."""

    def settings(self) -> Sequence[Shown]:
        """What is set, without secrets."""
        ...

    async def near(self) -> Sequence[Finding]:
        """What costs nothing."""
        ...

    async def far(self) -> Sequence[Finding]:
        """What is asked elsewhere: the model and the chats' platforms. May take a minute, and costs some tokens."""
        ...


def console_task_json(task: Task, home: Address = HOME) -> Json:
    """A task, with where it is in the console at `home`."""
    more = {"follows": task.request.follows, "todos": [todo.model_dump(mode="json") for todo in task.todos]}
    return task_json(task) | place_json(task, home) | more


def place_json(task: Task, home: Address) -> Json:
    """`thread`: the task's place in that chat, null when it lives in another one; and `anchor`: the message there that
    asked for it, "" for none.
    """
    here = task.place if task.place is not None and is_at(task.place, home) else None
    return {
        "thread": None if here is None else here.thread,
        "anchor": task.request.origin.anchor if is_at(task.origin, home) else "",
    }


def work_json(task: Task, place: int | None) -> Json:
    """What a phone does or will do: a task, or one phone's part of it. `task` is the one that people know."""
    return {
        "task": task.parent or task.id,
        "called": task.called,
        "phone": task.phone,
        "state": task.state.value,
        "holds": task.state in HOLDS,
        "place": place,
        "text": task.text,
        "person": task.person.name or task.person.id,
        "platform": task.origin.platform,
        "steps": task.steps,
        "frame": task.frame,
        "created": task.created,
    }


def is_at(place: Address, home: Address) -> bool:
    """Whether the place is in that chat of the console."""
    return (place.platform, place.chat) == (home.platform, home.chat)


def question_json(open_question: OpenQuestion, known: str, home: Address = HOME, *, allowed: bool = True) -> Json:
    """An open question of the task that people know as `known`. `message` is the console message that shows it, null
    when another chat does; `allowed` says whether who reads this may answer it.
    """
    message = open_question.message
    here = message is not None and is_at(message.address, home)
    question = open_question.question
    return {
        "question": question.id,
        "task": known,
        "kind": question.kind.value,
        "text": question.text,
        "choices": list(question.choices),
        "detail": question.detail,
        "again": question.again,
        "sends": question.sends,
        "to": None if question.to is None else question.to.model_dump(),
        "anew": question.before is not None,
        "frame": question.frame,
        "asked": open_question.asked,
        "expires": open_question.expires,
        "message": message.message if here and message else None,
        "allowed": allowed,
    }


@dataclass(frozen=True, slots=True)
class Standing:
    """How tasks, phones, questions and the model stand at one moment. `places` are places in the queue by task, `waits`
    is what holds up everything.
    """

    tasks: tuple[Task, ...]
    active: tuple[Task, ...]
    places: Mapping[str, int | None]
    phones: tuple[PhoneInfo, ...]
    questions: tuple[OpenQuestion, ...]
    model: ModelState
    waits: tuple[Wait, ...] = ()


def waits_of(services: Services) -> tuple[Wait, ...]:
    """What holds up everything at the moment."""
    return tuple(wait for wait in services.waits() if wait.what in HOLDING_UP)


async def standing_of(services: Services) -> Standing:
    """How everything stands now: three reads of the store, whatever is shown."""
    tasks = services.task_service
    active = tuple(await tasks.active())
    recent = tuple(await tasks.recent(TASKS_SHOWN))
    listed = {task.id for task in recent}
    old = [task for task in active if not task.parent and task.id not in listed]
    places = {task.id: await tasks.place_in_queue(task.id) for task in active if not task.parts}
    questions = await services.store.questions.open()
    phones = services.phones.list()
    shown = (*recent, *reversed(old))
    return Standing(shown, active, places, phones, questions, services.model(), waits_of(services))


def state_json(
    standing: Standing, home: Address = HOME, allowed: Callable[[OpenQuestion], bool] = lambda _question: True
) -> Json:
    """All that the page of `home` shows beside the messages; `allowed` says which questions may be answered there."""
    whole = {task.id: task.parent or task.id for task in standing.active}
    return {
        "tasks": [console_task_json(task, home) for task in standing.tasks],
        "work": [work_json(task, standing.places[task.id]) for task in standing.active if task.id in standing.places],
        "devices": [phone_json(phone, standing.active) for phone in standing.phones],
        "questions": [
            question_json(one, whole.get(one.task, one.task), home, allowed=allowed(one)) for one in standing.questions
        ],
        "model_state": model_json(standing.model),
        "held_up": [_held_up(wait) for wait in standing.waits],
    }


def _held_up(wait: Wait) -> str:
    """Why no work can go on or soon will not, and what ends that where the machine's owner can."""
    remedy = say(f"check.waits.fix.{wait.what}") if wait.what in {"disk", "memory"} else ""
    return f"{standstill_words([wait]) or said(wait.why)} {remedy}".rstrip()


def changes_json(before: Json, now: Json) -> Json:
    """What is another in `now`: of the tasks only those that are, of all else the whole list. Nothing: an empty one."""
    known = {task["task"]: task for task in before["tasks"]}
    tasks = [task for task in now["tasks"] if known.get(task["task"]) != task]
    changed = {name: value for name, value in now.items() if name != "tasks" and before[name] != value}
    return changed | ({"tasks": tasks} if tasks else {})
