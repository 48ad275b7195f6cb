"""The server on the phone: its file, its start, its end. It runs as long as the adb stream that started it is open."""

from __future__ import annotations

import asyncio
import hashlib
import time
from pathlib import Path

import adbutils
from uiautomator2.utils import with_package_resource

from devices.adb.connection import Connection
from devices.adb.fastlane.requests import PORT, LaneFailed, alive
from devices.adb.quoting import command
from devices.adb.serials import target
from devices.adb.shell import Shell
from devices.errors import PhoneError
from devices.wording import sentence_of, words

JAR = "/data/local/tmp/u2.jar"
"""Where uiautomator2 itself puts it, so that a phone has it once."""
START_LINE = f"CLASSPATH={JAR} app_process / com.wetest.uia2.Main -p {PORT}"

PUSH_SECONDS = 60.0
"""For 3.7 MB; over slow Wi-Fi they take about ten."""
START_SECONDS = 8.0
"""A Java VM and the accessibility link: one to three on real phones, as uiautomator2's users report."""
END_SECONDS = 3.0
"""For the server of the run before to go, after its stream was closed."""
_PING_SECONDS = 2.0
_PAUSE = 0.1
_LAST_WORDS = 300


async def wait_until_gone(connection: Connection) -> None:
    """Returns when no server answers: one that was cut takes a moment to end.

    Raises LaneFailed for one that stays, as it belongs to somebody else.
    """
    until = time.monotonic() + END_SECONDS
    while await alive(connection, timeout=_PING_SECONDS):
        if time.monotonic() >= until:
            raise LaneFailed(words("phone.lane.taken"))
        await asyncio.sleep(_PAUSE)


class OnPhoneServer:
    """One start of the server. `cut` it at the end, whatever came of it."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._writer: asyncio.StreamWriter | None = None
        self._output: asyncio.Task[None] | None = None
        self._words = ""

    async def bring(self) -> None:
        """Puts the server's file on the phone, unless the same is there. Raises LaneFailed."""
        try:
            data = await asyncio.to_thread(_jar)
        except (OSError, RuntimeError) as missing:  # the latter when the package has no such file
            raise LaneFailed(words("phone.lane.unreadable", problem=missing)) from missing
        try:
            there = await self._shell.run(command("toybox", "md5sum", JAR), doing=words("phone.doing.lane_finding"))
            if hashlib.md5(data, usedforsecurity=False).hexdigest() in there.out:
                return
            await self._shell.connection.run(
                lambda call: adbutils.AdbDevice(call, serial=call.target).sync.push(data, JAR, check=True),
                timeout=PUSH_SECONDS,
                doing=words("phone.doing.lane_receiving"),
            )
        except PhoneError as failed:
            raise LaneFailed(words("phone.lane.not_brought", why=sentence_of(failed))) from failed

    async def launch(self) -> None:
        """Starts the server and waits until it answers. Raises LaneFailed."""
        connection = self._shell.connection
        await wait_until_gone(connection)
        try:
            async with asyncio.timeout(START_SECONDS):
                reader = await self._open()
                self._output = asyncio.create_task(self._listen(reader), name="fast lane output")
                while not await alive(connection, timeout=_PING_SECONDS):
                    if self._output.done():
                        raise LaneFailed(self._ended())
                    await asyncio.wait({self._output}, timeout=_PAUSE)
        except TimeoutError:
            raise LaneFailed(words("phone.lane.slow", seconds=f"{START_SECONDS:.0f}")) from None
        except (OSError, EOFError) as broken:
            raise LaneFailed(words("phone.lane.link")) from broken

    def _ended(self) -> str:
        told = self._words.strip()
        return words("phone.lane.ended", told=told) if told else words("phone.lane.ended_silent")

    def cut(self) -> bool:
        """Closes the stream: adb then ends the server. Whether there was one."""
        if self._output is not None:
            self._output.cancel()
        if self._writer is not None:
            self._writer.close()
        return self._writer is not None

    async def _open(self) -> asyncio.StreamReader:
        """A stream of its own to the phone's first shell protocol, which ends what it started when it is closed."""
        address, serial = self._shell.connection.address, target(self._shell.connection.serial)
        reader, self._writer = await asyncio.open_connection(address.host, address.port)
        for service, answer in ((f"host:tport:serial:{serial}", 8), (f"shell:{START_LINE}", 0)):
            self._writer.write(f"{len(service.encode()):04x}{service}".encode())
            if await reader.readexactly(4) != b"OKAY":
                raise LaneFailed(words("phone.lane.refused"))
            await reader.readexactly(answer)
        return reader

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Takes what the server prints, so that it never waits for us; the last words are kept."""
        try:
            while piece := await reader.read(4096):
                self._words = (self._words + piece.decode(errors="replace"))[-_LAST_WORDS:]
        except OSError as broken:
            self._words += f" ({broken})"


def _jar() -> bytes:
    with with_package_resource("assets/u2.jar") as path:
        return Path(path).read_bytes()
