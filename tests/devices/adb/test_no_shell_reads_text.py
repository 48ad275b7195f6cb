"""What is typed reaches the field as it is, and no shell on the phone ever reads it, whichever way it goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import uiautomator2
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from devices.adb.connection import Connection
from devices.adb.driver import AdbPhone
from devices.adb.server import ServerAddress
from devices.geometry import Size
from devices.inputs import OpenApp, Tap, TypeText
from devices.phone import Health, PhoneInfo
from devices.simulator.phone import VirtualPhone
from devices.simulator.uiautomator.server import JAR
from tests.devices.contract import element
from tests.fixtures.adb import AdbServer

SERVER_FILE = Path(uiautomator2.__file__).parent / "assets" / "u2.jar"
NASTY = "'\"`$(){}[]<>|&;!*?~#\\%s =,-/"
KEYS = st.text(st.sampled_from(NASTY + "aZ0"), min_size=1, max_size=40)
SCRIPTS = st.text(st.sampled_from(NASTY + "é你👋"), min_size=1, max_size=40)
PROGRAMS = {"keys": {"input"}, "broadcast": {"input", "am"}, "fast": {"input", "setText"}}


class Typist:
    """A phone with a note open whose text goes one way only."""

    def __init__(self, lane: str) -> None:
        self.lane = lane
        self.virtual = VirtualPhone()

    async def open(self, server: AdbServer) -> None:
        await self.virtual.start()
        await server.connect(self.virtual.address)
        self.virtual.state.adb_keyboard_installed = self.lane == "broadcast"
        self.virtual.files.write(JAR, SERVER_FILE.read_bytes())
        connection = Connection(ServerAddress(server.host, server.port), self.virtual.address)
        info = PhoneInfo("typist", self.virtual.address, "typist", Health.READY, size=Size(1080, 2400))
        self.phone = AdbPhone(connection, info, fast_lane=self.lane == "fast")
        await self.phone.prepare()
        if opening := self.phone._lane._opening:
            await asyncio.wait({opening}, timeout=20)
        assert self.phone.info.lane == ("fast" if self.lane == "fast" else "adb")
        await self.phone.act(OpenApp("Notes"), receipt="n")
        look = await self.phone.observe()
        await self.phone.act(Tap(element(look, "New note").bounds.centre), receipt="n")
        await self.phone.observe(after=look)
        self.folders = self.virtual.files.names("/sdcard/")

    async def types(self, text: str) -> None:
        self.virtual.hand.replace("")
        before = len(self.virtual.journal.entries)
        await self.phone.act(TypeText(text), receipt="t")
        entries = self.virtual.journal.entries[before:]
        assert self.virtual.truth.fields["title"] == text
        assert not [entry.argv for entry in entries if entry.kind == "substitution"]
        typing = [entry for entry in entries if entry.receipt]
        assert typing
        assert {entry.name for entry in typing} <= PROGRAMS[self.lane]
        assert all(entry.kind == "jsonrpc" for entry in typing if entry.name == "setText")
        # No part of the text became a command or a file of its own.
        assert len({entry.receipt for entry in typing}) == len(typing)
        assert self.virtual.files.names("/sdcard/") == self.folders

    async def close(self, server: AdbServer) -> None:
        await self.phone.restore()
        await server.disconnect(self.virtual.address)
        await self.virtual.stop()


@pytest.mark.parametrize(("lane", "texts"), [("keys", KEYS), ("broadcast", SCRIPTS), ("fast", SCRIPTS)])
def test_nothing_typed_is_read_by_a_shell(adb_server: AdbServer, lane: str, texts: st.SearchStrategy[str]) -> None:
    """Seen failing with `quote` returning its text unchanged, for the keys; the other ways send no such text at all."""
    typist = Typist(lane)
    with asyncio.Runner() as runner:

        @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
        @given(texts)
        @example("'; input keyevent 3; '")
        @example("$(input keyevent 3)`reboot`")
        @example("a > /sdcard/x & reboot || %s")
        def check(text: str) -> None:
            runner.run(typist.types(text))

        try:
            runner.run(typist.open(adb_server))
            check()
        finally:
            runner.run(typist.close(adb_server))
