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
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.uiautomator_server import JAR
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
        assert self.virtual.truth.fields["title"] == text
        self.check(before)

    async def replaces(self, text: str) -> None:
        """The text of the note, over whatever the field holds."""
        look = await self.phone.observe()
        field = max((each for each in look.elements or () if each.editable), key=lambda each: each.bounds.top)
        before = len(self.virtual.journal.entries)
        done = await self.phone.act(TypeText(text, at=field.bounds.centre, clear=True), receipt="t")
        assert done.field_text == self.virtual.truth.fields["body"] == text
        self.check(before)

    async def searches(self, text: str) -> None:
        """The text and Enter, in the browser."""
        await self.phone.act(OpenApp("Browser"), receipt="b")
        look = await self.phone.observe()
        field = next(each for each in look.elements or () if each.editable)
        before = len(self.virtual.journal.entries)
        await self.phone.act(TypeText(text, at=field.bounds.centre, clear=True, submit=True), receipt="t")
        assert self.virtual.truth.searches[-1:] == (text,)
        self.check(before)
        enters = [each for each in self.virtual.journal.entries[before:] if "KEYCODE_ENTER" in each.argv]
        assert len(enters) == 1

    def check(self, before: int) -> None:
        """What the phone's journal has of one text."""
        entries = self.virtual.journal.entries[before:]
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

        @settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


LATIN = {
    "quotes": 'it\'s "so" `there`',
    "percent": "100%sure %s%%s %d%",
    "substitution": "$(input keyevent 3) ${HOME} `reboot` $((1+1))",
    "line ends": "one\ntwo\n\nthree",
    "operators": "a && b || c; d | e > /sdcard/x < y & #!",
    "1000 signs": ("0123456789 it's %s $(x) `y`; " * 40)[:1000],
    "options": "-n --user 0",
}
ALL = LATIN | {
    "Chinese": "你好，世界！今天的天气很好，我们去公园散步吧。",
    "emoji": "👨\u200d👩\u200d👧 🇩🇪 👍🏽 ❤️",
    "mixed": "100% 确定 'yes' $(否) `ja`\n第二行 👋",
    "1000 Chinese signs": "汉字输入" * 250,
    "right to left": "مرحبا עולם",
}


@pytest.mark.parametrize("lane", ["keys", "broadcast", "fast"])
async def test_hard_texts_arrive_as_they_are(adb_server: AdbServer, lane: str) -> None:
    """Each over the one before, read back, and at last with Enter."""
    typist = Typist(lane)
    try:
        await typist.open(adb_server)
        for text in (LATIN if lane == "keys" else ALL).values():
            await typist.replaces(text)
        for name in ("quotes", "percent", "substitution", "operators"):
            await typist.searches(LATIN[name])
    finally:
        await typist.close(adb_server)
