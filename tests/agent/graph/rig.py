"""The agent on a virtual phone: real driver, real graphs; only the model is scripted.

`direct_rig` has the phone in this process, `rig_on` behind a real adb server.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from agent.dialects.select import dialect_for
from agent.events import Asked, Started, Step, TaskEnded, TaskEvent
from agent.graph.agent import GraphAgent
from agent.guards.policy import Policy
from agent.guards.reading import GuardMode
from agent.limits import TaskLimits
from agent.models.base import Models
from agent.ports.agent import Agent, TaskOrder
from agent.ports.journal import MemoryToolCalls
from agent.ports.runner import Runner
from agent.questions import Answer
from agent.run_config import FixedRunConfig, RunConfig, RunConfigSource
from agent.runner.local import LocalRunner, RunnerDependencies
from agent.tools.calling import Toolbox
from devices.adb.server import ServerAddress
from devices.geometry import Size
from devices.phone import Phones
from devices.pool import AdbPhones
from devices.virtual_phone.android import key_code
from devices.virtual_phone.direct import DirectPhones
from devices.virtual_phone.phone import VirtualPhone
from tests.fakes.over_json import JsonAgent, JsonRunner
from tests.fakes.ports import FirstPhone, MemoryFrames, MemoryJournal, MemorySecrets
from tests.fixtures.adb import AdbServer

E = TypeVar("E", bound=TaskEvent)
SMALL, DENSITY = Size(540, 1200), 210
"""A screen with the layout of the usual one, and a quarter of its pixels."""
LIMIT = 60.0
"""Seconds after which a test is stuck."""
MOMENT = 0.1
"""Seconds in which whoever waits for nothing goes on."""


@dataclass
class Rig:
    """A phone, what is kept about it, and agents to set on it. A second agent is a second process: it knows nothing.

    With `wire` whatever crosses the borders of Agent and Runner is JSON in between.
    """

    phone: VirtualPhone
    phones: Phones
    saver: BaseCheckpointSaver[str] = field(default_factory=InMemorySaver)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    tool_calls: MemoryToolCalls = field(default_factory=MemoryToolCalls)
    frames: MemoryFrames = field(default_factory=MemoryFrames)
    secrets: MemorySecrets = field(default_factory=MemorySecrets)
    wire: bool = False
    leases: FirstPhone = field(init=False)

    def __post_init__(self) -> None:
        self.leases = FirstPhone(self.phones)

    def agent(
        self,
        models: Models,
        *,
        dialect: str = "tools",
        image_window: int = 1,
        limits: TaskLimits | None = None,
        deep_thinking: bool = False,
        guard: GuardMode = "rules",
        main: dict[str, Any] | None = None,
        **options: Any,
    ) -> Agent:
        """A new agent on the same checkpoints, journal and phone; `main` are options of the main graph."""
        config = RunConfig(
            models,
            dialect_for(dialect, "scripted"),
            image_window,
            limits or TaskLimits(),
            deep_thinking=deep_thinking,
            guard=guard,
        )
        return self.agent_with(FixedRunConfig(config), main=main, **options)

    def agent_with(self, config: RunConfigSource, *, main: dict[str, Any] | None = None, **options: Any) -> Agent:
        """A new agent with this configuration."""
        agent = GraphAgent(config, self.runner(config, **options), self.saver, **(main or {}))
        return JsonAgent(agent) if self.wire else agent

    def runner(self, config: RunConfigSource, **options: Any) -> Runner:
        """A new runner with this configuration."""
        own: dict[str, Any] = {"policy": Policy.default(), "toolbox": Toolbox((), self.tool_calls)}
        dependencies = RunnerDependencies(
            phones=self.phones,
            leases=self.leases,
            configs=config,
            journal=self.journal,
            frames=self.frames,
            secrets=self.secrets,
            **own | options,
        )
        runner = LocalRunner(dependencies, self.saver)
        return JsonRunner(runner) if self.wire else runner

    async def received(self, command: str) -> None:
        """Returns once the phone has received such a command of a run."""
        async with asyncio.timeout(LIMIT):
            while not any(command in line for line in self.inputs()):
                await asyncio.sleep(0)

    async def phone_key(self, key: str) -> None:
        """A person at the phone presses a key, and a moment passes."""
        code = key_code(key)
        assert code is not None
        self.phone.do(partial(self.phone.hand.press, code))
        await asyncio.sleep(MOMENT)

    def inputs(self) -> list[str]:
        """What the phone was made to do, as it received it."""
        return [" ".join(entry.argv) for entry in self.phone.journal.entries if entry.receipt]


@asynccontextmanager
async def rig_on(adb_server: AdbServer, *, fast_lane: bool = False, **phone: Any) -> AsyncIterator[Rig]:
    """A rig with one virtual phone, whose clock stands still: nothing changes by itself."""
    async with VirtualPhone(**{"clock": _noon} | phone) as virtual:
        await adb_server.connect(virtual.address)
        server = ServerAddress(adb_server.host, adb_server.port)
        phones = AdbPhones([server], serials=[virtual.address], virtual=0, fast_lane=fast_lane)
        await phones.start()
        try:
            yield Rig(virtual, phones)
        finally:
            await phones.stop()
            await adb_server.disconnect(virtual.address)


@asynccontextmanager
async def direct_rig(*, wire: bool = False, **phone: Any) -> AsyncIterator[Rig]:
    """A rig with one virtual phone in this process; its screen has half of the usual pixels each way."""
    options: dict[str, Any] = {"clock": _noon, "size": SMALL, "density": DENSITY} | phone
    async with VirtualPhone(**options) as virtual:
        phones = DirectPhones([virtual])
        await phones.start()
        try:
            yield Rig(virtual, phones, wire=wire)
        finally:
            await phones.stop()


def _noon() -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def order(text: str, *, quick: bool = True, task: str = "7", max_steps: int = 20) -> TaskOrder:
    """A task, straight to the phone unless said otherwise."""
    return TaskOrder(task=task, text=text, quick=quick, max_steps=max_steps)


@dataclass
class Work:
    """A task being worked on, with all its events."""

    agent: Agent
    order: TaskOrder
    events: list[TaskEvent] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] = field(init=False)

    def __post_init__(self) -> None:
        self._task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        try:
            async for event in self.agent.work(self.order):
                self.events.append(event)
                self._news.set()
        finally:
            self._news.set()

    async def until(self, kind: type[E], such: Callable[[E], bool] = lambda _: True) -> E:
        """The first event of a kind, whenever it comes."""
        async with asyncio.timeout(LIMIT):
            while True:
                for event in self.events:
                    if isinstance(event, kind) and such(event):
                        return event
                if self._task.done():
                    await self._task
                    raise AssertionError(f"no {kind.__name__} among {self.events}")
                self._news.clear()
                await self._news.wait()

    async def until_started(self) -> None:
        """The run has its phone."""
        await self.until(Started)

    async def ended(self) -> TaskEnded:
        """The end."""
        end = await self.until(TaskEnded)
        await self._task
        return end

    async def closed(self) -> None:
        """The events are over, with or without an end."""
        async with asyncio.timeout(LIMIT):
            await self._task

    async def kill(self) -> None:
        """As if the process had died: nothing gets to tidy up on purpose."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def answer(self, text: str) -> None:
        """Answer the last question."""
        asked = await self.until(Asked)
        asked = [event for event in self.events if isinstance(event, Asked)][-1]
        await self.agent.answer(self.order.task, Answer(question=asked.question.id, text=text, by="test"))

    def mind_control_note(self, note: str) -> None:
        """A person writes while the work goes on."""
        self._writing = asyncio.ensure_future(self.agent.steer(self.order.task, note))

    @property
    def events_over(self) -> bool:
        """Whether nothing more is told."""
        return self._task.done()

    @property
    def steps(self) -> list[Step]:
        """The steps so far."""
        return [event for event in self.events if isinstance(event, Step)]
