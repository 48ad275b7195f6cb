from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from PIL import Image

from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.adb.server import ServerAddress
from devices.adb.shell import Shell
from devices.geometry import Size
from devices.phone import Element, Health, PhoneInfo
from devices.virtual_phone.phone import VirtualPhone
from tests.fixtures.adb import AdbServer

SIZE = Size(1080, 2400)


@dataclass(frozen=True, slots=True)
class Bench:
    """A driver, and the virtual phone that it drives through a real adb server."""

    phone: AdbPhone
    virtual: VirtualPhone
    server: AdbServer

    @property
    def connection(self) -> Connection:
        return self.phone.connection


@dataclass
class Met:
    """devices.phone.Judged that says what it is told to, and counts how it was asked."""

    same: bool
    pictured: bool = False
    looks: bool = False
    """Whether the picture shows the same."""
    told: int = 0
    shown: int = 0

    def shows_same(self, thumbnail: Image.Image) -> bool:
        assert thumbnail.mode == "L"
        self.shown += 1
        return self.looks

    def tells_same(self, elements: tuple[Element, ...]) -> bool:
        assert elements
        self.told += 1
        return self.same


@pytest.fixture
async def virtual(adb_server: AdbServer) -> AsyncIterator[VirtualPhone]:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        yield phone
        await adb_server.disconnect(phone.address)


@pytest.fixture
async def bench(adb_server: AdbServer, virtual: VirtualPhone) -> AsyncIterator[Bench]:
    connection = Connection(ServerAddress(adb_server.host, adb_server.port), virtual.address)
    info = PhoneInfo(virtual.address, virtual.address, "bench", Health.READY, size=SIZE, virtual=True)
    phone = AdbPhone(connection, info)
    yield Bench(phone, virtual, adb_server)
    virtual.faults.set(hang="")
    await phone.close()


@pytest.fixture
def shell(bench: Bench) -> Shell:
    return Shell(bench.connection)


@pytest.fixture
def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
