"""Stores every change of a task. The task that a part belongs to is updated with it, unanswered questions are closed,
and an end is reported to people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.events import Source
from agent.models.base import Usage
from agent.run import NeedsModel, Outcome
from agent.task_results import Value
from bot.domain.address import Person
from bot.domain.task import TRANSITIONS, Closing, OpenQuestion, Task, TaskState, moved
from bot.domain.task_events import Ended, LogEvent, QuestionClosed, StateChanged
from bot.domain.watch import Finding, TaskWatch, Verdict, judge
from bot.people.access import same_person
from bot.store.audit import AuditKind
from bot.store.database import Transaction
from bot.store.outbox import FinalPayload, Notice, NoticePayload
from bot.store.store import Store
from bot.texts import say, speaking

_WORST_LAST = (
    Outcome.SUCCEEDED,
    Outcome.ANSWERED,
    Outcome.UNVERIFIED,
    Outcome.CANCELLED,
    Outcome.DECLINED,
    Outcome.BLOCKED,
    Outcome.FAILED,
)


def combined_state(parts: Sequence[Task]) -> TaskState:
    """Return the state of a task with these parts.

    A part that needs a person comes first: if one is interrupted, the whole task is, because that part waits to be
    resumed. Once a part has begun, the task is working as long as any part is working or queued. After that it is
    waiting if any part waits for an answer, otherwise paused.
    """
    states = {part.state for part in parts}
    live = states - {TaskState.ENDED}
    if not live:
        return TaskState.ENDED
    if TaskState.INTERRUPTED in live:
        return TaskState.INTERRUPTED
    if states == {TaskState.QUEUED}:
        return TaskState.QUEUED
    if live & {TaskState.WORKING, TaskState.QUEUED}:
        return TaskState.WORKING
    return TaskState.WAITING if TaskState.WAITING in live else TaskState.PAUSED


def outcome_of(parts: Sequence[Task]) -> Outcome:
    """Return the outcome of the whole task: success if all parts succeeded, otherwise the worst outcome among them."""
    return max((part.outcome or Outcome.FAILED for part in parts), key=_WORST_LAST.index)


def updated_from_parts(task: Task, parts: Sequence[Task], *, now: float, frame: str | None = None) -> Task:
    """Return the task with its state, step count and usage updated from its parts. `frame` is the newest screenshot's
    id; `now` is in Unix seconds.
    """
    usage = sum((part.usage for part in parts), Usage())
    task = replace(task, steps=sum(part.steps for part in parts), usage=usage, frame=frame or task.frame)
    to = combined_state(parts)
    if to is TaskState.QUEUED and task.started is not None:
        # After a restart all parts wait for their phones again, but the task has already begun.
        to = TaskState.WORKING
    if to is task.state:
        return task
    if to is TaskState.ENDED:
        ended = moved(task, to, now=now, outcome=outcome_of(parts))
        with speaking(task.person.language):
            lacks = next((part.needs_model for part in parts if part.needs_model is not None), None)
            data, sources = data_of(parts), sources_of(parts)
            return replace(ended, summary=summary_of(parts), data=data, sources=sources, needs_model=lacks)
    # What one part does after another may need two moves of the table for all of them: waiting, working, paused.
    if to not in TRANSITIONS[task.state]:
        task = moved(task, TaskState.WORKING, now=now)
    return moved(task, to, now=now)


def summary_of(parts: Sequence[Task]) -> str:
    """Return a text that says how many parts are done, followed by each phone's outcome and summary."""
    done = sum(part.outcome is Outcome.SUCCEEDED for part in parts)
    lines = [say("parts.done", done=done, total=len(parts))]
    for number, part in enumerate(parts, 1):
        outcome = say(f"outcome.{part.outcome}")
        lines.append(say("parts.ended", number=number, phone=part.phone_name, outcome=outcome, summary=part.summary))
    return "\n".join(lines)


def data_of(parts: Sequence[Task]) -> str | None:
    """Return the data that the phones found, as text under each phone's name; None if none found any."""
    return "\n".join(f"{part.phone_name}: {part.data}" for part in parts if part.data) or None


def sources_of(parts: Sequence[Task]) -> tuple[Source, ...]:
    """Return the web pages that were read for any of the parts, without duplicates."""
    return tuple({page.url: page for part in parts for page in part.sources}.values())


class QuestionClosing:
    """Closes questions that got no answer. `clock` returns Unix seconds."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    async def close_at_end(self, transaction: Transaction, ended: Task) -> None:
        """Close the questions of a task that has ended."""
        why = Closing.CANCELLED if ended.outcome is Outcome.CANCELLED else Closing.ENDED
        await self._close(transaction, ended.id, None, why)

    async def close_unneeded(self, transaction: Transaction, task: str, question: str) -> None:
        """Close a question of a task that continued without an answer. This is not recorded in the audit."""
        await self._close(transaction, task, question, Closing.WENT_ON)

    async def give_up(self, task: str, question: str) -> None:
        """Close a question of a task because nobody will answer it."""
        await self._store.write(lambda transaction: self._close(transaction, task, question, Closing.GIVEN_UP))

    async def expire(self, now: float) -> tuple[OpenQuestion, ...]:
        """Close the questions that have expired at `now` (Unix seconds), and return them. Writes nothing if there are
        none.
        """
        if not await self._store.questions.due(now):
            return ()

        async def work(transaction: Transaction) -> tuple[OpenQuestion, ...]:
            expired = await self._store.questions.expire(transaction, now=now)
            await self._record_closed(transaction, expired)
            return expired

        return await self._store.write(work)

    async def _close(self, transaction: Transaction, task: str, question: str | None, why: Closing) -> None:
        closed = await self._store.questions.close(transaction, task, question, why=why, now=self._clock())
        await self._record_closed(transaction, closed)

    async def _record_closed(self, transaction: Transaction, closed: tuple[OpenQuestion, ...]) -> None:
        for one in closed:
            task = await self._store.tasks.known(one.task, transaction)
            closing = QuestionClosed(question=one.question.id, why=one.closing)
            await self._store.task_events.append(transaction, task, closing)
            if one.closing is not Closing.WENT_ON:
                why = "" if one.closing is None else one.closing.value
                await self._store.audit.add(transaction, AuditKind.UNANSWERED, task.person, task=task.id, detail=why)


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
        self.question_closing = QuestionClosing(store, clock)

    async def save(self, transaction: Transaction, before: Task, task: Task, *, by: Person | None = None) -> None:
        """Store `task`, whose former state was `before`, and update the task that it is a part of. `by` is the person
        who ended it, if one did.
        """
        now = self._clock()
        await self._save_and_log(transaction, before, task, now, by)
        if not task.parent:
            return
        before = await self._store.tasks.known(task.parent, transaction)
        if before.state is TaskState.ENDED:
            return
        parts = await self._store.tasks.parts(task.parent, transaction)
        after = updated_from_parts(before, parts, now=now, frame=task.frame)
        if after.state is TaskState.ENDED:
            await self.question_closing.close_at_end(transaction, after)
        await self._save_and_log(transaction, before, after, now, by)
        if after.state is TaskState.ENDED:
            await self._store.outbox.add(transaction, after.id, _final(after, by), now=now)
        elif after.state is TaskState.INTERRUPTED and before.state is not TaskState.INTERRUPTED:
            await self._store.outbox.add(transaction, after.id, NoticePayload(Notice.INTERRUPTED), now=now)

    async def _save_and_log(
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
            ended = replace(ended, verdict=await self._judge(transaction, watch, ending, now))
        await self.question_closing.close_at_end(transaction, ended)
        await self.save(transaction, task, ended, by=ending.by)
        if not task.parent and ended.end_is_told:
            await self._store.outbox.add(transaction, task.id, _final(task, ending.by), now=now)
        return ended

    async def _judge(self, transaction: Transaction, watch: TaskWatch, ending: Ending, now: float) -> Verdict:
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
    return by is not None and same_person(by, task.person)
