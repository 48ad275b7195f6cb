"""What the main graph's nodes work with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent.control import Control, Stopped
from agent.error_mapping import Fault
from agent.events import TaskEvent
from agent.graph.main.stopwatch import Stopwatch
from agent.limits import Allowance, BudgetReached, TaskLimits
from agent.models.base import Models, Usage
from agent.ports.knowledge import Knowledge
from agent.ports.runner import Runner

T = TypeVar("T")


@dataclass
class Calls:
    """Model calls of the main graph that are under way (for whoever waits until nothing moves)."""

    running: int = 0


@dataclass(frozen=True)
class TaskContext:
    """One task's voice, models and hands. Never stored."""

    models: Models
    runner: Runner
    control: Control
    emit: Callable[[TaskEvent], None]
    limits: TaskLimits = field(default_factory=TaskLimits)
    watch: Stopwatch = field(default_factory=Stopwatch)
    calls: Calls = field(default_factory=Calls)
    knowledge: Knowledge | None = None
    deep_thinking: bool = False
    task: str = ""
    allowance: Allowance | None = None

    async def reached(self, steps: int, usage: Usage) -> Fault | None:
        """What is used up with so many steps and tokens: a limit of the task, else its person's allowance."""
        fault = self.limits.reached(usage, self.watch.seconds)
        if fault is None and self.allowance is not None:
            fault = await self.allowance.reached(self.task, steps, usage)
        return fault

    async def patiently(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated: a pause aborts it and a resume begins it anew.

        Raises Stopped on cancel and on shutdown, and BudgetReached when the task's time is over.
        """
        while True:
            await self.control.hold()
            self.calls.running += 1
            limit = asyncio.timeout(self.watch.left)
            try:
                async with limit:
                    return await self.control.guard(call())
            except TimeoutError:
                if not limit.expired():
                    raise
                raise BudgetReached(self.limits.out_of_time()) from None
            except Stopped:
                if not self.control.paused:
                    raise
            finally:
                self.calls.running -= 1
                self.control.stood()
