"""A machine for one of two services with one record."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.end_to_end.service import Place
from tests.failover.valve import Valve

WAYS = ("kill", "stop", "cut")
LIMIT_S = 120.0
LOST = 75
LONG = pytest.mark.skipif("FAILOVERS" not in os.environ, reason="more than half a minute: in make failover")


class Hub:
    """A machine for a service, with its own way to the database."""

    def __init__(self, place: Place, valve: Valve) -> None:
        self.place = place
        self.valve = valve
        self.service = place.service()

    async def begin(self, says: str) -> None:
        """Start it; returns once its log holds these words."""
        self.service = self.place.service()
        await self.service.begin(says)

    async def lose(self, way: str) -> None:
        """It is killed, stopped, or cut off from the record."""
        match way:
            case "kill":
                await self.service.kill()
            case "stop":
                self.service.send(signal.SIGSTOP)
            case _:
                self.valve.shut()

    async def come_back(self, way: str) -> None:
        """It goes on, and ends as soon as it knows that the record is not its own any more."""
        if way == "stop":
            self.service.send(signal.SIGCONT)
        self.valve.open()
        if way != "kill":
            assert await self.service.ended() == LOST


@asynccontextmanager
async def hub_at(place: Place, url: str) -> AsyncIterator[Hub]:
    """A hub at this place with the record at this address; it ends with the block."""
    port = int(url.rpartition(":")[2].partition("/")[0])
    async with Valve(port).standing() as valve:
        place.settings["DATABASE_URL"] = url.replace(f":{port}", f":{valve.port}")
        made = Hub(place, valve)
        try:
            yield made
        finally:
            valve.open()
            await made.service.stop()
