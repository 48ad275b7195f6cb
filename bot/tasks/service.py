"""The task service: accepts and stores tasks, lets the agent work on them, and lets people control them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

from agent.events import Told
from agent.ports.agent import Agent
from agent.questions import ALLOW_FOR_TASK, QuestionKind, QuestionOrigin
from agent.run import Outcome, RunId
from bot.domain.address import Person
from bot.domain.clock import ClockWatch
from bot.domain.task import (
    Accepted,
    AgentFailed,
    Answered,
    NotWaiting,
    OpenQuestion,
    OverQuota,
    Task,
    TaskState,
    TooManyTasks,
    UnknownQuestion,
)
from bot.domain.task_request import TaskRequest
from bot.people.access import Policy
from bot.people.quotas import Quotas
from bot.store.audit import AuditKind, YesDetail
from bot.store.store import Store
from bot.tasks.control import Takeover, TaskControl
from bot.tasks.event_bus import EventBus
from bot.tasks.input import answer_of, choice_of, clean
from bot.tasks.leases import PhoneLeases
from bot.tasks.maintenance import Maintenance
from bot.tasks.queries import TaskQueries
from bot.tasks.queue import Admission
from bot.tasks.repository import ServiceLimits, TaskRepository
from bot.tasks.secrets import MemorySecrets
from bot.tasks.shielded import ShieldedCalls
from bot.tasks.transitions import Ending, QuestionClosing
from bot.tasks.workers import Workers
from bot.texts import say

logger = logging.getLogger(__name__)


class TaskService(TaskQueries):
    """The operations on tasks: accept, control and end them, and answer their questions. The caller checks the rights.

    An operation that has begun is completed even if the caller is cancelled.

    - `clock` returns Unix seconds. `steady` is a clock that cannot be set; with it, changing the system clock shortens
      no deadline.
    - `model` returns the name of the model that acts now.
    - `gate` checks each task before it is accepted, such as against quotas.
    - `admission` decides which phones a task may be given.
    """

    def __init__(
        self,
        store: Store,
        agent: Agent,
        leases: PhoneLeases,
        secrets: MemorySecrets,
        *,
        clock: Callable[[], float] = time.time,
        limits: ServiceLimits | None = None,
        model: Callable[[], str] = str,
        gate: Quotas | None = None,
        admission: Admission | None = None,
        steady: Callable[[], float] | None = None,
    ) -> None:
        self._limits = limits or ServiceLimits()
        self._events = EventBus()
        record = TaskRepository(store, clock, self._limits, model, gate)
        workers = Workers(agent, record, self._events, leases, admission or Admission(Policy))
        super().__init__(store, record, workers, self._events, leases)
        self._agent = agent
        self._secrets = secrets
        self._secret_lock = asyncio.Lock()
        self._question_closing = QuestionClosing(store, clock)
        self._calls = ShieldedCalls(self._limits.patience)
        self._control = TaskControl(agent, record, workers, self._events, self._calls, self._limits)
        self._takeover = Takeover(self._control, record, self._events, clock)
        watch = ClockWatch(clock, steady or clock)
        self._maintenance = Maintenance(store, record, workers, self._events, self._calls, clock, self._limits, watch)
        self.model_away = self._events.publish_transient
        """Shows on a task's card that its model does not answer, or that the waiting for it is over."""
        self.seconds_since_round, self.expire = self._maintenance.seconds_since_round, self._maintenance.expire
        self._supervisor: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to work, and recover the unfinished tasks of an earlier process. Call it once the phones are known."""
        waiting = [task.id for task in await self._store.tasks.active() if task.state is TaskState.WAITING]
        await self._leases.start(waiting)
        ready = asyncio.Event()
        self._supervisor = asyncio.create_task(self._workers.run(ready, self._maintenance.run), name="task service")
        await ready.wait()
        await self._maintenance.recover()

    async def stop(self) -> None:
        """Stop the work at the next safe point, within the time limits. Tasks that were working on a phone become
        interrupted at the next start.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self._limits.drain
        self._leases.drain()
        self._workers.close()
        with suppress(AgentFailed):
            # The failure is logged; the rest has to stop nevertheless.
            await self._calls.with_timeout(self._agent.shutdown(), seconds=self._limits.drain)
        await self._workers.wait_all(max(0.0, until - loop.time()))
        await self._calls.stop(self._limits.goodbye)
        if self._supervisor is not None:
            self._supervisor.cancel()
            _, stuck = await asyncio.wait({self._supervisor}, timeout=self._limits.goodbye)
            if stuck:
                logger.error("Some work did not stop in time and was abandoned")
        await self._leases.stop()

    async def accept(self, request: TaskRequest) -> Accepted:
        """Store the task and begin to work on it. Raises BadText, TooManyTasks or OverQuota."""
        return await self._calls.shield(self._accept(_cleaned(request)))

    async def turn_down(self, request: TaskRequest, why: str) -> Accepted:
        """Store a task that ends as blocked without having begun. `why` is its final message. Raises BadText."""
        return await self._calls.shield(self._end_at_once(_cleaned(request), Ending(Outcome.BLOCKED, why)))

    async def reply(self, request: TaskRequest, answer: str) -> Accepted:
        """Store a task that is answered at once with this text, without any work. Raises BadText."""
        return await self._calls.shield(self._end_at_once(_cleaned(request), Ending(Outcome.ANSWERED, answer)))

    async def cancel(self, task: str, by: Person) -> Task:
        """End the task within a second, and return it. If it was ending at the same moment, its outcome may not be
        "cancelled".

        Raises UnknownTask, or WrongState if it had already ended.
        """
        return await self._act(task, "cancel", by, lambda found: self._control.cancel(found, by))

    async def pause(self, task: str, by: Person) -> Task:
        """Pause the task. Raises UnknownTask, WrongState, AgentFailed, or ActionUnfinished if it is paused but an
        action has not finished.
        """
        return await self._act(task, "pause", by, self._control.pause)

    async def resume(self, task: str, note: str, by: Person) -> Task:
        """Resume a paused or interrupted task. Raises UnknownTask, WrongState, BadText or AgentFailed."""
        note = clean(note, say("desk.text.note")) if note.strip() else ""
        return await self._act(task, "resume", by, lambda found: self._resume(found, note, by))

    async def hurry(self, task: str, by: Person) -> Task:
        """Move a task that waits for a phone to the head of its queue, and return it. Raises UnknownTask or
        NotWaiting.
        """
        found = await self.known(task)
        runs = [RunId(part.id) for part in await self.parts(task)] or [RunId(task)]
        if not any([await self._calls.shield(self._leases.hurry(run)) for run in runs]):
            raise NotWaiting(found)
        logger.info("task %s: first in its queue, by %s", task, by.id)
        return found

    async def take_over(self, task: str, by: Person) -> Task:
        """Pause the task until a person is done on its phone, and return the task. Raises what `pause` raises."""
        return await self._act(task, "taken over", by, lambda found: self._takeover.take(found, by))

    async def steer(self, task: str, note: str, by: Person) -> Task:
        """Give the task a note, which the agent reads before its next step. Raises what `resume` raises."""
        note = clean(note, say("desk.text.note"))
        return await self._act(task, "a note", by, lambda found: self._steer(found, note, by))

    def note(self, task: str, text: str) -> None:
        """Show on the task's card what its work is waiting for, until the work continues or "" is passed. This is not
        stored.
        """
        self._events.publish_transient(task, Told(text=text))

    async def answer(self, question: str, text: str, by: Person) -> Answered:
        """Answer a question; the first answer in time wins. Returns the question and whether this answer won. Raises
        UnknownQuestion, BadText or AgentFailed.
        """
        return await self._calls.shield(self._answer(question, text, by))

    async def give_up(self, question: str) -> None:
        """Close a question that nobody will answer, which ends its task as blocked. Does nothing if the question is
        closed. Raises UnknownQuestion.
        """
        return await self._calls.shield(self._give_up(question))

    async def _act(self, task: str, what: str, by: Person, act: Callable[[Task], Coroutine[Any, Any, Task]]) -> Task:
        found = await self.known(task)
        logger.info("task %s: %s, by %s", task, what, by.id)
        return await self._calls.shield(act(found))

    async def _steer(self, task: Task, note: str, by: Person) -> Task:
        steered = await self._control.steer(task, note)
        await self._repository.note(task, note, by)
        return steered

    async def _resume(self, task: Task, note: str, by: Person) -> Task:
        resumed = await self._control.resume(task, note)
        if note:
            await self._repository.note(task, note, by)
        return resumed

    async def _accept(self, request: TaskRequest) -> Accepted:
        live = sum(not task.parts for task in await self._store.tasks.active())
        if live + max(1, len(request.phones)) > self._limits.max_live:
            raise TooManyTasks(say("desk.full", number=self._limits.max_live))
        try:
            accepted = await self._repository.accept(request)
        except OverQuota as refused:
            await self._store.audit.note(AuditKind.OVER_QUOTA, request.person, detail=refused.detail)
            raise
        if not accepted.duplicate:
            parts = await self.parts(accepted.task.id) if accepted.task.parts else ()
            for task in parts or [accepted.task]:
                self._workers.start(task)
            self._events.publish_change(accepted.task.id)
        return accepted

    async def _end_at_once(self, request: TaskRequest, ending: Ending) -> Accepted:
        accepted = await self._repository.end_at_once(request, ending)
        self._events.publish_change(accepted.task.id)
        return accepted

    async def _answer(self, question_id: str, text: str, by: Person) -> Answered:
        await self._maintenance.expire()
        question = await self._question(question_id)
        if question.answer is not None or question.expired:
            return Answered(False, question)
        text = choice_of(question.question, answer_of(question.question.kind, text))
        secret = question.question.kind is QuestionKind.SECRET
        won = await (self._give_secret if secret else self._repository.answer)(question, text, by)
        question = await self._question(question_id)
        if won:
            await self._store.audit.note(AuditKind.ANSWERED, by, task=question.task, detail="" if secret else text)
            to = question.question.to
            if text == ALLOW_FOR_TASK and to is not None:
                detail = YesDetail(to=to.name, app=to.app, by=by.name or by.id)
                await self._store.audit.note(AuditKind.ALLOWED_AHEAD, by, task=question.task, detail=detail)
            self._events.publish_change(question.task)
            if question.question.origin is QuestionOrigin.TAKEOVER:
                await self._takeover.done(await self.known(question.task), by)
                return Answered(won, question)
            await self._calls.with_timeout(self._workers.deliver(question))
        return Answered(won, question)

    async def _give_secret(self, question: OpenQuestion, value: str, by: Person) -> bool:
        question_id = question.question.id
        # At hand before it counts as given: a run that asks anew after a restart finds the question answered at once.
        # One at a time, so that who comes second does not take the first one's place.
        async with self._secret_lock:
            if (await self._question(question_id)).answer is not None:
                return False
            self._secrets.keep(question_id, value)
            won = False
            try:
                won = await self._repository.answer(question, "", by)
            finally:
                if not won:
                    self._secrets.take(question_id)
            return won

    async def _give_up(self, question_id: str) -> None:
        question = await self._question(question_id)
        if question.answer is not None or question.expired:
            return
        await self._question_closing.give_up(question.task, question_id)
        question = await self._question(question_id)
        if question.expired:
            self._events.publish_change(question.task)
            await self._calls.with_timeout(self._workers.deliver(question))

    async def _question(self, question_id: str) -> OpenQuestion:
        found = await self._store.questions.get(question_id)
        if found is None:
            raise UnknownQuestion(question_id)
        return found


def _cleaned(request: TaskRequest) -> TaskRequest:
    return replace(request, text=clean(request.text, say("desk.text.task")))
