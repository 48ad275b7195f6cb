"""Carries out what people do to a running task: cancel, pause, resume and steer it. Every call reports what really
happened.
"""

from __future__ import annotations

import logging

from agent.ports.agent import Agent
from agent.run import Outcome
from bot.domain.address import Person
from bot.domain.task import AgentFailed, NotStill, Task, TaskState, WrongState, require
from bot.tasks.event_bus import EventBus
from bot.tasks.limits import ServiceLimits
from bot.tasks.repository import TaskRepository
from bot.tasks.shielded import ShieldedCalls
from bot.tasks.transitions import Ending
from bot.tasks.workers import Workers
from bot.texts import paragraph, say, speaking

logger = logging.getLogger(__name__)


class TaskControl:
    """Cancels, pauses, resumes or steers a task on one phone that has not ended. `task` is the task as it was just read
    from the store; every method returns it as it is afterwards.
    """

    def __init__(
        self,
        agent: Agent,
        record: TaskRepository,
        workers: Workers,
        news: EventBus,
        calls: ShieldedCalls,
        limits: ServiceLimits,
    ) -> None:
        self._agent = agent
        self._record = record
        self._workers = workers
        self._news = news
        self._calls = calls
        self._limits = limits

    async def cancel(self, task: Task, by: Person) -> Task:
        """End the task. If the agent does not stop in time, its phone is taken away, so that it can do nothing more
        there, and its worker is cancelled. `by` is the person who cancels it. Raises WrongState if it has ended.
        """
        require(task, TaskState.ENDED)
        name = by.name or by.id
        quiet, since = True, self._record.now()
        if self._workers.alive(task.id):
            self._workers.mark_cancelled(task.id, by)
            self._news.changed(task.id)
            self._calls.later(self._agent.cancel(task.id))
            quiet = await self._workers.wait(task.id, self._limits.patience)
        with speaking(task.person.language):
            summary = say("desk.ended.cancelled", name=name)
            if not quiet:
                sent = await self._record.in_flight(self._workers.runs(task.id), since=since)
                summary = paragraph(summary, say("desk.ended.cut_off_sending" if sent else "desk.ended.cut_off"))
        ended = await self._record.end(task.id, Ending(Outcome.CANCELLED, summary, by=by))
        self._news.changed(task.id)
        if not quiet:
            await self._workers.free_phones(task.id)
            self._calls.later(self._workers.abandon(task.id, self._limits.goodbye))
        return ended

    async def pause(self, task: Task) -> Task:
        """Pause the task, and return it. Raises WrongState if it cannot be paused now, AgentFailed, or NotStill if it
        is paused but an action has not finished yet; nothing new begins.
        """
        require(task, TaskState.PAUSED)
        if task.state is TaskState.QUEUED and not task.parent:
            # Once it is its turn, it would occupy a phone that others wait for.
            raise WrongState(task, "paused")
        since = self._record.now()
        still = await self._calls.bounded(self._agent.pause(task.id))
        try:
            paused = await self._record.move(task.id, lambda _task, _asked: TaskState.PAUSED)
        except WrongState:
            # The task has just asked something or ended, so it is not paused and the agent must not be either.
            await self._calls.bounded(self._agent.resume(task.id))
            raise
        self._news.changed(task.id)
        if not still:
            raise NotStill(paused, sent=await self._record.in_flight(self._workers.runs(task.id), since=since))
        return paused

    async def resume(self, task: Task, note: str) -> Task:
        """Resume the task, passing `note` to the agent ("" for none). After a restart, the agent continues where it
        stopped. Raises WrongState or AgentFailed.
        """
        if task.state not in {TaskState.PAUSED, TaskState.INTERRUPTED}:
            raise WrongState(task, "working")
        await self._record.close_hands(task.id)
        going = await self._record.move(task.id, _resumed)
        if not self._workers.alive(task.id):
            self._workers.start(going, note)
        else:
            try:
                await self._calls.bounded(self._agent.resume(task.id, note))
            except AgentFailed:
                await self._record.move(task.id, lambda _task, _asked: TaskState.PAUSED)
                raise
        self._news.changed(task.id)
        return going

    async def steer(self, task: Task, note: str) -> Task:
        """Pass the note to the agent, which reads it before its next step. Raises WrongState or AgentFailed."""
        if task.state is TaskState.ENDED or not self._workers.alive(task.id):
            raise WrongState(task, "steered")
        await self._calls.bounded(self._agent.steer(task.id, note))
        return task


def _resumed(task: Task, asked: bool) -> TaskState:
    """Return the state of a resumed task. If two people resume it at the same time, the second one finds it working."""
    if task.state is TaskState.PAUSED and asked:
        return TaskState.WAITING
    return TaskState.QUEUED if task.started is None and not task.members_at_work else TaskState.WORKING
