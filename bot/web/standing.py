"""Reads the state of tasks, phones, questions and the model for the pages: everything at first, then only
what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Final

from agent.events import ModelAway, Told
from agent.models.state import ModelState
from bot.application.services import Services
from bot.cards.card import CardFacts
from bot.domain.task import OpenQuestion, PartNow, StepRow, Task, TaskState
from bot.monitoring.dependencies import STORE, Wait
from bot.tasks.queries import ahead_of
from devices.phone import PhoneInfo

TASKS_SHOWN = 100
"""Tasks in the list of the page."""
HOLDING_UP: Final = (STORE, "disk", "memory", "adb")
"""Outages that stop all work. The model, phones and chats are shown elsewhere."""


@dataclass(frozen=True, slots=True)
class Standing:
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


async def standing_of(services: Services) -> Standing:
    """Read the whole current state. It takes three reads of the store, and further ones for the cards. Raises
    StoreError.
    """
    tasks = services.task_service
    recent, active = await tasks.recent(TASKS_SHOWN), await tasks.active()
    questions = tuple(await services.store.questions.open())
    return await _standing(services, (*recent, *active), questions, None, Changes())


async def standing_after(services: Services, before: Standing, changes: Changes) -> Standing:
    """Return the state updated from `before`: reads only the changed tasks, and the questions if they changed. Raises
    StoreError.
    """
    found = await services.task_service.around(changes.tasks) if changes.tasks else ()
    questions = tuple(await services.store.questions.open()) if changes.questions else before.questions
    return await _standing(services, (*before.tasks, *before.active, *found), questions, before, changes)


async def _standing(
    services: Services,
    known: Iterable[Task],
    questions: tuple[OpenQuestion, ...],
    before: Standing | None,
    changes: Changes,
) -> Standing:
    """Build the state. In `known` newer versions of a task come after older ones."""
    tasks, newest = services.task_service, {task.id: task for task in known}
    ordered = sorted(newest.values(), key=lambda task: int(task.id))
    active = tuple(task for task in ordered if task.state is not TaskState.ENDED)
    whole = [task for task in reversed(ordered) if not task.parent]
    shown = (*whole[:TASKS_SHOWN], *(task for task in whole[TASKS_SHOWN:] if task.state is not TaskState.ENDED))
    now = Standing(
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


async def _facts(task: Task, now: Standing, services: Services, known: CardFacts | None) -> CardFacts:
    """Return the facts for the card of a task; `known` are those that need no reading."""
    tasks, place = services.task_service, now.places.get(task.id)
    step = await tasks.last_step(task.id) if known is None else known.step
    parts = (await tasks.parts_now(task.id) if task.parts else ()) if known is None else known.parts
    ahead = None if place is None else ahead_of(task, place, now.active, now.tasks, tasks.holding())
    here = tuple(PartNow(part.task, part.step, now.places.get(part.task.id)) for part in parts)
    return CardFacts(step, place, ahead, tasks.ending(task.id), here)
