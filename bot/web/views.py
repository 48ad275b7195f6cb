"""The state of tasks, phones, questions and the model as pages show it: everything at first, then only what changed, as
plain JSON objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Final, Protocol

from agent.events import ModelAway, Told
from agent.models.state import ModelState
from bot.application.services import Services
from bot.cards.card import CardFacts, card_text
from bot.cards.formatting import status_words
from bot.cards.question import question_text
from bot.checks.settings import Shown
from bot.domain.address import Address
from bot.domain.finding import Finding
from bot.domain.outgoing import Button
from bot.domain.task import OpenQuestion, PartNow, StepRow, Task, TaskState
from bot.monitoring.dependencies import STORE, Wait, standstill_words
from bot.tasks.queries import ahead_of
from bot.texts import say
from bot.views.tasks import Json, model_json, phone_json, task_json
from bot.web.chat import CAPABILITIES, HOME
from devices.phone import PhoneInfo
from devices.wording import said

TASKS_SHOWN = 100
"""Tasks in the list of the page."""
HOLDING_UP: Final = (STORE, "disk", "memory", "adb")
"""Outages that stop all work. The model, phones and chats are shown elsewhere."""


@dataclass(frozen=True, slots=True)
class StateSnapshot:
    """The state of tasks, phones, questions and the model at one moment."""

    tasks: tuple[Task, ...]
    """The latest tasks, for the page's list."""
    active: tuple[Task, ...]
    """All unfinished tasks."""
    places: Mapping[str, int | None]
    """Positions in the queue by task id; None for a task that is not waiting."""
    phones: tuple[PhoneInfo, ...]
    questions: tuple[OpenQuestion, ...]
    model: ModelState
    waits: tuple[Wait, ...] = ()
    """The outages that stop all work."""
    facts: Mapping[str, CardFacts] = field(default_factory=dict)
    """What the cards of active tasks show, by task id."""
    statuses: Mapping[str, Told | ModelAway] = field(default_factory=dict)
    """What active tasks are waiting for, by task id."""
    zone: tzinfo = UTC

    def parts(self, task: str) -> tuple[Task, ...]:
        """Return the unfinished parts of a task for several phones."""
        return tuple(one for one in self.active if one.parent == task)


@dataclass
class Changes:
    """What has changed since the state was last read."""

    tasks: set[str] = field(default_factory=set)
    """The ids of the changed tasks."""
    questions: bool = False
    """Whether a question was asked or closed."""
    steps: dict[str, StepRow] = field(default_factory=dict)
    """The latest step of each task that has a new one, by the id of the task that people see."""


def waits_of(services: Services) -> tuple[Wait, ...]:
    """Return the outages that stop all work now, such as a database that cannot be reached."""
    return tuple(wait for wait in services.waits() if wait.what in HOLDING_UP)


async def read_snapshot(services: Services) -> StateSnapshot:
    """Read the whole current state. It takes three reads of the store, and further ones for the cards. Raises
    StoreError.
    """
    tasks = services.task_service
    recent, active = await tasks.recent(TASKS_SHOWN), await tasks.active()
    questions = tuple(await services.store.questions.open())
    return await _build_snapshot(services, (*recent, *active), questions, None, Changes())


async def update_snapshot(services: Services, before: StateSnapshot, changes: Changes) -> StateSnapshot:
    """Return the state updated from `before`: reads only the changed tasks, and the questions if they changed. Raises
    StoreError.
    """
    found = await services.task_service.around(changes.tasks) if changes.tasks else ()
    questions = tuple(await services.store.questions.open()) if changes.questions else before.questions
    return await _build_snapshot(services, (*before.tasks, *before.active, *found), questions, before, changes)


async def _build_snapshot(
    services: Services,
    known: Iterable[Task],
    questions: tuple[OpenQuestion, ...],
    before: StateSnapshot | None,
    changes: Changes,
) -> StateSnapshot:
    """Build the state. In `known` newer versions of a task come after older ones."""
    tasks, newest = services.task_service, {task.id: task for task in known}
    ordered = sorted(newest.values(), key=lambda task: int(task.id))
    active = tuple(task for task in ordered if task.state is not TaskState.ENDED)
    whole = [task for task in reversed(ordered) if not task.parent]
    shown = (*whole[:TASKS_SHOWN], *(task for task in whole[TASKS_SHOWN:] if task.state is not TaskState.ENDED))
    now = StateSnapshot(
        shown,
        active,
        {task.id: await tasks.place_in_queue(task.id) for task in active if not task.parts},
        services.phones.list(),
        questions,
        services.model(),
        waits_of(services),
        {},
        {task.id: status for task in active if (status := tasks.status(task.id)) is not None},
        services.zone,
    )
    facts = {}
    for task in active:
        if task.parent:
            continue
        told = None if before is None else before.facts.get(task.id)
        if told is not None and before is not None:
            moved = task.id in changes.steps or now.parts(task.id) != before.parts(task.id)
            told = None if task.parts and moved else replace(told, step=changes.steps.get(task.id, told.step))
        facts[task.id] = await _facts(task, now, services, told)
    return replace(now, facts=facts)


async def _facts(task: Task, now: StateSnapshot, services: Services, known: CardFacts | None) -> CardFacts:
    """Return the facts for the card of a task; `known` are those that need no reading."""
    tasks, place = services.task_service, now.places.get(task.id)
    step = await tasks.last_step(task.id) if known is None else known.step
    parts = (await tasks.parts_now(task.id) if task.parts else ()) if known is None else known.parts
    ahead = None if place is None else ahead_of(task, place, now.active, now.tasks, tasks.holding())
    here = tuple(PartNow(part.task, part.step, now.places.get(part.task.id)) for part in parts)
    return CardFacts(step, place, ahead, tasks.ending(task.id), here)


HOLDS = frozenset({TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED})
"""A task in one of these states has its phone, or will continue where it left it."""


class ConsoleChecks(Protocol):
    """The checks that the service makes of its own settings and connections."""

    def settings(self) -> Sequence[Shown]:
        """Return the settings with their values, without secrets."""

    async def near(self) -> Sequence[Finding]:
        """Run the checks that contact no other server."""

    async def far(self) -> Sequence[Finding]:
        """Run the checks that contact the model and the chats. They may take a minute, and cost some tokens."""


def console_task_json(task: Task, home: Address) -> Json:
    """Convert a task to JSON, including its place in the console's chat at `home`."""
    more = {"follows": task.request.follows, "todos": [todo.model_dump(mode="json") for todo in task.todos]}
    return task_json(task) | place_json(task, home) | more


def place_json(task: Task, home: Address) -> Json:
    """Return two fields as JSON: `thread`, the task's thread in the chat at `home` (null if it is elsewhere), and
    `anchor`, the message there that asked for the task ("" if none).
    """
    here = task.place if task.place is not None and is_at(task.place, home) else None
    return {
        "thread": None if here is None else here.thread,
        "anchor": task.request.origin.anchor if is_at(task.origin, home) else "",
    }


def work_json(task: Task, place: int | None) -> Json:
    """Convert what a phone is doing or will do to JSON: a task, or one phone's part of it. `place` is its position in
    the queue. The field `task` is the number of the whole task, which people know.
    """
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


def button_json(button: Button) -> Json:
    """Convert a button to JSON: its label, the data that a press sends, and its style."""
    return {"label": button.label, "data": button.data, "style": button.style}


def is_at(place: Address, home: Address) -> bool:
    """Return whether the place is in the console's chat at `home`."""
    return (place.platform, place.chat) == (home.platform, home.chat)


def question_json(open_question: OpenQuestion, task: Task, *, allowed: bool = True) -> Json:
    """Convert an open question of a task, or of one phone's part, to JSON. `allowed` says whether the reader may answer
    it. The field `told` contains the question as a message, with its buttons.
    """
    question = open_question.question
    shown = question_text(
        open_question, task, now=open_question.asked, menu_choices=CAPABILITIES.menu_choices, counts_down=True
    )
    menu = None
    if shown.menu is not None:
        menu = {"choices": [button_json(choice) for choice in shown.menu.choices], "prompt": shown.menu.prompt}
    return {
        "question": question.id,
        "task": task.parent or task.id,
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
        "allowed": allowed,
        "told": {
            "heading": shown.heading,
            "body": shown.body,
            "footer": shown.footer,
            "buttons": [button_json(button) for row in shown.buttons for button in row],
            "menu": menu,
        },
    }


def state_json(
    snapshot: StateSnapshot, home: Address = HOME, allowed: Callable[[OpenQuestion], bool] = lambda _question: True
) -> Json:
    """Convert the state to JSON: everything that the page of the chat at `home` shows besides messages. `allowed`
    returns whether the page may answer a question.
    """
    active = {task.id: task for task in snapshot.active}
    return {
        "tasks": [console_task_json(task, home) | {"card": card_json(task, snapshot)} for task in snapshot.tasks],
        "work": [work_json(task, snapshot.places[task.id]) for task in snapshot.active if task.id in snapshot.places],
        "devices": [phone_json(phone, snapshot.active) for phone in snapshot.phones],
        "questions": [
            question_json(one, active[one.task], allowed=allowed(one))
            for one in snapshot.questions
            if one.task in active
        ],
        "model_state": model_json(snapshot.model),
        "held_up": [_held_up(wait) for wait in snapshot.waits],
    }


def card_json(task: Task, snapshot: StateSnapshot) -> Json | None:
    """Return as JSON what is shown beside the phone of an active task: screen, last touch, progress and buttons. None
    for other tasks.
    """
    facts = snapshot.facts.get(task.id)
    if facts is None:
        return None
    statuses = snapshot.statuses
    card = card_text(task, facts, note=lambda each: status_words(statuses.get(each), snapshot.zone), counts_down=True)
    frame, mark = facts.screen(task)
    buttons = [button_json(button) for row in card.buttons for button in row]
    return {"body": card.body, "footer": card.footer, "buttons": buttons, "frame": frame, "mark": mark}


def _held_up(wait: Wait) -> str:
    """Say why work cannot or soon will not go on, and what the owner of the machine can do about it."""
    remedy = say(f"check.waits.fix.{wait.what}") if wait.what in {"disk", "memory"} else ""
    return f"{standstill_words([wait]) or said(wait.why)} {remedy}".rstrip()


def changes_json(before: Json, now: Json) -> Json:
    """Return what is different in `now` compared with `before`. Only changed tasks are included; other lists are
    included whole if they changed. Empty if nothing did.
    """
    known = {task["task"]: task for task in before["tasks"]}
    tasks = [task for task in now["tasks"] if known.get(task["task"]) != task]
    changed = {name: value for name, value in now.items() if name != "tasks" and before[name] != value}
    return changed | ({"tasks": tasks} if tasks else {})
