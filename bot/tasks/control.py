"""Carries out what people do to a running task, or to every part of one for several phones: cancel, pause, resume,
steer, and take over its phone for a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from agent.control import done_by_hand
from agent.ports.agent import Agent
from agent.questions import Question, QuestionKind, QuestionOrigin
from agent.run import Outcome
from bot.domain.address import Person
from bot.domain.task import ActionUnfinished, AgentFailed, Task, TaskState, WrongState, require
from bot.tasks.event_bus import EventBus
from bot.tasks.repository import ServiceLimits, TaskRepository
from bot.tasks.shielded import ShieldedCalls
from bot.tasks.transitions import Ending
from bot.tasks.workers import Workers
from bot.texts import paragraph, say, speaking

logger = logging.getLogger(__name__)


_RESUMABLE = frozenset({TaskState.PAUSED, TaskState.INTERRUPTED})


class TaskControl:
    """Cancels, pauses, resumes or steers a task that has not ended, on one phone or with parts on several.

    `task` is the task as it was just read from the store; every method returns it as it is afterwards.
    """

    def __init__(
        self,
        agent: Agent,
        repository: TaskRepository,
        workers: Workers,
        events: EventBus,
        calls: ShieldedCalls,
        limits: ServiceLimits,
    ) -> None:
        self._agent = agent
        self._repository = repository
        self._workers = workers
        self._events = events
        self._calls = calls
        self._limits = limits

    async def cancel(self, task: Task, by: Person) -> Task:
        """End the task and all its parts at once. `by` is the person who cancels it. Raises WrongState if it
        has ended.
        """
        if not task.parts:
            return await self._cancel(task, by)
        require(task, TaskState.ENDED)
        parts = [part for part in await self._repository.parts(task.id) if part.state is not TaskState.ENDED]
        return await self._each(task, "ended", parts, lambda part: self._cancel(part, by))

    async def pause(self, task: Task) -> Task:
        """Pause the task, or all its parts. A part that waits for its phone does not begin when the phone becomes free.

        Raises WrongState if nothing can be paused now, AgentFailed, or ActionUnfinished if it is paused but an action
        has not finished yet; nothing new begins.
        """
        if not task.parts:
            return await self._pause(task)
        can = {TaskState.WORKING, TaskState.QUEUED}
        parts = [part for part in await self._repository.parts(task.id) if part.state in can]
        return await self._each(task, "paused", parts, self._pause)

    async def resume(self, task: Task, note: str) -> Task:
        """Resume the task, or every paused or interrupted part, passing `note` to the agent ("" for none). After a
        restart, the agent continues where it stopped. Raises WrongState if there is nothing to resume, or AgentFailed.
        """
        if not task.parts:
            return await self._resume(task, note)
        await self._repository.close_takeover_question(task.id)
        parts = [part for part in await self._repository.parts(task.id) if part.state in _RESUMABLE]
        return await self._each(task, "working", parts, lambda part: self._resume(part, note))

    async def steer(self, task: Task, note: str) -> Task:
        """Pass the note to the agent, for every part that is at work; it is read before the next step.

        Raises WrongState if nothing is at work, or AgentFailed.
        """
        if not task.parts:
            return await self._steer(task, note)
        parts = [part for part in await self._repository.parts(task.id) if self._workers.alive(part.id)]
        return await self._each(task, "steered", parts, lambda part: self._steer(part, note))

    async def _each(
        self, task: Task, wanted: str, parts: Sequence[Task], act: Callable[[Task], Awaitable[Task]]
    ) -> Task:
        """Act on all parts at once and return the task afterwards. WrongState of a part counts only if every part
        raises it.

        Raises other errors after every part was acted on.
        """
        done = await asyncio.gather(*(act(part) for part in parts), return_exceptions=True)
        failed = [each for each in done if isinstance(each, BaseException)]
        now = await self._repository.known(task.id)
        if all(isinstance(each, WrongState) for each in done):
            raise WrongState(now, wanted)
        if moving := [each for each in failed if isinstance(each, ActionUnfinished)]:
            raise ActionUnfinished(now, sent=any(each.sent for each in moving))
        for error in failed:
            if not isinstance(error, WrongState):
                raise error
        return now

    async def _cancel(self, task: Task, by: Person) -> Task:
        """If the agent does not stop in time, its phone is taken away, so that it can do nothing more there, and its
        worker is cancelled.
        """
        require(task, TaskState.ENDED)
        name = by.name or by.id
        quiet, since = True, self._repository.now()
        if self._workers.alive(task.id):
            self._workers.mark_cancelled(task.id, by)
            self._events.publish_change(task.id)
            self._calls.spawn(self._agent.cancel(task.id))
            quiet = await self._workers.wait(task.id, self._limits.patience)
        with speaking(task.person.language):
            summary = say("desk.ended.cancelled", name=name)
            if not quiet:
                sent = await self._repository.in_flight(self._workers.runs(task.id), since=since)
                summary = paragraph(summary, say("desk.ended.cut_off_sending" if sent else "desk.ended.cut_off"))
        ended = await self._repository.end(task.id, Ending(Outcome.CANCELLED, summary, by=by))
        self._events.publish_change(task.id)
        if not quiet:
            await self._workers.free_phones(task.id)
            self._calls.spawn(self._workers.abandon(task.id, self._limits.goodbye))
        return ended

    async def _pause(self, task: Task) -> Task:
        require(task, TaskState.PAUSED)
        if task.state is TaskState.QUEUED and not task.parent:
            # Once it is its turn, it would occupy a phone that others wait for.
            raise WrongState(task, "paused")
        since = self._repository.now()
        still = await self._calls.with_timeout(self._agent.pause(task.id))
        try:
            paused = await self._repository.change_state(task.id, lambda _task, _asked: TaskState.PAUSED)
        except WrongState:
            # The task has just asked something or ended, so it is not paused and the agent must not be either.
            await self._calls.with_timeout(self._agent.resume(task.id))
            raise
        self._events.publish_change(task.id)
        if not still:
            raise ActionUnfinished(
                paused, sent=await self._repository.in_flight(self._workers.runs(task.id), since=since)
            )
        return paused

    async def _resume(self, task: Task, note: str) -> Task:
        if task.state not in _RESUMABLE:
            raise WrongState(task, "working")
        await self._repository.close_takeover_question(task.id)
        going = await self._repository.change_state(task.id, _resumed)
        if not self._workers.alive(task.id):
            self._workers.start(going, note)
        else:
            try:
                await self._calls.with_timeout(self._agent.resume(task.id, note))
            except AgentFailed:
                await self._repository.change_state(task.id, lambda _task, _asked: TaskState.PAUSED)
                raise
        self._events.publish_change(task.id)
        return going

    async def _steer(self, task: Task, note: str) -> Task:
        if task.state is TaskState.ENDED or not self._workers.alive(task.id):
            raise WrongState(task, "steered")
        await self._calls.with_timeout(self._agent.steer(task.id, note))
        return task


def _resumed(task: Task, asked: bool) -> TaskState:
    """Return the state of a resumed task. If two people resume it at the same time, the second one finds it working."""
    if task.state is TaskState.PAUSED and asked:
        return TaskState.WAITING
    return TaskState.QUEUED if task.started is None and not task.members_at_work else TaskState.WORKING


class Takeover:
    """Asks the question that stays open until a person is done on the phone, and resumes the task once it is
    answered.
    """

    def __init__(
        self, control: TaskControl, repository: TaskRepository, events: EventBus, clock: Callable[[], float]
    ) -> None:
        self._control = control
        self._repository = repository
        self._events = events
        self._clock = clock

    async def take(self, task: Task, by: Person) -> Task:
        """Pause the task, ask the person to say when they are done, and return the task. Taking over twice changes
        nothing.

        Raises WrongState, AgentFailed, or ActionUnfinished as a pause does; after ActionUnfinished, the question is
        open nevertheless.
        """
        if task.state not in {TaskState.WORKING, TaskState.PAUSED}:
            raise WrongState(task, "taken")
        if task.state is TaskState.PAUSED:
            return await self._ask(task, by)
        try:
            paused = await self._control.pause(task)
        except ActionUnfinished as moving:
            await self._ask(moving.task, by)
            raise
        return await self._ask(paused, by)

    async def done(self, task: Task, by: Person) -> None:
        """Resume the task with a note for the agent, because the person is done. Does nothing if it has been resumed
        meanwhile.

        Raises AgentFailed; the task is then still paused and can be resumed.
        """
        name = by.name or by.id
        note = done_by_hand(name)
        with suppress(WrongState):
            await self._control.resume(task, note)

    async def _ask(self, task: Task, by: Person) -> Task:
        alone = by == task.person and task.request.origin.private
        question = Question(
            id=f"{task.id}.takeover.{int(self._clock() * 1000)}",
            origin=QuestionOrigin.TAKEOVER,
            kind=QuestionKind.TAKE_OVER,
            text=say("take_over.text_by_you") if alone else say("take_over.text", by=by.name or by.id),
            frame=task.frame,
        )
        if await self._repository.open_takeover_question(task.id, question):
            self._events.publish_change(task.id)
        return task
