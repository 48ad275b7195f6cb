"""The services that the main graph's nodes work with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent.control import Stopped
from agent.error_mapping import Fault
from agent.events import TaskEvent
from agent.graph.main.session import Session
from agent.graph.member.members import Members
from agent.limits import Allowance, BudgetReached, TaskLimits
from agent.local_time import LocalTimes
from agent.members.loading import EXECUTOR, Team
from agent.models.base import Models, Usage
from agent.ports.agent import AS_SET, Guidance
from agent.ports.knowledge import Knowledge
from agent.ports.memory import Memory
from agent.ports.runner import Runner
from agent.skills.library import Skills

T = TypeVar("T")


@dataclass(frozen=True)
class TaskContext:
    """The services and settings that the nodes of one task work with: session, models, runner, events and more. It is
    never stored.
    """

    session: Session
    models: Models
    runner: Runner
    emit: Callable[[TaskEvent], None]
    limits: TaskLimits = field(default_factory=TaskLimits)
    knowledge: Knowledge | None = None
    deep_thinking: bool = False
    allowance: Allowance | None = None
    memory: Memory | None = None
    skills: Skills = field(default_factory=Skills)
    members: Members | None = None
    """The team members that work without a phone; None if there is no team."""
    guidance: Guidance = AS_SET
    local_times: LocalTimes | None = None
    """The date and time added to requests; None if none is added."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all members that can be assigned a sub-task."""
        return (EXECUTOR, *(self.members.team.members if self.members is not None else ()))

    @property
    def described(self) -> str:
        """A line for each member about what it can do, as text for a model."""
        source = Team() if self.members is None else self.members
        return source.described(executor=True).strip()

    async def documents_read(self, by_planner: Sequence[str]) -> tuple[str, ...]:
        """Return the passages of the operator's documents that were read for the task: those passed in, read by the
        planner, and those that members' tools read.
        """
        calls = self.members.toolbox.calls if self.members is not None else None
        return (*by_planner, *(await calls.documents(self.session.task) if calls is not None else ()))

    async def reached(self, steps: int, usage: Usage) -> Fault | None:
        """Return the limit that is reached; None if there is none. `steps` and `usage` are all steps and tokens of the
        task so far. They count towards its own limits, together with the time worked, and towards its person's quota.
        """
        fault = self.limits.reached(usage, self.session.watch.seconds)
        if fault is None and self.allowance is not None:
            fault = await self.allowance.reached(self.session.task, steps, usage)
        return fault

    async def patiently(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated: a pause aborts it, and a resume starts it again.

        Raises Stopped on cancel and on shutdown, and BudgetReached if the task's time is up.
        """
        control = self.session.control
        while True:
            await control.hold()
            limit = asyncio.timeout(self.session.watch.left)
            try:
                with control.moving():
                    async with limit:
                        return await control.guard(call())
            except TimeoutError:
                if not limit.expired():
                    raise
                raise BudgetReached(self.limits.out_of_time()) from None
            except Stopped:
                if not control.paused:
                    raise
