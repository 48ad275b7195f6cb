"""Faults against real processes of a fleet, while a person uses it; and what has to be true of the records after."""

from __future__ import annotations

import asyncio
import random
import resource
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import aiohttp

from bot.cli.exits import Refused, ServiceGone
from bot.cli.remote import Remote, running_service, task_path
from bot.domain.task_request import TaskDraft
from bot.fleet.keys import HubKeys
from tests.chaos.agent import restless
from tests.chaos.records import damage, rows, tasks
from tests.end_to_end.service import Place, Service
from tests.fakes.model_server import ModelServer
from tests.fixtures.warm_start import WarmProcess, start_opengui
from tests.fleet.engine import Cable, Engine, cable_to, engine_at
from tests.fleet.other_program import OtherProgram

START_S: Final = 60.0
CALM_S: Final = 600.0
LIVE: Final = 2
"""Tasks that the person has open at once."""


class HostProcess:
    """`opengui host` in a process of its own, as often as it is started; `program` if it is not the one at hand."""

    def __init__(
        self,
        place: Place,
        directory: Path,
        settings: Mapping[str, str] | None = None,
        program: OtherProgram | None = None,
    ) -> None:
        self._place = place
        self._settings = settings or {}
        self.directory = directory
        self.program = program
        self.serial = place.phone.address
        self.log = ""
        self._process: WarmProcess | asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    async def start(self, *more: str, until: str = "Working for the hub") -> None:
        """Returns when it has said that it is at work, or these words."""
        own = {"DATA_DIR": str(self.directory), "ANDROID_SERIALS": self.serial}
        environment = self._place.environment({**self._settings, **own})
        before = self.log.count(until)
        if self.program is None:
            self._process = await start_opengui(["host", *more], directory=self.directory, environment=environment)
        else:
            self._process = await self.program.begin(["host", *more], environment)
        assert self._process.stdout is not None
        self._reading = asyncio.create_task(self._read(self._process.stdout))
        async with asyncio.timeout(START_S):
            while self.log.count(until) == before and self._process.returncode is None:
                await asyncio.sleep(0.05)

    async def says(self, words: str) -> None:
        """Returns once its log holds these words."""
        async with asyncio.timeout(START_S):
            while words not in self.log:
                await asyncio.sleep(0.05)

    def room(self, size: int | None) -> None:
        """See `Service.room`."""
        assert self._process is not None
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))

    async def end(self, how: signal.Signals = signal.SIGKILL) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            async with asyncio.timeout(30):
                await process.wait()
        finally:
            with suppress(ProcessLookupError):
                process.kill()
        if self._reading is not None:
            await self._reading

    async def _read(self, told: asyncio.StreamReader) -> None:
        while line := await told.readline():
            self.log += line.decode()


class Person:
    """Gives tasks, answers what is asked and lets interrupted tasks go on, whenever the service can be reached."""

    def __init__(self, data: Path, most: int) -> None:
        self._data = data
        self.most = most
        self.given = 0

    async def live(self) -> None:
        while True:
            # A service that was killed leaves a database that nobody can read until it is started again.
            with suppress(aiohttp.ClientError, ServiceGone, Refused, OSError, sqlite3.OperationalError):
                async with asyncio.timeout(5), running_service(self._data) as remote:
                    if remote is not None:
                        await self._look(remote)
            await asyncio.sleep(0.3)

    async def _look(self, remote: Remote) -> None:
        found = tasks(self._data)
        if self.given < self.most and sum(task.state != "ended" for task in found) < LIVE:
            await remote.start(TaskDraft(f"look around {self.given + 1}"))
            self.given += 1
        asked = "SELECT task, id, question ->> 'kind' FROM questions WHERE answer IS NULL AND expired = 0"
        for asker, question, kind in rows(self._data, asked):
            await remote.answer(str(asker), str(question), "done" if kind == "take over" else "blue")
        for task in found:
            if task.state == "interrupted":
                await remote.send(f"{task_path(str(task.number))}/resume")


class Chaos:
    """A fleet of processes: an engine, a hub and a host, each behind a cable of its own."""

    def __init__(self, place: Place, host: HostProcess, engine: Engine, cables: tuple[Cable, Cable]) -> None:
        self._place = place
        self.host = host
        self._engine = engine
        self.hub_cable, self.host_cable = cables
        self.hub: Service | None = None
        self.back: list[float] = []
        """Seconds after the end of each cut until the host could be used."""

    async def start_hub(self) -> None:
        self.hub = self._place.service(FLEET_URL=self.hub_cable.url, ANDROID_SERIALS="none")
        await self.hub.__aenter__()

    async def usable(self) -> None:
        """Returns when the hub can use the host and has heard it since now: a short cut may not be noticed at all."""
        began = time.monotonic()
        async with asyncio.timeout(START_S):
            while True:
                with suppress(aiohttp.ClientError, ServiceGone, OSError):
                    async with running_service(self._place.data) as remote:
                        hosts = [] if remote is None else (await remote.read("/api/fleet"))["fleet"]
                        if any(host["usable"] and host["heard"] < time.monotonic() - began for host in hosts):
                            return
                await asyncio.sleep(0.1)

    async def fault(self, kind: str, seconds: float) -> None:
        """One fault from its beginning to its end."""
        match kind:
            case "host killed":
                await self.host.end()
                await self.host.start()
            case "hub killed":
                assert self.hub is not None
                await self.hub.kill()
                await self.start_hub()
            case "engine killed":
                await self._engine.kill()
                await asyncio.sleep(seconds / 5)
                await self._engine.start()
            case "host cut":
                await self._cut(self.host_cable, seconds)
            case _:
                await self._cut(self.hub_cable, seconds)
        await self.usable()

    async def _cut(self, cable: Cable, seconds: float) -> None:
        await cable.cut()
        await asyncio.sleep(seconds)
        await cable.mend()
        began = time.monotonic()
        await self.usable()
        self.back.append(time.monotonic() - began)


CUTS: Final = ("host cut", "hub cut")
FAULTS: Final = ("host killed", "hub killed", "engine killed", *CUTS)
LONG_S: Final = 30.0
"""Nobody kills a process for longer."""


@asynccontextmanager
async def fleet_of_processes(place: Place, seed: int) -> AsyncIterator[Chaos]:
    """A fleet whose host has joined."""
    place.data.mkdir(parents=True)
    keys = HubKeys.kept(place.data / "fleet-hub.json")
    directory = place.directory / "host"
    directory.mkdir()
    async with (
        ModelServer(restless(random.Random(seed))) as model,
        engine_at(place.directory, keys) as engine,
        cable_to(engine.port) as hub_cable,
        cable_to(engine.port) as host_cable,
    ):
        place.settings |= {"VLM_BASE_URL": model.base_url, "VLM_MODEL": "a-model"}
        host = HostProcess(place, directory)
        made = Chaos(place, host, engine, (hub_cable, host_cable))
        await made.start_hub()
        try:
            code, line, why = await place.opengui("fleet", "invite", "shelf")
            assert code == 0, why
            joining = line.split("'")[1].replace(hub_cable.url, host_cable.url)
            await host.start("--join", joining)
            await made.usable()
            yield made
        except BaseException:
            sys.stderr.write(host.log[-4000:] + ("" if made.hub is None else made.hub.log[-4000:]))
            raise
        finally:
            await host.end(signal.SIGTERM)
            if made.hub is not None:
                await made.hub.stop()


async def play(
    place: Place, faults: int, seed: int, say: Callable[[str], None], *, seconds: Callable[[int], float]
) -> None:
    """So many faults, one after the other, then peace; and the records after it. `seconds` is the length of a cut."""
    chance = random.Random(seed)
    async with fleet_of_processes(place, seed) as fleet:
        person = Person(place.data, most=max(3, faults // 2))
        living = asyncio.create_task(person.live())
        try:
            for number in range(faults):
                kind = FAULTS[number % len(FAULTS)] if faults <= len(FAULTS) else chance.choice(FAULTS)
                length = seconds(number)
                if length > LONG_S:
                    kind = chance.choice(CUTS)
                await asyncio.sleep(chance.uniform(0.5, 4.0))
                if living.done():
                    living.result()
                say(f"{number + 1}: {kind} for {length:g} s, {Counter(task.state for task in tasks(place.data))}")
                await fleet.fault(kind, length)
            person.most = 0
            await _until(lambda: _is_over(place), CALM_S)
        finally:
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)
        say(f"back after cuts: {[f'{each:.1f}' for each in fleet.back]} s")
        assert person.given > faults // 4, "hardly anything was done meanwhile"
        judge(place, fleet.host.directory, say)


async def _is_over(place: Place) -> bool:
    found = tasks(place.data)
    return bool(found) and all(task.state == "ended" for task in found)


async def _until(such: Callable[[], Awaitable[bool]], within: float) -> None:
    async with asyncio.timeout(within):
        while not await such():
            await asyncio.sleep(0.2)


def judge(place: Place, host: Path, say: Callable[[str], None]) -> None:
    """Nothing done twice, nothing lost."""
    found = tasks(place.data)
    say(f"{len(found)} tasks: {dict(Counter(task.outcome for task in found))}")
    receipts = Counter(entry.receipt for entry in place.phone.journal.inputs() if entry.receipt)
    say(f"{sum(receipts.values())} inputs on the phone")
    assert receipts, "the phone was never touched"
    assert [receipt for receipt, times in receipts.items() if times > 1] == [], "an action reached the phone twice"
    finals = rows(place.data, "SELECT task, COUNT(*) FROM outbox WHERE kind = 'final' GROUP BY task")
    assert {int(str(task)): times for task, times in finals} == {task.number: 1 for task in found}, "one final for each"
    assert rows(place.data, "SELECT id FROM questions WHERE answer IS NULL AND expired = 0") == []
    assert rows(place.data, "SELECT phone, run FROM leases WHERE released IS NULL") == []
    twice = "SELECT run, subtask, step FROM steps GROUP BY run, subtask, step HAVING COUNT(*) > 1"
    assert rows(place.data, twice) == []
    assert damage(place.data) == damage(host) == []
