"""A machine for the service whose phone is at a host: the same `Place`, with a hub, an engine and a host behind it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp

from bot.cli.exits import ServiceGone
from bot.cli.remote import running_service
from bot.fleet.keys import HubKeys
from tests.end_to_end.service import START_S, Place, Service, place_with
from tests.fixtures.adb import AdbServer
from tests.fleet.chaos import HostProcess
from tests.fleet.engine import Engine, Way, engine_at
from tests.fleet.other_program import OtherProgram

OF_A_HOST = ("VLM_", "GUARD")
"""Settings of a host, by how they begin. Chats and people are the hub's."""


@dataclass
class FleetPlace(Place):
    """Its service is a hub without phones; the host joins at the first start and stays through the others."""

    engine: Engine | None = None
    host: HostProcess | None = None
    program: OtherProgram | None = None
    """What the host runs, if it is not the program at hand."""
    _joining: asyncio.Lock = field(default_factory=asyncio.Lock)

    def service(self, **more: str) -> Service:
        """See Place."""
        assert self.engine is not None
        return _HubService(self, {**more, "FLEET_URL": self.engine.url, "ANDROID_SERIALS": "none"})

    async def join(self, settings: Mapping[str, str]) -> None:
        """Have the host join, and wait until its phone can be used."""
        if self.host is None:
            directory = self.directory / "host"
            directory.mkdir()
            code, line, why = await self.opengui("fleet", "invite", "shelf")
            assert code == 0, why
            own = {name: value for name, value in settings.items() if name.startswith(OF_A_HOST)}
            self.host = HostProcess(self, directory, own, self.program)
            await self.host.start("--join", line.split("'")[1])
        async with asyncio.timeout(START_S):
            while not await self._usable():
                await asyncio.sleep(0.05)

    async def _usable(self) -> bool:
        with suppress(aiohttp.ClientError, ServiceGone, OSError):
            async with running_service(self.data) as remote:
                if remote is None:
                    return False
                return any(phone["usable"] and phone["host"] == "shelf" for phone in await remote.phones())
        return False


class _HubService(Service):
    """The hub; begun is it when its host is there."""

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        assert isinstance(self._place, FleetPlace)
        try:
            await self._place.join(self._settings)
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None and isinstance(self._place, FleetPlace) and self._place.host is not None:
            sys.stderr.write(f"the host:\n{self._place.host.log}\nthe hub:\n")
        await super().__aexit__(kind, error, traceback)


@asynccontextmanager
async def fleet_place_with(
    adb_server: AdbServer, directory: Path, *, way: Way | None = None
) -> AsyncIterator[FleetPlace]:
    """Such a place with one virtual phone attached to the host. `way` is how hub and host reach the engine."""
    async with place_with(adb_server, directory) as local:
        local.data.mkdir()
        async with engine_at(directory, HubKeys.kept(local.data / "fleet-hub.json"), way) as engine:
            made = FleetPlace(local.phone, local.adb, local.directory, engine=engine)
            try:
                yield made
            finally:
                if made.host is not None:
                    await made.host.end(signal.SIGTERM)
