"""Runs the work on tasks: one worker for each unfinished task, which stores every event that the agent reports."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field

from agent.error_mapping import fault_of
from agent.events import ModelAway, Started, TaskEnded, TaskEvent, Thinking, Told, Waiting
from agent.ports.agent import Agent, EarlierTask, TaskOrder
from agent.ports.leases import Leases
from agent.ports.runner import RunOutOfReach
from agent.questions import Answer, QuestionKind, QuestionOrigin
from agent.run import Outcome, RunId
from bot.domain.address import Person
from bot.domain.task import OpenQuestion, Task, TaskState, WrongState
from bot.domain.task_request import SkillCall
from bot.logs.lines import ABOUT, About
from bot.tasks.event_bus import EventBus
from bot.tasks.queue import Admission
from bot.tasks.repository import TaskRepository
from bot.tasks.transitions import Ending
from bot.texts import say, speaking

FOLLOWED = 8
"""Maximum earlier tasks, each following up the one before, that a task gets to know."""
MOST_THOUGHTS = 100_000
"""Maximum characters of a model's thoughts and texts that are stored in a task's log, for each start of the
work on it.
"""

logger = logging.getLogger(__name__)


@dataclass
class _Worker:
    """The worker of a task. `note` is passed to the agent after the first event, because the agent may not know the
    task before.
    """

    note: str
    cancelled_by: Person | None = None
    place: int | None = None
    runs: set[RunId] = field(default_factory=set)
    thoughts: int = 0
    """Characters of the model's thoughts that are stored in the log."""
    running: asyncio.Task[None] | None = None


class Workers:
    """Starts and ends the workers, one for each task that the agent works on. They belong to the task group that `run`
    keeps open.
    """

    def __init__(
        self, agent: Agent, repository: TaskRepository, events: EventBus, leases: Leases, admission: Admission
    ) -> None:
        self._agent = agent
        self._repository = repository
        self._events = events
        self._leases = leases
        self._admission = admission
        self._workers: dict[str, _Worker] = {}
        self._group: asyncio.TaskGroup | None = None
        self._stopping = False

    async def run(self, ready: asyncio.Event, helper: Callable[[], Awaitable[None]]) -> None:
        """Keep the task group open until cancelled, and run `helper` in it. `ready` is set once workers can
        be started.
        """
        async with asyncio.TaskGroup() as group:
            self._group = group
            ready.set()
            await helper()

    def start(self, task: Task, note: str = "") -> None:
        """Let the agent work on the task, unless it already does. `note` is passed to the agent, "" for none."""
        assert self._group is not None, "the task service was not started"
        assert not task.parts, "its parts do the work"
        if task.id in self._workers or self._stopping:
            return
        worker = _Worker(note)
        self._workers[task.id] = worker
        self._admission.begin(task)
        worker.running = self._group.create_task(self._work(task, worker), name=f"task {task.id}")

    def alive(self, task: str) -> bool:
        """Return whether the agent is working on the task."""
        return task in self._workers

    def runs(self, task: str) -> Collection[RunId]:
        """Return the ids of the runs that the work on the task has begun in this process."""
        worker = self._workers.get(task)
        return () if worker is None else tuple(worker.runs)

    def place(self, task: str) -> int | None:
        """Return the task's place in the queue as the agent last reported it; None if it reported none."""
        worker = self._workers.get(task)
        return None if worker is None else worker.place

    def mark_cancelled(self, task: str, by: Person) -> None:
        """Record who cancelled the task; the task's summary names them."""
        if (worker := self._workers.get(task)) is not None:
            worker.cancelled_by = by

    def ending(self, task: str) -> bool:
        """Return whether the task was cancelled and its worker is still running."""
        worker = self._workers.get(task)
        return worker is not None and worker.cancelled_by is not None

    async def wait(self, task: str, seconds: float) -> bool:
        """Wait until the task's worker has ended. Returns False if that takes longer than `seconds`."""
        worker = self._workers.get(task)
        if worker is None or worker.running is None:
            return True
        _, pending = await asyncio.wait({worker.running}, timeout=seconds)
        return not pending

    def close(self) -> None:
        """Prevent new workers, because the service stops. Unfinished work is continued at the next start."""
        self._stopping = True

    async def wait_all(self, seconds: float) -> None:
        """Wait until every worker has ended, at most this many seconds."""
        running = {worker.running for worker in self._workers.values() if worker.running is not None}
        if running:
            await asyncio.wait(running, timeout=seconds)

    async def abandon(self, task: str, seconds: float) -> None:
        """Wait some seconds for a worker whose task has already ended, so that it can clean up; then cancel it."""
        worker = self._workers.get(task)
        if worker is None or worker.running is None or await self.wait(task, seconds):
            return
        logger.warning("The work on task %s did not stop in time and was abandoned", task)
        worker.running.cancel()

    async def free_phones(self, task: str) -> None:
        """Release the phones of the task's runs, because the task has ended. This does not depend on the agent's
        reaction.
        """
        for run in self.runs(task):
            await self._leases.release(run)

    async def deliver(self, question: OpenQuestion) -> None:
        """Pass the outcome of a question to the agent. For a secret, only its id is passed, which equals the question's
        id.

        If the agent fails, the task ends as failed or blocked. If nobody answered a question that the task service
        itself asked, the task ends as blocked, because the agent does not know that question.
        """
        # The task's person may have another language than the person who answers.
        with speaking((await self._repository.known(question.task)).person.language):
            await self._deliver(question)

    async def _deliver(self, question: OpenQuestion) -> None:
        if question.question.origin is QuestionOrigin.TAKEOVER:
            await self._end_abandoned_takeover(question.task)
            return
        secret = question.question.kind is QuestionKind.SECRET
        answer = Answer(
            question=question.question.id,
            text=question.question.id if secret else question.answer or "",
            by=question.answered_by,
            expired=question.expired,
        )
        try:
            await self._agent.answer(question.task, answer)
        except Exception as error:
            logger.exception("The answer for task %s could not be passed to the agent", question.task)
            await self._fail(question.task, error)
            await self.abandon(question.task, 0.0)

    async def _end_abandoned_takeover(self, task: str) -> None:
        """End the task as blocked, because the person who took over never said that they were done."""
        await self._repository.end(task, Ending(Outcome.BLOCKED, say("take_over.nobody")))
        self._events.publish_change(task)
        for each in (task, *(part.id for part in await self._repository.parts(task))):
            if not self.alive(each):
                continue
            try:
                await self._agent.cancel(each)
            except Exception:
                logger.exception("The agent could not clean up after task %s", each)
                await self.abandon(each, 0.0)

    async def _work(self, task: Task, worker: _Worker) -> None:
        ABOUT.set(About(task.id))
        with speaking(task.person.language):
            await self._work_on(task, worker)

    async def _work_on(self, task: Task, worker: _Worker) -> None:
        try:
            await self._run_agent(task, worker)
        except RunOutOfReach as away:
            logger.warning("Task %s was interrupted: %s", task.id, away)
            # One that is paused or asks waits for its person all the same, and goes on when it is resumed or answered.
            with suppress(WrongState):
                await self._repository.change_state(task.id, lambda _task, _asked: TaskState.INTERRUPTED)
        except Exception as error:
            logger.exception("Task %s failed because of a fault in the program", task.id)
            await self._fail(task.id, error)
        finally:
            try:
                if not self._stopping:
                    await self.free_phones(task.id)
            except OSError:
                logger.exception(
                    "The phone of task %s could not be released and stays reserved until its lease expires", task.id
                )
            finally:
                self._workers.pop(task.id, None)
                self._admission.end(task)
                self._events.publish_change(task.id)

    async def _run_agent(self, task: Task, worker: _Worker) -> None:
        asked, skill = task.request, task.request.skill or SkillCall("")
        order = TaskOrder(
            task=task.id,
            text=asked.text,
            person=self._admission.subject(asked.person),
            member=asked.options.member,
            deep=asked.options.deep or None,
            search=asked.options.search,
            skill=skill.name,
            arguments=dict(skill.arguments),
            phone=task.phone,
            quick=asked.options.quick,
            max_steps=asked.max_steps,
            files=asked.files,
            standing=asked.standing,
            guidance=asked.guidance,
            earlier=await self._earlier(task),
            received=asked.received,
            result=asked.result_schema if asked.watch is None else asked.watch.watch.result,
        )
        ended = False
        events = self._agent.work(order)
        try:
            async for event in events:
                await self._handle_event(task.id, worker, event)
                ended = isinstance(event, TaskEnded)
                if worker.note and not ended:
                    note, worker.note = worker.note, ""
                    await self._agent.steer(task.id, note)
        finally:
            if isinstance(events, AsyncGenerator):
                await events.aclose()
        if not ended and not self._stopping:
            raise RuntimeError(f"the agent left task {task.id} without an end")

    async def _earlier(self, task: Task) -> tuple[EarlierTask, ...]:
        """The tasks that it follows up, oldest first, as far as they are stored."""
        return tuple(
            EarlierTask(
                text=before.text,
                outcome="" if before.outcome is None else before.outcome.value,
                summary=before.summary,
                data=before.data,
            )
            for before in await self._repository.followed(task, FOLLOWED)
        )

    async def _handle_event(self, task: str, worker: _Worker, event: TaskEvent) -> None:
        match event:
            case Waiting() if worker.place is not None:
                # Kept since its first place: all who wait move up at once, and whoever stops a task waits for no store.
                worker.place = event.place
                self._events.publish_transient(task, event)
                return
            case Told() | ModelAway():
                self._events.publish_transient(task, event)
                return
            case Thinking():
                worker.thoughts += len(event.text) + len(event.reasoning)
                if worker.thoughts > MOST_THOUGHTS:
                    self._events.publish_transient(task, event)
                else:
                    await self._repository.apply_event(task, event)
                    self._events.publish_event(task, event)
                return
            case Waiting():
                worker.place = event.place
            case Started():
                worker.place = None
                worker.runs.add(event.run)
                if (about := ABOUT.get()) is not None:
                    about.run, about.phone = event.run, event.phone_name
            case TaskEnded(outcome=Outcome.CANCELLED):
                by = worker.cancelled_by
                words = (
                    say("desk.ended.cancelled", name=by.name or by.id) if by else say("desk.ended.cancelled_by_itself")
                )
                event = event.model_copy(update={"summary": f"{words} {event.summary}".strip()})
            case _:
                pass
        closed = await self._repository.apply_event(task, event, by=worker.cancelled_by)
        self._events.publish_event(task, event)
        self._events.publish_change(task)
        if closed is not None:
            await self.deliver(closed)

    async def _fail(self, task: str, error: Exception) -> None:
        fault = fault_of(error)
        try:
            # Without its end the task would read as working until the next start: a full disk is waited for.
            await self._repository.end(task, Ending(fault.outcome, fault.sentence), patience=math.inf)
        except OSError:
            logger.exception("The end of task %s could not be stored; it will be reported at the next start", task)
        else:
            self._events.publish_change(task)
