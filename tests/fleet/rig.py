"""A hub and hosts in this process over an engine, real or not; each host has a virtual phone and a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from langgraph.checkpoint.memory import InMemorySaver

from agent.dialects.select import dialect_for
from agent.guards.policy import Policy
from agent.guards.reading import GuardMode
from agent.guards.stricter import StricterPolicy
from agent.models.base import Models
from agent.ports.memory import MemoryOfThisProcess
from agent.run_config import FixedRunConfig, RunConfig
from agent.runner.local import LocalRunner, RunnerDependencies
from bot.fleet.engine import Connect
from bot.fleet.host import Host
from bot.fleet.host_requests import HubMemory
from bot.fleet.hub import Hub
from bot.fleet.keys import HostKeys, HubKeys
from bot.fleet.messages import SPEAKS, Patience
from bot.fleet.nats_engine import connected
from bot.fleet.phones import FleetPhones
from bot.fleet.runner import FleetRunner
from bot.fleet.sign_in import join
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets
from devices.pool import Pool
from devices.virtual_phone.direct import DirectPhones
from devices.virtual_phone.phone import VirtualPhone
from tests.agent.graph.rig import DENSITY, SMALL
from tests.fakes.ports import MemoryFrames, MemoryJournal
from tests.fakes.scripted_model import models
from tests.fixtures.databases import open_store
from tests.fleet.engine import Cable, Engine, cable_to, engine_at
from tests.fleet.fake_engine import FakeCable, FakeEngine

STEADY = Patience(beat=0.2, away=30.0, lost=60.0, cut=30.0, again=1.0)
"""On a busy machine nobody speaks for seconds, and is not away for that."""
HASTY = Patience(beat=0.2, away=3.0, lost=60.0, cut=3.0, again=1.0)
"""For tests of what happens when somebody is away."""
LIMIT = 60.0


def runner_on(phones: Any, have: Models, saver: Any, guard: GuardMode = "rules", **dependencies: Any) -> LocalRunner:
    config = FixedRunConfig(RunConfig(have, dialect_for("tools", "scripted"), image_window=1, guard=guard))
    own: dict[str, Any] = {"policy": Policy.default(), "frames": MemoryFrames(), "journal": MemoryJournal()}
    return LocalRunner(RunnerDependencies(phones=phones, configs=config, **own | dependencies), saver)


@dataclass
class HostMachine:
    """A machine with a phone. `start` and `stop` it as often as you like: its disk stays."""

    directory: Path
    phone: VirtualPhone
    models: Models
    keys: HostKeys
    cable: Cable | FakeCable
    connect: Connect
    patience: Patience
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    policy: Policy = field(default_factory=Policy.default)
    speaks: int = SPEAKS
    guard: GuardMode = "rules"
    host: Host | None = None
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _work: asyncio.Task[None] | None = None

    async def start(self) -> None:
        store = await open_store(self.directory)
        self._stack.push_async_callback(store.close)
        phones = DirectPhones([self.phone])
        await phones.start()
        self._stack.push_async_callback(phones.stop)
        secrets = MemorySecrets()

        def make(rules: dict[str, Any], host: Host) -> LocalRunner:
            return runner_on(
                phones,
                self.models,
                self.saver,
                self.guard,
                leases=host.leases,
                policy=StricterPolicy(Policy(rules), self.policy),
                journal=store.journal,
                frames=host.frames,
                secrets=secrets,
                memory=HubMemory(host.ask_memory),
            )

        self.host = Host(
            self.keys, store, phones, secrets, make, speaks=self.speaks, patience=self.patience, connect=self.connect
        )
        self._work = asyncio.create_task(self.host.run())

    async def stop(self) -> None:
        """Ends it; what it worked on stands in its checkpoints."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})
            self._work = None
        await self._stack.aclose()

    def inputs(self) -> list[str]:
        """What the phone was made to do."""
        return [" ".join(entry.argv) for entry in self.phone.journal.entries if entry.receipt]


@dataclass
class FleetRig:
    """`hub` and `runner` are those of the last start of the hub."""

    directory: Path
    engine: Engine | FakeEngine
    cable: Cable | FakeCable
    keys: HubKeys
    patience: Patience
    machines: dict[str, HostMachine] = field(default_factory=dict)
    secrets: MemorySecrets = field(default_factory=MemorySecrets)
    memory: MemoryOfThisProcess = field(default_factory=MemoryOfThisProcess)
    local: list[DirectPhones] = field(default_factory=list)
    """The hub's own phones, from its next start on."""
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def connect(self) -> Connect:
        return self.engine.connected if isinstance(self.engine, FakeEngine) else connected

    async def start_hub(self) -> None:
        self.store = await open_store(self.directory / "hub")
        self._stack.push_async_callback(self.store.close)
        self.hub = Hub(
            self.cable.url,
            self.keys,
            self.store.fleet,
            self.store.frames,
            Policy.default(),
            self.patience,
            connect=self.connect,
        )
        self.store.frames.elsewhere = self.hub.picture
        self.phones = FleetPhones(self.hub, self.store.phone_names)
        self.pool = Pool([*self.local, self.phones], self.phones.owns)
        self.leases = PhoneLeases(self.store.leases, self.pool, admits=self.phones.may_use)
        nobody, _ = models([])
        local = runner_on(self.pool, nobody, InMemorySaver(), leases=self.leases, secrets=self.secrets)
        self.runner = FleetRunner(
            local, self.hub, self.phones, self.leases, self.secrets, self.store.frames, self.store.skills.verdicts
        )
        self.hub.runs, self.hub.memory = self.runner, self.memory
        await self.pool.start()
        self._stack.push_async_callback(self.pool.stop)
        await self.leases.start()
        self._stack.push_async_callback(self.leases.stop)
        await self.hub.start()
        self._stack.push_async_callback(self.hub.stop)

    async def stop_hub(self) -> None:
        await self.runner.shutdown()
        await self._stack.aclose()

    async def add_host(self, name: str, have: Models, **more: Any) -> HostMachine:
        """A machine with a phone that joins."""
        directory = self.directory / name
        directory.mkdir()
        cable: Cable | FakeCable
        if isinstance(self.engine, FakeEngine):
            cable = FakeCable(self.engine, name)
        else:
            cable = await self._lives.enter_async_context(cable_to(self.engine.port))
        phone = await self._lives.enter_async_context(
            VirtualPhone(number=len(self.machines) + 1, size=SMALL, density=DENSITY)
        )
        await self.until(lambda: self.hub.online)
        url, _, line = (await self.hub.invite(name)).partition("#")
        assert url
        keys = await join(cable.url, name, line.partition(".")[2], connect=self.connect)
        made = self.machines[name] = HostMachine(
            directory, phone, have, keys, cable, self.connect, self.patience, **more
        )
        await made.start()
        self._lives.push_async_callback(made.stop)
        return made

    async def until(self, such: Callable[[], object], within: float = LIMIT) -> None:
        async with asyncio.timeout(within):
            while not such():
                await asyncio.sleep(0.01)

    async def there(self, name: str = "shelf") -> str:
        """The id of the host's phone, once it can be used."""
        await self.until(lambda: any(info.host == name and info.health.usable for info in self.pool.list()))
        return next(info.id for info in self.pool.list() if info.host == name)

    _lives: AsyncExitStack = field(default_factory=AsyncExitStack)


EngineKind = Literal["real", "fake"]


@asynccontextmanager
async def fleet_rig(directory: Path, kind: EngineKind, patience: Patience = STEADY) -> AsyncIterator[FleetRig]:
    """A hub without hosts."""
    (directory / "hub").mkdir()
    keys = HubKeys.kept(directory / "hub" / "fleet-hub.json")
    async with AsyncExitStack() as stack:
        engine: Engine | FakeEngine
        cable: Cable | FakeCable
        if kind == "fake":
            engine = FakeEngine(keys)
            cable = FakeCable(engine, "hub")
        else:
            engine = await stack.enter_async_context(engine_at(directory, keys))
            cable = await stack.enter_async_context(cable_to(engine.port))
        rig = FleetRig(directory, engine, cable, keys, patience)
        await rig.start_hub()
        try:
            yield rig
        finally:
            await rig._lives.aclose()
            await rig.stop_hub()
