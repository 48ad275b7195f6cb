"""Read access to tasks, steps and questions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from statistics import median

from bot.domain.address import Address, MessageRef
from bot.domain.task import Ahead, PartNow, Task
from bot.domain.task_request import Origin
from bot.store.store import Store
from bot.tasks.event_bus import EventBus
from bot.tasks.leases import PhoneLeases
from bot.tasks.repository import TaskRepository
from bot.tasks.workers import Workers

ESTIMATED_BY = 20
"""Number of latest tasks from which the length of a wait is estimated."""


def ahead_of(
    task: Task, place: int, active: Sequence[Task], recent: Sequence[Task], holding: Collection[str]
) -> Ahead | None:
    """Return which other task has the phone that this one waits for, with the estimated wait; None if none has it.

    The estimate is the median duration of the latest tasks (`recent`, latest first) times `place`, the task's place in
    the queue. `active` are the unfinished tasks, `holding` the ids of those that have a phone.
    """
    working = [
        other
        for other in active
        if other.id in holding and other.id != task.id and other.phone and task.phone in {"", other.phone}
    ]
    if not working:
        return None
    latest = recent[:ESTIMATED_BY]
    took = [one.ended - one.started for one in latest if one.ended is not None and one.started is not None]
    return Ahead(working[0], median(took) * place if took else None)


class TaskQueries:
    """Reads tasks, steps and questions as they are now, notifies of changes, and stores where tasks and questions are
    shown.
    """

    def __init__(
        self, store: Store, repository: TaskRepository, workers: Workers, events: EventBus, leases: PhoneLeases
    ) -> None:
        self._store = store
        self._repository = repository
        self._workers = workers
        self._events = events
        self._leases = leases
        # What others know already is offered as it is, with its own documentation.
        self.subscribe, self.on_event, self.on_transient = events.subscribe, events.on_event, events.on_transient
        self.status = events.status
        stored = store.tasks
        self.get, self.known, self.parts, self.around = stored.get, stored.known, stored.parts, stored.around
        self.recent, self.active, self.working_on = stored.recent, stored.active, stored.working_on
        self.in_place, self.made_for_tasks = stored.in_place, stored.made_for_tasks
        self.steps, self.last_step = store.steps.of, store.steps.last
        self.question, self.open_questions = store.questions.get, store.questions.open
        self.ending = workers.ending

    async def ahead(self, task: Task) -> Ahead | None:
        """Return which other task has the phone that this one waits for, and the estimated wait; None if none has it,
        or if this one is not waiting for a phone.
        """
        place = self._workers.place(task.id)
        if place is None:
            return None
        active, recent = await self._store.tasks.active(), await self._store.tasks.recent(ESTIMATED_BY)
        return ahead_of(task, place, active, recent, self.holding())

    def holding(self) -> frozenset[str]:
        """Return the ids of the tasks that have a phone now. A paused or waiting task may have given it back."""
        return frozenset(lease.run.task for lease in self._leases.held)

    async def parts_now(self, task: str) -> tuple[PartNow, ...]:
        """Return the progress of each part of a task for several phones; empty for any other task."""
        steps, place = self._store.steps, self._workers.place
        return tuple([PartNow(part, await steps.last(part.id), place(part.id)) for part in await self.parts(task)])

    async def place_in_queue(self, task: str) -> int | None:
        """Return the task's place in the queue, from 1; None if it is not waiting for a phone."""
        return self._workers.place(task)

    async def of_event(self, origin: Origin) -> Task | None:
        """Return the task that was accepted from this event (a chat message, for example); None if there is none."""
        return await self._store.tasks.of_event(None, origin)

    async def question_shown(self, question: str, message: MessageRef) -> None:
        """Record that the question was sent as this chat message."""
        await self._store.questions.shown(question, message)
        shown = await self._store.questions.get(question)
        if shown is not None:
            self._events.publish_change(shown.task)

    async def set_place(self, task: str, place: Address) -> Task:
        """Send the task's card and messages to this place from now on, and return the task. Raises UnknownTask."""
        changed = await self._repository.set_place(task, place)
        self._events.publish_change(task)
        return changed
