"""Stores every change of a task. The task that a part belongs to is updated with it, and an end is reported
to people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.events import Source
from agent.models.base import Usage
from agent.run import NeedsModel, Outcome
from agent.task_results import Value
from bot.domain.address import Person
from bot.domain.task import Task, TaskState, UnknownTask, moved
from bot.domain.task_events import Ended, LogEvent, StateChanged
from bot.domain.watch import Finding, TaskWatch, Verdict, judge
from bot.store.connection import Transaction
from bot.store.outbox import FinalPayload, Notice, NoticePayload
from bot.store.store import Store
from bot.tasks.device_jobs import followed
from bot.tasks.question_closing import QuestionClosing


@dataclass(frozen=True, slots=True)
class Ending:
    """How a task ends. If `steps`, `usage` or `frame` is None, the task keeps its value."""

    outcome: Outcome
    summary: str
    data: str | None = None
    steps: int | None = None
    usage: Usage | None = None
    frame: str | None = None
    sources: tuple[Source, ...] = ()
    value: Value | None = None
    """The result as a watch compares it; None if nothing was found."""
    needs_model: NeedsModel | None = None
    """What could not be done because no model is set."""
    by: Person | None = None
    """The person who ended it, if one did."""


class Transitions:
    """Changes tasks; each method is called within a transaction. `clock` returns Unix seconds."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self.closings = QuestionClosing(store, clock)

    async def known(self, transaction: Transaction, task: str) -> Task:
        """Return the task with this number. Raises UnknownTask."""
        found = await self._store.tasks.get(task, transaction)
        if found is None:
            raise UnknownTask(task)
        return found

    async def save(self, transaction: Transaction, before: Task, task: Task, *, by: Person | None = None) -> None:
        """Store `task`, whose former state was `before`, and update the task that it is a part of. `by` is the person
        who ended it, if one did.
        """
        now = self._clock()
        await self._keep(transaction, before, task, now, by)
        if not task.parent:
            return
        before = await self.known(transaction, task.parent)
        if before.state is TaskState.ENDED:
            return
        parts = await self._store.tasks.parts(task.parent, transaction)
        after = followed(before, parts, now=now, frame=task.frame)
        if after.state is TaskState.ENDED:
            await self.closings.by_end(transaction, after)
        await self._keep(transaction, before, after, now, by)
        if after.state is TaskState.ENDED:
            await self._store.outbox.add(transaction, after.id, _final(after, by), now=now)
        elif after.state is TaskState.INTERRUPTED and before.state is not TaskState.INTERRUPTED:
            await self._store.outbox.add(transaction, after.id, NoticePayload(Notice.INTERRUPTED), now=now)

    async def _keep(
        self, transaction: Transaction, before: Task, task: Task, now: float, by: Person | None = None
    ) -> None:
        await self._store.tasks.save(transaction, task, now=now)
        if task.state is before.state:
            return
        event: LogEvent = StateChanged(state=task.state)
        if task.outcome is not None:
            event = Ended(
                outcome=task.outcome,
                summary=task.summary,
                data=task.data,
                steps=task.steps,
                usage=task.usage,
                frame=task.frame,
                sources=task.sources,
                needs_model=task.needs_model,
                quiet=_is_own(task, by),
            )
        await self._store.task_events.append(transaction, task, event)

    async def end(self, transaction: Transaction, task: Task, ending: Ending) -> Task:
        """End a task, write its final message, and return it. The run of a watch gets a message only if there is news,
        and a part of a task on several phones gets none.

        Every task ends through this method, except a task on several phones: `save` ends it with its last part.
        """
        now = self._clock()
        ended = replace(
            moved(task, TaskState.ENDED, now=now, outcome=ending.outcome),
            summary=ending.summary,
            data=ending.data,
            steps=task.steps if ending.steps is None else ending.steps,
            usage=task.usage if ending.usage is None else ending.usage,
            frame=ending.frame or task.frame,
            sources=ending.sources,
            needs_model=ending.needs_model,
        )
        if (watch := task.request.watch) is not None:
            ended = replace(ended, verdict=await self._judged(transaction, watch, ending, now))
        await self.closings.by_end(transaction, ended)
        await self.save(transaction, task, ended, by=ending.by)
        if not task.parent and ended.end_is_told:
            await self._store.outbox.add(transaction, task.id, _final(task, ending.by), now=now)
        return ended

    async def _judged(self, transaction: Transaction, watch: TaskWatch, ending: Ending, now: float) -> Verdict:
        """The verdict on a watch's reading; None if a person ended it, or the watch was removed meanwhile."""
        readings = await self._store.schedules.readings(transaction, watch.schedule)
        if readings is None or ending.outcome is Outcome.CANCELLED:
            return Verdict(finding=Finding.SILENT)
        verdict, readings = judge(watch.watch, readings, ending.value, now)
        await self._store.schedules.remember(transaction, watch.schedule, readings)
        return verdict


def _final(task: Task, by: Person | None) -> FinalPayload:
    return FinalPayload(quiet=_is_own(task, by))


def _is_own(task: Task, by: Person | None) -> bool:
    return by is not None and (by.platform, by.id) == (task.person.platform, task.person.id)
