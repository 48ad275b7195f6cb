"""The adb servers behind the phones: one that dies, several, and whom they are asked for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from devices.adb.host import track
from devices.adb.server import ServerAddress
from devices.errors import PhoneGone
from devices.phone import Health
from devices.pool import AdbPhones
from devices.virtual_phone.adbd import LinkState
from devices.virtual_phone.phone import VirtualPhone
from tests.devices.test_pool import healthy, pool_on, until
from tests.fixtures.adb import AdbServer


@pytest.fixture
async def own_server(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[OwnServer]:
    """A server that may be killed, unlike the session's."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    server = OwnServer(adb_server, port, {**adb_server.environment, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)})
    yield server
    await server.kill()


@dataclass(frozen=True, slots=True)
class OwnServer:
    """An adb server that the pool starts and a test kills."""

    binaries: AdbServer
    port: int
    environment: dict[str, str]

    async def kill(self) -> None:
        await self.binaries.run("-P", str(self.port), "kill-server")


async def listed_again(address: ServerAddress, serial: str) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                async with aclosing(track(address)) as lists:
                    async for states in lists:
                        if states.get(serial) == "device":
                            return
            except PhoneGone:
                await asyncio.sleep(0.05)  # another program starts: that can only be polled


async def test_a_server_that_dies_is_started_again_and_its_phones_come_back(
    own_server: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "TMPDIR", "ADB_EMU", "ADB_LIBUSB", "ADB_MDNS"):
        monkeypatch.setenv(name, own_server.environment[name])
    async with VirtualPhone() as virtual:
        pool = AdbPhones([ServerAddress("127.0.0.1", own_server.port)], serials=[virtual.address], virtual=0)
        await pool.start()
        try:
            (info,) = await until(pool, healthy(virtual.address, Health.READY))
            phone = pool.get(info.id)
            await own_server.kill()
            await listed_again(ServerAddress("127.0.0.1", own_server.port), virtual.address)
            assert await pool.wait_for(info.id, timeout=20) is phone
            assert (await phone.observe()).image is not None
        finally:
            await pool.stop()


async def test_a_named_phone_on_the_network_that_comes_late_is_found(adb_server: AdbServer) -> None:
    async with VirtualPhone(number=13) as late:
        await late.set_link(LinkState.GONE)
        async with pool_on(adb_server, serials=[late.address]) as pool:
            assert not healthy(late.address, Health.READY)(pool.list())
            await late.set_link(LinkState.OPEN)
            await until(pool, healthy(late.address, Health.READY))
        await adb_server.disconnect(late.address)


async def test_a_named_phone_is_reached_through_the_server_that_can(adb_server: AdbServer) -> None:
    nobody = ServerAddress("127.0.0.2", 1)
    async with VirtualPhone(number=14) as phone:
        pool = AdbPhones(
            [ServerAddress(adb_server.host, adb_server.port), nobody][::-1], serials=[phone.address], virtual=0
        )
        await pool.start()
        try:
            await until(pool, healthy(phone.address, Health.READY))
        finally:
            await pool.stop()
        await adb_server.disconnect(phone.address)
