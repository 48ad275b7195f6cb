"""Two services on one phone: the second does not take it, and nothing stays locked."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from devices.adb.connection import Call, Connection
from devices.adb.driver import AdbPhone
from devices.adb.ownership import AGAIN_AFTER, Ownership
from devices.adb.server import ServerAddress
from devices.adb.shell import Shell
from devices.errors import PhoneTaken
from devices.phone import Health, PhoneInfo
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer

_OTHER_SERVICE = """
import asyncio, sys
from devices.adb.connection import Connection
from devices.adb.ownership import Ownership
from devices.adb.server import ServerAddress
from devices.adb.shell import Shell

async def main():
    mine = Ownership(Shell(Connection(ServerAddress("127.0.0.1", int(sys.argv[1])), sys.argv[2])))
    await mine.take()
    print("mine", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


class Remembering(Connection):
    """One that keeps its calls."""

    def __init__(self, address: ServerAddress, serial: str) -> None:
        super().__init__(address, serial)
        self.calls: list[Call] = []

    def call(self, deadline: float) -> Call:
        self.calls.append(super().call(deadline))
        return self.calls[-1]


def _phone(adb: AdbServer, phone: VirtualPhone) -> AdbPhone:
    address = ServerAddress("127.0.0.1", adb.port)
    info = PhoneInfo(phone.address, phone.address, "Pixel", Health.READY)
    return AdbPhone(Connection(address, phone.address), info)


async def test_the_second_service_does_not_take_the_phone(adb_server: AdbServer) -> None:
    """Seen failing without `take` in `prepare`: both prepared it, and the first one's end took the other's settings."""
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        first, second = _phone(adb_server, phone), _phone(adb_server, phone)
        await first.prepare()
        await first.prepare()
        kept = dict(phone.state.settings["global"])
        with pytest.raises(PhoneTaken, match="Another service is using the phone"):
            await second.prepare()
        with pytest.raises(PhoneTaken):
            await second.restore_leftovers()
        await second.restore()
        assert phone.state.settings["global"] == kept, "what the first one needs stays as it is"
        await first.restore()
        await second.prepare()
        await second.restore()
        await adb_server.disconnect(phone.address)


async def test_a_phone_of_another_service_is_busy_elsewhere_until_that_has_finished(adb_server: AdbServer) -> None:
    """No task gets it until then."""
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        first, second = _phone(adb_server, phone), _phone(adb_server, phone)
        await first.prepare()
        assert (await first.refresh()).health is Health.READY, "it is its own"
        told = await second.refresh()
        assert (told.health, told.health.usable) == (Health.BUSY_ELSEWHERE, False)
        assert "Another opengui-bot service" in told.reason
        assert "ANDROID_SERIALS" in told.fix
        await first.restore()
        assert (await second.refresh()).health is Health.READY
        assert not phone.locked_by_service, "looking keeps nothing"
        await adb_server.disconnect(phone.address)


async def test_who_finds_it_taken_at_the_begin_shows_it_so(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        first, second = _phone(adb_server, phone), _phone(adb_server, phone)
        await first.prepare()
        with pytest.raises(PhoneTaken):
            await second.prepare()
        assert second.info.health == Health.BUSY_ELSEWHERE.value
        await first.restore()
        await second.prepare()
        assert second.info.health == Health.READY.value
        await second.restore()
        await adb_server.disconnect(phone.address)


async def test_a_service_that_is_killed_leaves_no_lock(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        other = await asyncio.create_subprocess_exec(
            sys.executable, "-c", _OTHER_SERVICE, str(adb_server.port), phone.address,
            stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3],
        )  # fmt: skip
        assert other.stdout is not None
        assert await other.stdout.readline() == b"mine\n"
        mine = Ownership(Shell(Connection(ServerAddress("127.0.0.1", adb_server.port), phone.address)))
        with pytest.raises(PhoneTaken):
            await mine.take()
        other.kill()
        await other.wait()
        async with asyncio.timeout(10):
            while not mine.held:
                try:
                    await mine.take()
                except PhoneTaken:
                    await asyncio.sleep(0.01)
        await mine.release()
        assert not phone.locked_by_service
        await adb_server.disconnect(phone.address)


async def test_a_lock_that_the_cable_took_is_taken_again(adb_server: AdbServer) -> None:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        mine = Ownership(Shell(Connection(ServerAddress("127.0.0.1", adb_server.port), phone.address)))
        await mine.take()
        await adb_server.disconnect(phone.address)
        await adb_server.connect(phone.address)
        async with asyncio.timeout(10):
            await mine.take()
        assert phone.locked_by_service
        await mine.release()
        await adb_server.disconnect(phone.address)


async def test_who_gives_up_taking_it_leaves_no_socket(adb_server: AdbServer) -> None:
    """Seen failing without the callback in `_take`: its thread had the socket, and nobody closed it."""
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        connection = Remembering(ServerAddress("127.0.0.1", adb_server.port), phone.address)
        mine = Ownership(Shell(connection))
        phone.locked_by_service = True  # so that the answer takes a while
        taking = asyncio.create_task(mine.take())
        async with asyncio.timeout(10):
            while not (connection.calls and connection.calls[0].sent):
                await asyncio.wait((taking,), timeout=0.01)
            taking.cancel()
            await asyncio.wait((taking,))
            while connection.calls[0]._sockets:
                await asyncio.sleep(0)
        await adb_server.disconnect(phone.address)


async def test_who_only_looks_keeps_nobody_from_beginning(adb_server: AdbServer) -> None:
    """Every service looks at its phones now and then, and holds the lock for that moment.

    Seen failing without the second try in `HOLD`: `prepare` raised PhoneTaken.
    """
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        looking = Ownership(Shell(Connection(ServerAddress("127.0.0.1", adb_server.port), phone.address)))
        await looking.take()
        mine = _phone(adb_server, phone)
        beginning = asyncio.create_task(mine.prepare())
        await asyncio.wait((beginning,), timeout=AGAIN_AFTER / 2)
        await looking.release()
        await beginning
        assert mine.info.health is Health.READY
        await mine.restore()
        await adb_server.disconnect(phone.address)
