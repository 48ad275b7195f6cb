"""Controls tasks for several phones by carrying out each request on every part."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from bot.domain.address import Person
from bot.domain.task import NotStill, Task, TaskState, WrongState, require
from bot.tasks.control import TaskControl
from bot.tasks.repository import TaskRepository
from bot.tasks.workers import Workers

_STILL = frozenset({TaskState.PAUSED, TaskState.INTERRUPTED})


class MultiDeviceControl:
    """Does what `TaskControl` does, both for a task on one phone and for one with parts."""

    def __init__(self, control: TaskControl, record: TaskRepository, workers: Workers) -> None:
        self._control = control
        self._record = record
        self._workers = workers

    async def cancel(self, task: Task, by: Person) -> Task:
        """End the task and all its parts at once. `by` is the person who cancels it. Raises WrongState if it
        has ended.
        """
        if not task.parts:
            return await self._control.cancel(task, by)
        require(task, TaskState.ENDED)
        parts = [part for part in await self._record.parts(task.id) if part.state is not TaskState.ENDED]
        return await self._each(task, "ended", parts, lambda part: self._control.cancel(part, by))

    async def pause(self, task: Task) -> Task:
        """Pause all parts. A part that waits for its phone does not begin when the phone becomes free.

        Raises WrongState if no part can be paused, AgentFailed, or NotStill if an action has not finished yet.
        """
        if not task.parts:
            return await self._control.pause(task)
        can = {TaskState.WORKING, TaskState.QUEUED}
        parts = [part for part in await self._record.parts(task.id) if part.state in can]
        return await self._each(task, "paused", parts, self._control.pause)

    async def resume(self, task: Task, note: str) -> Task:
        """Resume every paused or interrupted part, passing `note` to the agent. Raises WrongState if there is none, or
        AgentFailed.
        """
        if not task.parts:
            return await self._control.resume(task, note)
        await self._record.close_hands(task.id)
        parts = [part for part in await self._record.parts(task.id) if part.state in _STILL]
        return await self._each(task, "working", parts, lambda part: self._control.resume(part, note))

    async def steer(self, task: Task, note: str) -> Task:
        """Pass the note to every part that is at work. Raises WrongState if none is, or AgentFailed."""
        if not task.parts:
            return await self._control.steer(task, note)
        parts = [part for part in await self._record.parts(task.id) if self._workers.alive(part.id)]
        return await self._each(task, "steered", parts, lambda part: self._control.steer(part, note))

    async def _each(
        self, task: Task, wanted: str, parts: Sequence[Task], act: Callable[[Task], Awaitable[Task]]
    ) -> Task:
        """Act on all parts at once and return the task afterwards. WrongState of a part counts only if every part
        raises it.

        Raises other errors after every part was acted on.
        """
        done = await asyncio.gather(*(act(part) for part in parts), return_exceptions=True)
        failed = [each for each in done if isinstance(each, BaseException)]
        now = await self._record.known(task.id)
        if all(isinstance(each, WrongState) for each in done):
            raise WrongState(now, wanted)
        if moving := [each for each in failed if isinstance(each, NotStill)]:
            raise NotStill(now, sent=any(each.sent for each in moving))
        for error in failed:
            if not isinstance(error, WrongState):
                raise error
        return now
