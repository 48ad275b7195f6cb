"""A hub over a real engine with hosts whose runs are simulated: what an event costs, and how much the hub needs."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from langgraph.checkpoint.memory import InMemorySaver

from agent.events import RunEnded, Started, Step
from agent.guards.policy import Policy
from agent.ports.memory import MemoryOfThisProcess
from agent.ports.runner import RunOrder
from agent.run import Outcome, RunId
from benchmarks.row import Row
from bot.fleet.engine import Address, Delivery, EngineAway, Link, keep_connected
from bot.fleet.hub import Hub
from bot.fleet.keys import HostKeys, HubKeys
from bot.fleet.messages import (
    PRESENCE,
    SPEAKS,
    Beat,
    OrderSent,
    PhoneThere,
    PhoneWanted,
    Presence,
    Pulse,
    Told,
    beats_to,
    events_of,
    inbox_of,
    pulse_of,
)
from bot.fleet.nats_engine import connected
from bot.fleet.phones import FleetPhones
from bot.fleet.runner import FleetRunner
from bot.fleet.sign_in import delivery_of, join
from bot.store.store import Store
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets
from devices.phone import Health, PhoneInfo
from devices.pool import Pool
from tests.fakes.scripted_model import models
from tests.fleet.engine import cable_to, engine_at
from tests.fleet.rig import runner_on

PHONES: Final = 32
"""Of one host: more than that outgrow a machine."""
SIZES: Final = (128,)
STEPS: Final = 8
STEP_S: Final = 10.0
"""Between two steps of a run: public phone agents need 5 to 15 s."""
HEADING: Final = "runs  events/s  hub CPU  per event  bytes/event  latency  95 %     memory  seconds"


class SimulatedHost:
    """Speaks as a host does; its runs are steps at their time and nothing else."""

    def __init__(self, keys: HostKeys, number: int, phones: int) -> None:
        self._name = keys.name
        self._address = Address(keys.url, keys.name, inbox_of(keys.name), seed=keys.user)
        self._phones = tuple(
            PhoneThere(info=PhoneInfo(f"p{number}-{n}", f"p{number}-{n}", f"p{number}-{n}", Health.READY))
            for n in range(phones)
        )
        self._link: Link | None = None
        self._beat: Beat | None = None
        self._heard = asyncio.Event()
        self._runs: dict[RunId, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Be there until this is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_connected(connected, self._address, self._begin))
            group.create_task(self._pulse())

    async def _begin(self, link: Link) -> None:
        await link.listen(beats_to(self._name), self._on_beat)
        await link.listen(delivery_of(self._name), self._on_order)
        there = Presence(boot="b", number=1, speaks=SPEAKS, phones=self._phones)
        await link.put(PRESENCE, self._name, there.model_dump_json().encode())
        self._link = link

    async def _pulse(self) -> None:
        while True:
            working = tuple(str(run) for run, task in self._runs.items() if not task.done())
            pulse = Pulse(boot="b", number=1, working=working)
            if self._link is not None:
                with suppress(EngineAway):
                    await self._link.publish(pulse_of(self._name), pulse.model_dump_json().encode())
            await asyncio.sleep(2)

    async def _on_beat(self, delivery: Delivery) -> None:
        self._beat = Beat.model_validate_json(delivery.data)
        self._heard.set()
        self._heard = asyncio.Event()

    async def _on_order(self, delivery: Delivery) -> None:
        order = OrderSent.model_validate_json(delivery.data).order
        if order.run not in self._runs:
            self._runs[order.run] = asyncio.create_task(self._work(order))

    async def _tell(self, run: RunId, item: Told | PhoneWanted) -> None:
        while True:  # what is not known to be kept is told again, as a host does
            try:
                assert self._link is not None, "it was given the run over a link"
                return await self._link.publish(events_of(self._name, run), item.model_dump_json().encode())
            except EngineAway:
                await asyncio.sleep(1)

    async def _work(self, order: RunOrder) -> None:
        run = order.run
        await self._tell(run, PhoneWanted(n=1, phone=order.phone))
        while self._beat is None or not any(each.run == run for each in self._beat.leases):
            await self._heard.wait()
        await self._tell(run, Told(n=2, event=Started(run=run, phone=order.phone, phone_name=order.phone)))
        for step in range(1, STEPS + 1):
            await asyncio.sleep(random.uniform(0.5, 1.5) * STEP_S)
            event = Step(run=run, subtask=1, step=step, max_steps=60, summary=f"{time.monotonic()}", thought="x" * 300)
            await self._tell(run, Told(n=2 + step, event=event))
        end = RunEnded(run=run, subtask=1, outcome=Outcome.SUCCEEDED, summary="done")
        await self._tell(run, Told(n=3 + STEPS, event=end))


async def hosts(given: Sequence[str], phones: int) -> None:
    """The other process: these hosts, until it is ended."""
    made = [SimulatedHost(HostKeys(**json.loads(each)), n, phones) for n, each in enumerate(given)]
    await asyncio.gather(*(each.run() for each in made))


def hosts_of(phones: int) -> int:
    """How many hosts have so many phones."""
    return -(-phones // PHONES)


async def _until(such: Callable[[], bool]) -> None:
    while not such():  # noqa: ASYNC110 - nobody tells a measurement
        await asyncio.sleep(0.05)


async def _point(count: int) -> tuple[str, float, float, float]:
    """A line of the table, with the hub's share of a core, its memory in MB and the median latency in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        keys = HubKeys.kept(directory / "keys.json")
        async with engine_at(directory, keys) as engine, cable_to(engine.port) as cable:
            store = await Store.open(directory)
            hub = Hub(engine.url, keys, store.fleet, store.frames, Policy.default())
            phones = FleetPhones(hub, None)
            pool = Pool([phones])
            leases, secrets = PhoneLeases(store.leases, pool), MemorySecrets()
            local = runner_on(pool, models([])[0], InMemorySaver(), leases=leases, secrets=secrets)
            runner = FleetRunner(local, hub, phones, leases, secrets, store.frames, store.skills.verdicts)
            hub.runs, hub.memory = runner, MemoryOfThisProcess()
            await pool.start()
            await leases.start()
            await hub.start()
            await _until(lambda: hub.online)
            joined = []
            for n in range(hosts_of(count)):
                code = (await hub.invite(f"host-{n}")).rpartition(".")[2]
                joined.append(await join(engine.url, f"host-{n}", code))
            written = [json.dumps(vars(each) | {"url": cable.url}) for each in joined]
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "benchmarks.fleet", str(PHONES), *written
            )
            try:
                await _until(lambda: len([info for info in pool.list() if info.health.usable]) >= count)
                crossed = cable.bytes
                late: list[float] = []
                events = 0

                async def follow(number: int) -> None:
                    nonlocal events
                    await asyncio.sleep(random.uniform(0.0, STEP_S))
                    phone = f"p{number // PHONES}-{number % PHONES}"
                    run = RunId(str(number))
                    async for event in runner.start(RunOrder(run=run, task="t", goal="g", phone=phone)):
                        events += 1
                        if isinstance(event, Step):
                            late.append(time.monotonic() - float(event.summary))
                            runner.confirm_stored(run.task, event)
                    await runner.release(run)

                began, spent = time.monotonic(), time.process_time()
                await asyncio.gather(*(follow(number) for number in range(count)))
                seconds, used = time.monotonic() - began, time.process_time() - spent
            finally:
                child.kill()
                await child.wait()
            crossed = cable.bytes - crossed
            await runner.shutdown()
            await hub.stop()
            await leases.stop()
            await pool.stop()
            await store.close()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    middle, most = statistics.median(late), statistics.quantiles(late, n=20)[-1]
    line = (
        f"{count:4}  {events / seconds:8.0f}  {used / seconds:6.0%}  {used / events * 1000:6.2f} ms"
        f"  {crossed / events:11.0f}  {middle * 1000:4.0f} ms  {most * 1000:4.0f} ms  {memory:4.0f} MB  {seconds:7.0f}"
    )
    return line, used / seconds, memory, middle


async def measured(sizes: Sequence[int] = SIZES) -> list[Row]:
    """The table, and the targets for what 128 phones send."""
    print(HEADING)
    points = []
    for count in sizes:
        points.append(await _point(count))
        print(points[-1][0], flush=True)
    print(
        f"Simulated runs on hosts of {PHONES} phones in another process, a step every {STEP_S:g} s; the cable is in the"
        " hub's.\n"
    )
    _, share, memory, late = points[0]
    return [
        Row("fleet: processor time of the hub at what 128 phones send", share * 100, 100, "%"),
        Row("fleet: memory of the hub at that", memory, 300, "MB"),
        Row("fleet: from a host's event to the hub", late * 1000, 5, "ms"),
    ]


if __name__ == "__main__":
    asyncio.run(hosts(sys.argv[2:], int(sys.argv[1])))
