"""Read access to tasks, steps and questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from statistics import median

from agent.events import ModelAway, Told
from bot.domain.address import Address, MessageRef, Person
from bot.domain.task import Ahead, OpenQuestion, PartNow, StepRow, Task, UnknownTask
from bot.domain.task_request import Origin
from bot.store.store import Store
from bot.tasks.event_bus import ChangeListener, EventBus, EventListener
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
        self, store: Store, record: TaskRepository, workers: Workers, news: EventBus, leases: PhoneLeases
    ) -> None:
        self._store = store
        self._record = record
        self._workers = workers
        self._news = news
        self._leases = leases

    def subscribe(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with a task's id after each committed change; it must be quick. Returns a function that
        unsubscribes.
        """
        return self._news.subscribe(listener)

    def on_event(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` with each event of a task's work: stored ones after the commit, and those that are not
        stored. It must be quick. Returns a function that unsubscribes.
        """
        return self._news.on_event(listener)

    def on_passing(self, listener: EventListener) -> Callable[[], None]:
        """Call `listener` with each event that is not stored in a log, such as streamed text; it must be quick. Returns
        a function that unsubscribes.
        """
        return self._news.on_passing(listener)

    def status(self, task: str) -> Told | ModelAway | None:
        """Return what the work on a task is waiting for, or which model stands in for its own; None if neither. This is
        not stored.
        """
        return self._news.status(task)

    async def get(self, task: str) -> Task | None:
        """Return the task with this number; None if there is none."""
        return await self._store.tasks.get(task)

    async def known(self, task: str) -> Task:
        """Return the task with this number. Raises UnknownTask."""
        found = await self._store.tasks.get(task)
        if found is None:
            raise UnknownTask(task)
        return found

    async def parts(self, task: str) -> tuple[Task, ...]:
        """Return the parts of a task for several phones, in the order in which the phones were named; empty for any
        other task.
        """
        return await self._store.tasks.parts(task)

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

    def ending(self, task: str) -> bool:
        """Return whether a person has cancelled the task and its last action has not finished yet."""
        return self._workers.ending(task)

    async def parts_now(self, task: str) -> tuple[PartNow, ...]:
        """Return the progress of each part of a task for several phones; empty for any other task."""
        steps, place = self._store.steps, self._workers.place
        return tuple([PartNow(part, await steps.last(part.id), place(part.id)) for part in await self.parts(task)])

    async def of_event(self, origin: Origin) -> Task | None:
        """Return the task that was accepted from this event (a chat message, for example); None if there is none."""
        return await self._store.tasks.of_event(None, origin)

    async def recent(
        self, limit: int, before: str | None = None, accounts: Collection[Person] | None = None
    ) -> tuple[Task, ...]:
        """Return up to `limit` tasks, latest first; parts of tasks are not among them. With `before`, only those
        accepted before the task with that id; with `accounts`, only tasks of these people.
        """
        return await self._store.tasks.recent(limit, before=before, accounts=accounts)

    async def around(self, tasks: Collection[str]) -> tuple[Task, ...]:
        """Return these tasks, their parts, and the tasks that they are parts of."""
        return await self._store.tasks.around(tasks)

    async def active(self) -> tuple[Task, ...]:
        """Return all unfinished tasks in order of acceptance. Parts come after the task that they belong to."""
        return await self._store.tasks.active()

    async def working_on(self, phone: str) -> Task | None:
        """Return the unfinished task that has begun on this phone, also if it is paused or interrupted; None if there
        is none.
        """
        return await self._store.tasks.working_on(phone)

    async def in_place(self, address: Address) -> Task | None:
        """Return the task whose messages go to this place: the latest unfinished one, else the latest; None if there is
        none.
        """
        return await self._store.tasks.in_place(address)

    async def made_for_tasks(self, address: Address) -> bool:
        """Return whether the place is a thread that was opened for a task."""
        return await self._store.tasks.made_for_tasks(address)

    async def steps(self, task: str, *, after: int = 0) -> tuple[StepRow, ...]:
        """Return the steps of a task and of its parts in order, without the first `after`."""
        return await self._store.steps.of(task, after=after)

    async def last_step(self, task: str) -> StepRow | None:
        """Return the latest step of a task or of its parts; None before the first step."""
        return await self._store.steps.last(task)

    async def place_in_queue(self, task: str) -> int | None:
        """Return the task's place in the queue, from 1; None if it is not waiting for a phone."""
        return self._workers.place(task)

    async def open_questions(self, task: str | None = None, place: Address | None = None) -> tuple[OpenQuestion, ...]:
        """Return the open questions, oldest first: all, those of a task and its parts, or those shown at a place."""
        return await self._store.questions.open(task, place)

    async def question(self, question: str) -> OpenQuestion | None:
        """Return the question with this id, open or closed; None if there is none."""
        return await self._store.questions.get(question)

    async def question_shown(self, question: str, message: MessageRef) -> None:
        """Record that the question was sent as this chat message."""
        await self._store.questions.shown(question, message)
        shown = await self._store.questions.get(question)
        if shown is not None:
            self._news.changed(shown.task)

    async def set_place(self, task: str, place: Address) -> Task:
        """Send the task's card and messages to this place from now on, and return the task. Raises UnknownTask."""
        changed = await self._record.place(task, place)
        self._news.changed(task)
        return changed
