"""One phone for each case, and an adb server that may be killed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import uiautomator2

from devices.adb import host
from devices.adb.server import ServerAddress, ensure_running
from devices.errors import PhoneGone
from devices.virtual_phone.uiautomator_server import JAR
from tests.agent.graph.rig import LIMIT, Rig, rig_on
from tests.fixtures.adb import AdbServer

SERVER_FILE = Path(uiautomator2.__file__).parent / "assets" / "u2.jar"


def bring_the_jar(rig: Rig) -> None:
    """uiautomator2's server is on the phone already."""
    rig.phone.files.write(JAR, SERVER_FILE.read_bytes())


@pytest.fixture
async def fast_rig(adb_server: AdbServer) -> AsyncIterator[Rig]:
    """The same with uiautomator2's server open, on a phone with its own keyboard only."""
    async with rig_on(adb_server, fast_lane=True) as made:
        made.phone.state.adb_keyboard_installed = False
        bring_the_jar(made)
        (info,) = made.phones.list()
        phone = made.phones.get(info.id)
        await phone.prepare()
        async with asyncio.timeout(LIMIT):
            while phone.info.lane != "fast":
                await asyncio.sleep(0)
        yield made


@pytest.fixture
async def own_adb(adb_server: AdbServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AdbServer]:
    """An adb server of this test alone. The pool starts it anew when it is killed, with the environment of the test."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    here = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "ADB_EMU": "0", "ADB_LIBUSB": "0", "ADB_MDNS": "0"}
    for name, value in here.items():
        monkeypatch.setenv(name, value)
    address = ServerAddress("127.0.0.1", port)
    await ensure_running(address)
    yield replace(adb_server, port=port, environment={**adb_server.environment, "ANDROID_ADB_SERVER_PORT": str(port)})
    with contextlib.suppress(PhoneGone):  # it ends without an answer
        await host.ask(address, "host:kill")
