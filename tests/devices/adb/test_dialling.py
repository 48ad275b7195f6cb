"""How often phones on the network are dialled: against an adb server that counts, in time that passes when all wait."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from devices.adb.following import Dialer
from devices.adb.server import ServerAddress

pytestmark = pytest.mark.slow

AWAY, SILENT = "10.0.0.1:5555", "10.0.0.2:5555"
GRACE = 15.0


class _NobodyWaits(selectors.DefaultSelector):
    """Lets the time pass at once when nothing happens on any socket for a moment."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0.02 if timeout is None else min(timeout, 0.02))
        if not events and timeout is not None:
            self.passed += timeout
        return events


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.clock = _NobodyWaits()
        super().__init__(self.clock)

    def time(self) -> float:
        return self.clock.passed


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(work())


@asynccontextmanager
async def counting() -> AsyncIterator[tuple[ServerAddress, dict[str, list[float]]]]:
    """An adb server that reaches nobody, and when it was to connect to whom. One address it never hears of again."""
    dials: dict[str, list[float]] = {AWAY: [], SILENT: []}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            service = (await reader.readexactly(int(await reader.readexactly(4), 16))).decode()
            if service.startswith("host:connect:"):
                serial = service.removeprefix("host:connect:")
                dials[serial].append(asyncio.get_running_loop().time())
                if serial == SILENT:
                    await reader.read()
            writer.write(b"OKAY0000")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield ServerAddress(port=server.sockets[0].getsockname()[1]), dials


@asynccontextmanager
async def dialling(address: ServerAddress, *serials: str) -> AsyncIterator[Dialer]:
    made = Dialer((address,), lambda _: False)
    for serial in serials:
        made.expect(serial)
    made.start()
    try:
        yield made
    finally:
        await made.stop()


def test_a_phone_that_a_run_waits_for_is_dialled_every_second() -> None:
    """Seen failing without the wait known: it was dialled once in fifteen seconds."""

    async def work() -> None:
        async with counting() as (address, dials), dialling(address, AWAY) as made:
            await asyncio.sleep(100)
            alone = len(dials[AWAY])
            assert alone <= 8, "the pauses grow while nobody waits"
            with made.awaited({AWAY, "USB1"}):
                await asyncio.sleep(GRACE)
            waited = len(dials[AWAY]) - alone
            assert waited >= GRACE - 2
            await asyncio.sleep(100)
            assert len(dials[AWAY]) - alone - waited <= 8, "and afterwards they grow again"

    run(work)


def test_an_address_that_is_silent_holds_up_nobody_and_is_dialled_again() -> None:
    """Seen failing with the limit of the connection itself: it was dialled once in the time that a run waits."""

    async def work() -> None:
        async with counting() as (address, dials), dialling(address, SILENT, AWAY) as made:
            with made.awaited({SILENT, AWAY}):
                await asyncio.sleep(GRACE)
            assert len(dials[AWAY]) >= GRACE - 2
            assert len(dials[SILENT]) >= 3

    run(work)
