"""Steps as silent messages, where the settings want them."""

from __future__ import annotations

from collections import deque
from typing import Literal

from bot.outbox.places import own_thread
from bot.tasks.desk import TaskDesk
from bot.tasks.model import StepRow, Task

Streaming = Literal["threads", "all", "none"]

BACKLOG = 20
"""Steps that may wait for the budget; older ones are left out, since a chat that lags is of no use."""


class StepStream:
    """Which steps of one conversation are still to be shown. What happened before this process is not told again."""

    def __init__(self, desk: TaskDesk, streaming: Streaming) -> None:
        self._desk = desk
        self._streaming = streaming
        self._told: dict[str, int] = {}
        self._waiting: deque[StepRow] = deque(maxlen=BACKLOG)

    async def skip(self, task: Task) -> None:
        """Everything up to now counts as told."""
        self._told[task.id] = len(await self._desk.steps(task.id))

    async def collect(self, task: Task) -> None:
        """Take the task's new steps."""
        if self._streaming == "none" or (self._streaming == "threads" and not own_thread(task)):
            return
        steps = await self._desk.steps(task.id)
        self._waiting.extend(steps[self._told.get(task.id, 0) :])
        self._told[task.id] = len(steps)

    def forget(self, task: str) -> None:
        """The task has ended: what still waits of it is left out."""
        self._told.pop(task, None)
        kept = [step for step in self._waiting if step.task != task]
        self._waiting.clear()
        self._waiting.extend(kept)

    def next(self) -> StepRow | None:
        """The step to show next; it stays until it is taken."""
        return self._waiting[0] if self._waiting else None

    def taken(self, step: StepRow) -> None:
        """It was shown, or cannot be."""
        if self._waiting and self._waiting[0] is step:
            self._waiting.popleft()
