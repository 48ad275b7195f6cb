"""Steps as silent messages, where the settings want them: none is lost, several become one when the budget is short."""

from __future__ import annotations

from typing import Literal

from bot.chats.address import Address
from bot.store.tasks import Tasks
from bot.tasks.desk import TaskDesk
from bot.tasks.model import StepRow, Task

Streaming = Literal["threads", "all", "none"]

FOLD = 5
"""When so many steps of a task wait for the budget, they are told in one message."""


class StepStream:
    """Which steps of one conversation are still to be shown. What a former process has told is not told again."""

    def __init__(self, desk: TaskDesk, tasks: Tasks, streaming: Streaming) -> None:
        self._desk = desk
        self._tasks = tasks
        self._streaming = streaming
        self._told: dict[str, int] = {}
        self._waiting: dict[str, list[StepRow]] = {}
        self._threads: set[Address] = set()
        """Places that are known to be for tasks alone; they stay so."""

    async def collect(self, task: Task) -> None:
        """Take the task's new steps."""
        if self._streaming == "none" or (self._streaming == "threads" and not await self._has_thread(task)):
            return
        if task.id not in self._told:
            self._told[task.id] = await self._tasks.told(task.id)
        known = self._told[task.id]
        new = await self._desk.steps(task.id, after=known)
        self._told[task.id] = known + len(new)
        if new:
            self._waiting.setdefault(task.id, []).extend(new)

    async def _has_thread(self, task: Task) -> bool:
        """Whether it has a thread that is for tasks alone."""
        if task.place is None or task.place in self._threads:
            return task.place is not None
        if made_for_tasks := await self._tasks.made_for_tasks(task.place):
            self._threads.add(task.place)
        return made_for_tasks

    def forget(self, task: str) -> None:
        """The task's final message was sent, or never will be."""
        self._told.pop(task, None)
        self._waiting.pop(task, None)

    def next(self) -> tuple[StepRow, ...]:
        """The steps to show next in one message, of the task that waits longest; they stay until they are taken."""
        first = min(self._waiting.values(), key=lambda waiting: waiting[0].at, default=())
        return tuple(first) if len(first) >= FOLD else tuple(first[:1])

    def left(self, task: str) -> tuple[StepRow, ...]:
        """All steps of a task that wait."""
        return tuple(self._waiting.get(task, ()))

    async def taken(self, steps: tuple[StepRow, ...]) -> None:
        """They were shown, or cannot be."""
        for step in steps:
            waiting = self._waiting.get(step.task, [])
            if step in waiting:
                waiting.remove(step)
            if not waiting:
                self._waiting.pop(step.task, None)
        task = steps[-1].task
        if task in self._told:
            await self._tasks.tell(task, self._told[task] - len(self._waiting.get(task, ())))
