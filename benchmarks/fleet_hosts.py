"""Real hosts: a hub and `opengui host` in processes of their own, beside one machine that does the same."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Final

from benchmarks.figures import Figures
from benchmarks.ground import TASK_S, Ground, ground
from benchmarks.journey import think
from benchmarks.processes import Process
from benchmarks.row import Row
from benchmarks.scale import MODEL_S, Service, by_task, service_on
from bot.fleet.keys import HubKeys
from tests.fakes.model_server import ModelServer
from tests.fleet.engine import engine_at

HOSTS: Final = 4
PHONES: Final = 16
QUICK_S: Final = 0.3
"""A model for the comparison of steps: what is compared is all but its time."""
MORE_MS: Final = 5.0
JOIN_S: Final = 10.0
LOOK_S: Final = 0.05


@dataclass(frozen=True)
class HubGround(Ground):
    """Where a hub stands: it has no phone of its own."""

    url: str = ""

    def environment(self, base_url: str) -> dict[str, str]:
        """See Ground."""
        return {**super().environment(base_url), "FLEET_URL": self.url, "ANDROID_SERIALS": "none"}


@dataclass
class Hosts:
    """The hosts of a hub; `joined` are the seconds from the start of each until its phones could be used."""

    hub: Service
    ground: HubGround
    base_url: str
    processes: list[Process] = field(default_factory=list)
    joined: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    """Processor time of each until then."""

    async def usable(self, within: float = TASK_S) -> set[str]:
        """The serials of the phones that can be used now."""
        async with asyncio.timeout(within), self.hub.console.get("/api/state") as answer:
            return {str(device["serial"]) for device in (await answer.json())["devices"] if device["usable"]}


@asynccontextmanager
async def _host(hosts: Hosts, name: str, serials: set[str]) -> AsyncIterator[None]:
    """A host with these phones, from when it has joined until it has ended."""
    environment = hosts.ground.environment(hosts.base_url)
    invite = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "fleet", "invite", name),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    line, why = (each.decode() for each in await invite.communicate())
    if invite.returncode:
        raise RuntimeError(f"the host {name} was not invited: {why}")
    own = {"DATA_DIR": str(hosts.ground.directory / name), "ANDROID_SERIALS": ",".join(serials), "FLEET_URL": ""}
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "host", "--join", line.split("'")[1]),
        env=environment | own,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(TASK_S):
            while not serials <= await hosts.usable():
                if process.returncode is not None:
                    raise RuntimeError(f"the host {name} has ended")
                await asyncio.sleep(LOOK_S)
        hosts.joined.append(time.monotonic() - began)
        hosts.processes.append(Process(process.pid))
        hosts.spent.append(hosts.processes[-1].seconds)
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def hosts_on(place: Ground, base_url: str, serials: list[set[str]]) -> AsyncIterator[Hosts]:
    """A hub and its hosts, one for each of these sets of phones, which join one after the other."""
    directory = place.directory / "hub"
    (directory / "data").mkdir(parents=True)
    keys = HubKeys.kept(directory / "data" / "fleet-hub.json")
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(engine_at(directory, keys))
        at = HubGround(directory, place.adb, (), engine.url)
        hub = await stack.enter_async_context(service_on(at, base_url))
        hosts = Hosts(hub, at, base_url)
        for number, each in enumerate(serials):
            await stack.enter_async_context(_host(hosts, f"shelf-{number}", each))
        yield hosts


async def _more_for_a_step(runs: int) -> float:
    """How many seconds a step takes longer at a host: the median over the steps of a task that is done in turn here and
    there. Of each step the least time counts, which is what other work on this machine has disturbed least.
    """
    async with (
        ground(2) as place,
        ModelServer(partial(think, QUICK_S)) as near,
        ModelServer(partial(think, QUICK_S)) as far,
        service_on(Ground(place.directory, place.adb, place.phones[:1]), near.base_url) as service,
        hosts_on(place, far.base_url, [{place.phones[1].address}]) as hosts,
    ):
        parts = (service.process, hosts.hub.process, hosts.processes[0])
        for run in range(runs + 1):
            if run == 1:  # the first tasks begin the files
                before = [part.seconds for part in parts]
            if not await service.do(place.phones[0].address) or not await hosts.hub.do(place.phones[1].address):
                raise RuntimeError("a task did not succeed")
        alone, hub, host = (part.seconds - earlier for part, earlier in zip(parts, before, strict=True))
        here, there = (by_task(server.requests)[1:] for server in (near, far))
    near_least, far_least = _least(here), _least(there)
    steps = sum(task.steps for task in here)
    print(
        f"{runs} tasks of 20 steps in turn, the model {QUICK_S:g} s: own time of a step"
        f" {median(near_least.values()) * 1000:.0f} ms on one machine and {median(far_least.values()) * 1000:.0f} ms at"
        f" a host; processor time of a step {alone / steps * 1000:.0f} ms on one machine,"
        f" {host / steps * 1000:.0f} ms at a host and {hub / steps * 1000:.0f} ms at its hub."
    )
    return median(far_least[number] - near_least[number] for number in near_least.keys() & far_least.keys())


def _least(tasks: list[Figures]) -> dict[int, float]:
    """The least gap of each step, by its number."""
    least: dict[int, float] = {}
    for task in tasks:
        for number, gap in zip(task.numbers, task.gaps, strict=True):
            least[number] = min(gap, least.get(number, gap))
    return least


async def measured(runs: int) -> list[Row]:
    """The targets of real hosts."""
    more = await _more_for_a_step(runs)
    async with ground(PHONES) as place, ModelServer(partial(think, MODEL_S)) as model:
        addresses = [phone.address for phone in place.phones]
        async with hosts_on(place, model.base_url, [set(addresses[n::HOSTS]) for n in range(HOSTS)]) as hosts:
            parts = [hosts.hub.process, *hosts.processes]
            before, began = [part.seconds for part in parts], time.monotonic()
            done = await asyncio.gather(*(hosts.hub.do(address) for address in addresses))
            hub, *each = (part.seconds - earlier for part, earlier in zip(parts, before, strict=True))
            seconds = time.monotonic() - began
            tasks = by_task(model.requests)
            steps, own = sum(task.steps for task in tasks), median(gap for task in tasks for gap in task.gaps)
            print(
                f"{PHONES} phones at {HOSTS} hosts, a task of 20 steps on each at once, the model {MODEL_S:g} s:"
                f" {steps} steps in {seconds:.0f} s, own time {own * 1000:.0f} ms; processor time of a step"
                f" {sum(each) / steps * 1000:.0f} ms at its host and {hub / steps * 1000:.1f} ms at the hub;"
                f" memory {hosts.hub.process.peak_megabytes:.0f} MB at the hub,"
                f" {max(part.peak_megabytes for part in hosts.processes):.0f} MB at a host.\n"
                f"Joining: {', '.join(f'{each:.1f}' for each in hosts.joined)} s, of which"
                f" {median(hosts.spent):.1f} s are processor time of the host.\n"
            )
    return [
        Row("fleet: what a step takes longer at a host (median)", more * 1000, MORE_MS, "ms"),
        Row(f"fleet: tasks at {HOSTS} hosts that did not finish", PHONES - sum(done), 0, ""),
        Row("fleet: joining, from its start to its phones in devices", median(hosts.joined), JOIN_S, "s"),
    ]
