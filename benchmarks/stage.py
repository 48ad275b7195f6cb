"""Tasks through the service, one after the other, on one phone."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.ground import REAL_PHONE, TASK_S, Ground, ground
from benchmarks.journey import STEPS, think
from devices.virtual_phone.faults import FaultValue
from tests.end_to_end.brain import Act
from tests.fakes.model_server import ModelServer


@dataclass(frozen=True)
class Deeds:
    """What a task did to the phone: trees asked of plain adb, touches, and what it left: notes, searches, switches."""

    dumps: int
    touches: int
    left: tuple[object, ...]


@dataclass(frozen=True)
class Stage:
    """Runs tasks through the service and keeps its data from one to the next."""

    ground: Ground
    model_seconds: float

    async def run(
        self, settings: Mapping[str, str] | None = None, steps: Sequence[tuple[str, Act]] = STEPS
    ) -> ModelServer:
        """One task from its start to its end, of these steps. Returns the endpoint with the requests that it got.

        Raises RuntimeError with what the service said when the task did not succeed.
        """
        async with ModelServer(partial(think, self.model_seconds, steps=steps)) as server:
            await do(self.ground, server.base_url, settings or {})
        return server

    async def watched(
        self, settings: Mapping[str, str] | None = None, steps: Sequence[tuple[str, Act]] = STEPS
    ) -> tuple[ModelServer, Deeds]:
        """The same, and what was done to the phone meanwhile."""
        async with self.ground.phones[0].open() as control:
            before, since = await control.truth(), max((each.number for each in await control.journal()), default=0)
            server = await self.run(settings, steps)
            after, entries = await control.truth(), await control.journal(since=since)
        switched = sorted(name for name, on in after.toggles.items() if before.toggles.get(name) != on)
        return server, Deeds(
            dumps=sum(each.name == "uiautomator" for each in entries),
            touches=sum(each.argv[:2] == ("input", "tap") for each in entries),
            left=(after.notes[len(before.notes) :], after.searches[len(before.searches) :], tuple(switched)),
        )

    def database_bytes(self) -> int:
        """The size of all database files."""
        return sum(path.stat().st_size for path in (self.ground.directory / "data").glob("*.sqlite3*"))


async def do(place: Ground, base_url: str, settings: Mapping[str, str]) -> None:
    """`opengui do` in a process of its own. Raises RuntimeError with what it said when the task did not succeed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot.cli", "do", "--quick", "--json", "Look around on the phone"),
        cwd=place.directory,
        env={**place.environment(base_url), **settings},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TASK_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise RuntimeError(f"the task did not succeed:\n{out.decode()}\n{err.decode()}")


@asynccontextmanager
async def stage(model_seconds: float, faults: Mapping[str, FaultValue] = REAL_PHONE) -> AsyncIterator[Stage]:
    """A stage with a virtual phone as slow as a real one; everything of it is gone afterwards."""
    async with ground(faults=faults) as place:
        yield Stage(place, model_seconds)
