"""The changes of the task service to the database, within its limits: each method is one transaction, which also writes
the messages that people must get.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from agent.effect_facts import AllowedAhead
from agent.events import (
    Asked,
    FileFound,
    Planned,
    Resumed,
    Seen,
    SkillChosen,
    Started,
    Step,
    TaskEnded,
    TaskEvent,
    Thinking,
    Waiting,
)
from agent.questions import Question, QuestionKind, QuestionOrigin
from agent.run import Outcome
from bot.domain.address import Address, Person
from bot.domain.task import Accepted, OpenQuestion, StepRow, Task, TaskState, WrongState, moved
from bot.domain.task_events import Accepted as TaskAccepted
from bot.domain.task_events import Noted, QuestionClosed, StepDone
from bot.domain.task_request import TaskRequest, WishedPhone
from bot.people.quotas import Quotas
from bot.store.audit import AuditKind, YesDetail
from bot.store.database import Transaction
from bot.store.outbox import FilePayload, Notice, NoticePayload, QuestionPayload
from bot.store.store import Store
from bot.store.waiting import PATIENCE_S, retry_while_away
from bot.tasks.transitions import Ending, Transitions


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Time limits and counts of the task service. The service uses the defaults."""

    max_live: int = 200
    """Maximum unfinished tasks; further ones are refused."""
    approve: float = 15 * 60.0
    """Seconds until an approval expires."""
    question: float = 24 * 3600.0
    """Seconds until any other question expires."""
    interrupted: float = 3600.0
    """Seconds until an interrupted task ends if it is not resumed."""
    queued: float = 6 * 3600.0
    """Seconds in the queue after which a task needs a confirmation when the service starts."""
    waited: float = 20.0
    """Seconds of waiting for a phone after which the person gets a message when the work begins."""
    patience: float = 0.8
    """Seconds a command waits for the agent: with what is written after that, a cancelled task ends within a second."""
    goodbye: float = 5.0
    """Seconds an agent that did not end a cancelled task in time may still clean up."""
    drain: float = 15.0
    """Seconds the agent may take to reach a safe point when the service stops."""
    tick: float = 5.0
    """Seconds between checks for what has expired; the shortest expiry is minutes."""


class TaskRepository:
    """Writes the task service's changes to the store."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        limits: ServiceLimits,
        model: Callable[[], str] = str,
        gate: Quotas | None = None,
    ) -> None:
        self._store = store
        self._transitions = Transitions(store, clock)
        self._gate = gate
        self._model = model
        self._clock = self.now = clock
        self._limits = limits
        self.in_flight, self.parts = store.journal.in_flight, store.tasks.parts

    async def accept(self, request: TaskRequest) -> Accepted:
        """Store a new task. If its event was accepted before, the existing task is returned instead; a request with an
        empty event always counts as new. Raises OverQuota or OverTriggerLimit.
        """

        async def work(transaction: Transaction) -> Accepted:
            accepted = await self._add_with_parts(transaction, request, request.phones)
            if not accepted.duplicate:
                if self._gate is not None:
                    await self._gate.admit(transaction, accepted.task, request)
                if (trigger := request.trigger) is not None:
                    await self._store.schedules.mark(transaction, trigger, now=self._clock(), begins=True)
                await self._store.audit.add(transaction, AuditKind.ACCEPTED, request.person, task=accepted.task.id)
            return accepted

        return await self._store.write(work)

    async def end_at_once(self, request: TaskRequest, ending: Ending) -> Accepted:
        """Store a task that ends without having begun. If its event was accepted before, the existing task is returned
        instead.
        """

        async def work(transaction: Transaction) -> Accepted:
            accepted = await self._add_with_parts(transaction, request, ())
            if accepted.duplicate:
                return accepted
            if (trigger := request.trigger) is not None:
                await self._store.schedules.mark(transaction, trigger, now=self._clock(), begins=False)
            return Accepted(await self._transitions.end(transaction, accepted.task, ending), duplicate=False)

        return await self._store.write(work)

    async def _add_with_parts(
        self, transaction: Transaction, request: TaskRequest, phones: tuple[WishedPhone, ...]
    ) -> Accepted:
        """Store the task, with a part for each of several phones."""
        now = self._clock()
        origin = request.origin
        if origin.event and (known := await self._store.tasks.of_event(transaction, origin)) is not None:
            return Accepted(known, duplicate=True)
        several = phones if len(phones) > 1 else ()
        task = await self._add(transaction, request, parts=len(several))
        accepted = TaskAccepted(text=task.text, source=origin.event)
        await self._store.task_events.append(transaction, task, accepted)
        for phone in several:
            await self._add(transaction, replace(request, phones=(phone,)), parent=task.id)
        if origin.event:
            await self._store.tasks.remember_event(transaction, origin, task.id, now=now)
        return Accepted(task, duplicate=False)

    async def _add(
        self, transaction: Transaction, request: TaskRequest, *, parent: str | None = None, parts: int = 0
    ) -> Task:
        task = await self._store.tasks.add(transaction, request, now=self._clock(), parent=parent, parts=parts)
        await self._store.tasks.worked_with(transaction, task.id, self._model())
        return task

    async def change_state(self, task: str, to: Callable[[Task, bool], TaskState]) -> Task:
        """Change the task's state to what `to` returns. `to` is called with the task and whether it has an open
        question. Raises WrongState. If the task becomes interrupted, its person gets a message.
        """

        async def work(transaction: Transaction) -> Task:
            current = await self._store.tasks.known(task, transaction)
            asked = bool(await self._store.questions.open(task, source=transaction))
            changed = moved(current, to(current, asked), now=self._clock())
            await self._transitions.save(transaction, current, changed)
            if changed.state is TaskState.INTERRUPTED and not changed.parent:
                await self._store.outbox.add(transaction, task, NoticePayload(Notice.INTERRUPTED), now=self._clock())
            return changed

        return await self._store.write(work)

    async def known(self, task: str) -> Task:
        """Return the task with this id; waits while the store is unavailable. Raises UnknownTask."""
        return await self._store.write(
            lambda transaction: self._store.tasks.known(task, transaction), patience=PATIENCE_S
        )

    async def followed(self, task: Task, most: int) -> tuple[Task, ...]:
        """Return the stored tasks that this one follows up, at most `most`, oldest first. Tasks of which a message was
        deleted are left out. Waits while the store is unavailable.
        """
        return await retry_while_away(lambda: self._followed(task, most), seconds=PATIENCE_S)

    async def _followed(self, task: Task, most: int) -> tuple[Task, ...]:
        found: list[Task] = []
        number = task.request.follows
        while number and len(found) < most and (before := await self._store.tasks.get(number)) is not None:
            found.append(before)
            number = before.request.follows
        forgotten = await self._store.conversations.with_deleted([one.id for one in found]) if found else ()
        return tuple(one for one in reversed(found) if one.id not in forgotten)

    async def set_place(self, task: str, place: Address) -> Task:
        """Send the task's card and messages to this place from now on, and return the task."""

        async def work(transaction: Transaction) -> Task:
            changed = replace(await self._store.tasks.known(task, transaction), place=place)
            await self._store.tasks.save(transaction, changed, now=self._clock())
            return changed

        # The place has been opened already; if it were not stored, another one would be opened.
        return await self._store.write(work, patience=PATIENCE_S)

    async def open_takeover_question(self, task: str, question: Question) -> bool:
        """Store and send the question that a paused task asks while a person is using its phone. Returns False if such
        a question is already open. Raises WrongState if the task is no longer paused.
        """

        async def work(transaction: Transaction) -> bool:
            current, now = await self._store.tasks.known(task, transaction), self._clock()
            # With several phones, one may wait for an answer while the others are paused.
            still = {TaskState.PAUSED, TaskState.WAITING} if current.parts else {TaskState.PAUSED}
            if current.state not in still:
                raise WrongState(current, "taken")
            questions = self._store.questions
            if any(
                one.question.origin is QuestionOrigin.TAKEOVER for one in await questions.open(task, source=transaction)
            ):
                return False
            await questions.add(transaction, task, question, now=now, expires=now + self._limits.question)
            await self._store.task_events.append(transaction, current, Asked(question=question))
            await self._store.outbox.add(transaction, task, QuestionPayload(question.id), now=now)
            return True

        return await self._store.write(work)

    async def close_takeover_question(self, task: str) -> None:
        """Close the question that waits until a person is done on the phone, because the task continues."""

        async def work(transaction: Transaction) -> None:
            for one in await self._store.questions.open(task, source=transaction):
                if one.question.origin is QuestionOrigin.TAKEOVER:
                    await self._transitions.question_closing.close_unneeded(transaction, task, one.question.id)

        await self._store.write(work)

    async def answer(self, question: OpenQuestion, text: str, by: Person) -> bool:
        """Store the answer to a question. Returns False if the question is closed or has expired; the first answer
        wins.
        """
        name = by.name or by.id

        async def work(transaction: Transaction) -> bool:
            asked = question.question.id
            won = await self._store.questions.answer(transaction, asked, text, by=name, now=self._clock())
            if won:
                task = await self._store.tasks.known(question.task, transaction)
                await self._store.task_events.append(transaction, task, QuestionClosed(question=asked, by=name))
            return won

        return await self._store.write(work)

    async def note(self, task: Task, text: str, by: Person) -> None:
        """Record in the log that a person has given the task a note."""
        noted = Noted(text=text, by=by.name or by.id)
        append = self._store.task_events.append
        # The agent already has the note.
        await self._store.write(lambda transaction: append(transaction, task, noted), patience=PATIENCE_S)

    async def end(self, task: str, ending: Ending, *, patience: float = 0.0) -> Task:
        """End the task with all its parts, and return it; does nothing if it has ended. `patience` is the seconds to
        wait while the store is unavailable; see `Store.write`.
        """

        async def work(transaction: Transaction) -> Task:
            current = await self._store.tasks.known(task, transaction)
            if current.state is TaskState.ENDED:
                return current
            if not current.parts:
                return await self._transitions.end(transaction, current, ending)
            for part in await self._store.tasks.parts(task, transaction):
                if part.state is not TaskState.ENDED:
                    await self._transitions.end(transaction, part, ending)
            return await self._store.tasks.known(task, transaction)

        return await self._store.write(work, patience=patience)

    async def apply_event(self, task: str, event: TaskEvent, *, by: Person | None = None) -> OpenQuestion | None:
        """Store the changes that an event of the agent makes. Events after the task's end change nothing. `by` is the
        person who ended the task, if one did.

        If the event asks a question that was already answered or has expired (the agent missed that), the stored
        question is returned; otherwise None.
        """

        async def work(transaction: Transaction) -> OpenQuestion | None:
            current = await self._store.tasks.known(task, transaction)
            if current.state is TaskState.ENDED:
                return None
            if isinstance(event, Thinking | Waiting | SkillChosen | Planned | Started | Resumed | FileFound):
                await self._store.task_events.append(transaction, current, event)
            match event:
                case Waiting():
                    await self._store.tasks.waits(transaction, task, now=self._clock())
                case SkillChosen():
                    await self._store.tasks.follows(transaction, task, event.skill, event.arguments)
                case Planned():
                    planned = replace(current, todos=event.todos or current.todos)
                    if planned.state is TaskState.QUEUED and planned.members_at_work:
                        planned = moved(planned, TaskState.WORKING, now=self._clock())
                    await self._transitions.save(transaction, current, planned)
                case Started():
                    await self._notify_started(transaction, current)
                    begun = replace(current, phone=event.phone, phone_name=event.phone_name)
                    await self._mark_working(transaction, begun)
                case Seen():
                    await self._transitions.save(transaction, current, replace(current, frame=event.frame))
                case Step():
                    await self._add_step(transaction, current, event)
                case Asked():
                    return await self._add_question(transaction, current, event)
                case Resumed():
                    await self._transitions.question_closing.close_unneeded(transaction, task, event.question)
                    await self._mark_working(transaction, current, begins=False)
                case FileFound():
                    name = f"{current.phone_name} {event.name}" if current.parent else event.name
                    await self._store.outbox.add(
                        transaction, current.parent or task, FilePayload(event.content, name), now=self._clock()
                    )
                case TaskEnded():
                    ending = Ending(
                        event.outcome,
                        event.summary,
                        event.data,
                        event.steps,
                        event.usage,
                        event.frame,
                        event.sources,
                        value=event.value,
                        needs_model=event.needs_model,
                        by=by if event.outcome is Outcome.CANCELLED else None,
                    )
                    await self._transitions.end(transaction, current, ending)
                case _:
                    pass
            return None

        # The agent stands still meanwhile.
        return await self._store.write(work, patience=PATIENCE_S)

    async def _notify_started(self, transaction: Transaction, task: Task) -> None:
        """Send a message that the work begins if the person was told to wait and it took long; otherwise only the
        card changes. With several phones, the first one sends it.
        """
        known = await self._store.tasks.known(task.parent, transaction) if task.parent else task
        if known.state is not TaskState.QUEUED:
            return
        since = await self._store.tasks.waiting_since(transaction, task.id)
        if since is not None and self._clock() - since >= self._limits.waited:
            await self._store.outbox.add(transaction, known.id, NoticePayload(Notice.STARTED), now=self._clock())

    async def _mark_working(self, transaction: Transaction, task: Task, *, begins: bool = True) -> None:
        """Record that the run is working. A paused task stays paused, and one that is only planning stays queued: it
        has no phone yet, so a restart costs only its thoughts.
        """
        before = task
        if begins and task.state is TaskState.PAUSED and task.started is None:
            task = replace(task, started=self._clock())
        if task.state is TaskState.WAITING and task.started is None and not begins:
            task = moved(task, TaskState.QUEUED, now=self._clock())
        elif task.state in {TaskState.QUEUED, TaskState.WAITING}:
            task = moved(task, TaskState.WORKING, now=self._clock())
        await self._transitions.save(transaction, before, task)

    async def _add_step(self, transaction: Transaction, task: Task, event: Step) -> None:
        told = {name: getattr(event, name) for name in Step.model_fields}
        row = StepRow(
            task=task.parent or task.id,
            at=self._clock(),
            part=task.id if task.parent else "",
            phone_name=task.phone_name if task.parent else "",
            **{field.name: told[field.name] for field in fields(StepRow) if field.name in told},
        )
        if await self._store.steps.add(transaction, row):
            await self._audit_standing_approvals(transaction, task, event)
            whole = await self._store.tasks.known(task.parent, transaction) if task.parent else task
            done = StepDone.model_construct(**told, index=whole.steps, phone_name=task.phone_name, target=row.target)
            await self._store.task_events.append(transaction, task, done)
            after = replace(task, steps=task.steps + 1, usage=event.usage, frame=event.frame or task.frame)
            await self._transitions.save(transaction, task, after)

    async def _audit_standing_approvals(self, transaction: Transaction, task: Task, event: Step) -> None:
        """Record in the audit, under the person who gave the task, what was sent by a standing approval."""
        for each in event.effect:
            if isinstance(each, AllowedAhead):
                detail = YesDetail(to=each.to, by=each.by, app=event.app, schedule=each.schedule)
                await self._store.audit.add(
                    transaction, AuditKind.PASSED, task.person, task=task.parent or task.id, detail=detail
                )

    async def _add_question(self, transaction: Transaction, task: Task, event: Asked) -> OpenQuestion | None:
        question, now = event.question, self._clock()
        lifetime = self._limits.approve if question.kind is QuestionKind.APPROVE else self._limits.question
        if await self._store.questions.add(transaction, task.id, question, now=now, expires=now + lifetime):
            await self._store.task_events.append(transaction, task, event)
            await self._store.outbox.add(transaction, task.parent or task.id, QuestionPayload(question.id), now=now)
        stored = await self._store.questions.get(question.id, transaction)
        assert stored is not None
        if stored.answer is not None or stored.expired:
            return stored
        asking = replace(task, frame=question.frame or task.frame)
        if task.state in {TaskState.QUEUED, TaskState.WORKING}:
            asking = moved(asking, TaskState.WAITING, now=now)
        await self._transitions.save(transaction, task, asking)
        return None
