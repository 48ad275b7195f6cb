"""What the main graph's nodes work with."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from agent.control import Control, Stopped
from agent.events import TaskEvent
from agent.models.base import Models
from agent.ports.runner import Runner

T = TypeVar("T")

MAX_REPLANS = 3
MAX_SUBTASKS = 20


@dataclass(frozen=True)
class TaskContext:
    """One task's voice, models and hands. Never stored."""

    models: Models
    runner: Runner
    control: Control
    emit: Callable[[TaskEvent], None]

    async def patiently(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated: a pause aborts it and a resume begins it anew.

        Raises Stopped on cancel and on shutdown.
        """
        while True:
            try:
                return await self.control.guard(call())
            except Stopped:
                if not self.control.paused:
                    raise
                await self.control.hold()
