"""The services that the main graph's nodes work with, and the session of a task in progress: its control signals, its
clock and its run.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agent.control import Control, Pause, Resume, Signal, Steer, Stopped
from agent.error_mapping import Fault
from agent.events import TaskEvent, Todo
from agent.graph.member.members import Members
from agent.limits import Allowance, BudgetReached, TaskLimits
from agent.local_time import LocalTimes
from agent.members.loading import EXECUTOR, Team
from agent.models.base import Models, Usage
from agent.ports.agent import AS_SET, Guidance
from agent.ports.memory import Knowledge, Memory
from agent.ports.runner import Runner
from agent.questions import AnswerBox
from agent.run import RunId
from agent.skills.library import Skills


class Stopwatch:
    """Counts the seconds of work on a task against a limit. `before` is the work done by earlier processes.

    It runs unless it is stopped for one or more reasons: waiting for a phone or a person, or a pause.
    """

    def __init__(
        self, limit: float | None = None, *, before: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.limit = limit
        self._clock = clock
        self._worked = before
        self._since: float | None = clock()
        self._holds: set[str] = set()
        self._changed = asyncio.Event()

    @property
    def seconds(self) -> float:
        """The seconds worked so far."""
        return self._worked + (0.0 if self._since is None else self._clock() - self._since)

    @property
    def left(self) -> float | None:
        """The seconds until the limit, at least 0; None without a limit."""
        return None if self.limit is None else max(0.0, self.limit - self.seconds)

    def pause(self, reason: str) -> None:
        """Stop the clock for this reason, until `resume` is called with the same one."""
        self._worked, self._since = self.seconds, None
        self._holds.add(reason)
        self._changed.set()

    def resume(self, reason: str) -> None:
        """Remove a reason for stopping; the clock runs again if it was the last one."""
        self._holds.discard(reason)
        if not self._holds and self._since is None:
            self._since = self._clock()
        self._changed.set()

    async def over(self) -> None:
        """Wait until the limit is reached; forever if there is none."""
        while self.left is None or self.left > 0:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self.left if self._since is not None else None):
                    await self._changed.wait()

    @asynccontextmanager
    async def watching(self, stop: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Run a block, and call `stop` if the limit is reached meanwhile."""

        async def watch() -> None:
            await self.over()
            await stop()

        watcher = asyncio.create_task(watch())
        try:
            yield
        finally:
            watcher.cancel()
            await asyncio.wait({watcher})


class TaskSession:
    """What this process knows about a task in progress, from the first mention of its id to its end.

    It carries stop, pause and messages to the work: `control` passes them to the main graph in this process, and
    `runner` to the run on the phone, which may be in another process.
    """

    def __init__(self, task: str, runner: Runner) -> None:
        self.task = task
        self.run = RunId(task)
        self.control = Control()
        self.stopwatch = Stopwatch()
        self.lock = asyncio.Lock()
        """Keeps two who work on one task from both acting."""
        self.phone_lock = asyncio.Lock()
        """Held while the task's run is at work."""
        self.asking = asyncio.Lock()
        """Held while a question is open: of several workers one asks after the other."""
        self.inboxes: dict[int, list[str]] = {}
        """What the person has written that members at work have not read yet, by their numbers."""
        self.usage_by_part: dict[int, Usage] = {}
        """What each part that is worked on now has used so far, by its number."""
        self.phone_in_use = ""
        """The id of the phone that the task's run has worked on last, else of the one wished for; "" for none yet."""
        self.todos: tuple[Todo, ...] = ()
        """The parts as they were told last."""
        self.answers = AnswerBox()
        self._runner = runner

    def begin(self, limit: float | None, before: float, phone: str) -> None:
        """Start working on the task: with a limit and the seconds used before, and the id of its phone ("" for none
        yet).
        """
        self.phone_in_use = phone
        self.stopwatch = Stopwatch(limit, before=before)
        if self.control.paused:
            self.stopwatch.pause("pause")

    def spent_beside(self, number: int) -> Usage:
        """Return the tokens that the other sub-tasks in progress have used so far. `number` is the sub-task that is
        left out.
        """
        return sum((usage for part, usage in self.usage_by_part.items() if part != number), Usage())

    async def signal(self, signal: Signal) -> None:
        """Pause, resume, steer or cancel the task, in the main graph and in the run. Raises TimeoutError if a pause
        does not take effect in time.
        """
        if isinstance(signal, Pause):
            self.stopwatch.pause("pause")
        self.control.apply(signal)
        if isinstance(signal, Steer):
            for inbox in self.inboxes.values():
                inbox.append(signal.note)
        if isinstance(signal, Resume):
            self.stopwatch.resume("pause")
        await self._runner.signal(self.run, signal)
        await self.control.wait_until_stopped()


T = TypeVar("T")


@dataclass(frozen=True)
class TaskContext:
    """The services and settings that the nodes of one task work with: session, models, runner, events and more. It is
    never stored.
    """

    session: TaskSession
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

    async def reached_limit(self, steps: int, usage: Usage) -> Fault | None:
        """Return the limit that is reached; None if there is none. `steps` and `usage` are all steps and tokens of the
        task so far. They count towards its own limits, together with the time worked, and towards its person's quota.
        """
        fault = self.limits.reached_limit(usage, self.session.stopwatch.seconds)
        if fault is None and self.allowance is not None:
            fault = await self.allowance.reached_limit(self.session.task, steps, usage)
        return fault

    async def run_restartable(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await a call that may be repeated: a pause aborts it, and a resume starts it again.

        Raises Stopped on cancel and on shutdown, and BudgetReached if the task's time is up.
        """
        control = self.session.control
        while True:
            await control.wait_while_paused()
            limit = asyncio.timeout(self.session.stopwatch.left)
            try:
                with control.acting():
                    async with limit:
                        return await control.guard(call())
            except TimeoutError:
                if not limit.expired():
                    raise
                raise BudgetReached(self.limits.out_of_time()) from None
            except Stopped:
                if not control.paused:
                    raise
