"""uiautomator2's server on the phone: its file, its start and end, and requests to it. It runs while the adb stream
that started it is open.

Requests are JSON-RPC 2.0 over HTTP over adb, each sent once. uiautomator2's own client would restart the server and
repeat a failed request, but an input must never be sent twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import adbutils
from uiautomator2.core import DEFAULT_SERVER_PORT
from uiautomator2.utils import with_package_resource

from devices.adb.connection import Call, Connection
from devices.adb.links import target
from devices.adb.shell import Shell, command
from devices.errors import PhoneError
from devices.wording import sentence_of, words

PORT: int = DEFAULT_SERVER_PORT
RECEIPT_HEADER = "X-OpenGUI-Receipt"
_OK = 200
# nanohttpd leaks when it compresses (github.com/NanoHttpd/nanohttpd/issues/492).
_HEADERS = {"Accept-Encoding": "", "Content-Type": "application/json"}

JAR = "/data/local/tmp/u2.jar"
"""The path that uiautomator2 itself uses, so that a phone has the file only once."""
START_LINE = f"CLASSPATH={JAR} app_process / com.wetest.uia2.Main -p {PORT}"

PUSH_SECONDS = 60.0
"""Seconds for 3.7 MB; over slow Wi-Fi they take about ten."""
START_SECONDS = 8.0
"""Seconds for a Java VM and the accessibility link; uiautomator2's users report one to three on real phones."""
END_SECONDS = 3.0
"""Seconds for the previous run's server to end after its stream was closed."""
_PING_SECONDS = 2.0
_PAUSE = 0.1
_LAST_WORDS = 300


class LaneFailed(Exception):
    """A request to the server on the phone failed. With `uncertain`, the phone may have received it anyway."""

    def __init__(self, message: str, *, uncertain: bool = False) -> None:
        super().__init__(message)
        self.uncertain = uncertain


class LaneRefused(LaneFailed):
    """The server on the phone answered a request with an error; `str` is its message. An input may have had an effect
    anyway.
    """


async def alive(connection: Connection, *, timeout: float) -> bool:
    """Return whether the server on the phone answers within `timeout` seconds."""
    try:
        return await connection.run(
            lambda call: _exchange(call, "GET", "/ping", None, {}) == b"pong",
            timeout=timeout,
            doing=words("phone.doing.fast_lane"),
        )
    except (LaneFailed, PhoneError):
        return False


async def ask(connection: Connection, method: str, *parameters: object, timeout: float, receipt: str = "") -> object:
    """Call a method of the server on the phone and return its result. Raises LaneFailed, also if the link to the phone
    broke.

    `receipt` identifies an input in the phone's log; "" for requests that are no inputs.
    """
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
    headers = {RECEIPT_HEADER: receipt} if receipt else {}
    try:
        answer = await connection.run(
            lambda call: _exchange(call, "POST", "/jsonrpc/0", body, headers),
            timeout=timeout,
            doing=words("phone.doing.fast_lane"),
        )
    except PhoneError as lost:
        raise LaneFailed(sentence_of(lost), uncertain=lost.uncertain) from lost
    return result_of(answer)


def result_of(answer: bytes) -> object:
    """Return the result in a JSON-RPC answer of the server. Raises LaneRefused if it is an error, LaneFailed if it is
    anything else.
    """
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    match said:
        case {"error": {"message": str(message)}}:
            raise LaneRefused(message, uncertain=True)
        case {"result": result}:
            return result
        case _:
            raise LaneFailed(words("phone.lane.not_json"), uncertain=True)


def _exchange(call: Call, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
    """Send a request in the call's thread. Raises LaneFailed; errors of the link are handled by the call."""
    # adbutils would ask the adb server for its version before each request, which takes 10 ms.
    try:
        connection = call.open(f"tcp:{PORT}", acts=False)
    except adbutils.AdbError as refused:
        raise LaneFailed(words("phone.lane.unreachable")) from refused
    http = HTTPConnection("localhost", PORT)
    http.sock = connection.conn
    try:
        http.sock.settimeout(call.remaining)
        # Head and body are two writes: without this, the second waits 40 ms for the first's acknowledgement.
        http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        call.sent = True
        http.request(method, path, body, {**_HEADERS, **headers})
        response = http.getresponse()
        content: bytes = response.read()
    except HTTPException as broken:
        raise LaneFailed(words("phone.lane.broke_off"), uncertain=True) from broken
    finally:
        http.close()
    if response.status != _OK:
        raise LaneFailed(words("phone.lane.status", status=response.status), uncertain=True)
    return content


async def wait_until_gone(connection: Connection) -> None:
    """Wait until no server answers on the phone, because one that was cut off takes a moment to end.

    Raises LaneFailed if one remains, because it belongs to another program.
    """
    until = time.monotonic() + END_SECONDS
    while await alive(connection, timeout=_PING_SECONDS):
        if time.monotonic() >= until:
            raise LaneFailed(words("phone.lane.taken"))
        await asyncio.sleep(_PAUSE)


class OnPhoneServer:
    """One start of the server on the phone. `cut` must always be called at the end."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._writer: asyncio.StreamWriter | None = None
        self._output: asyncio.Task[None] | None = None
        self._words = ""

    async def bring(self) -> None:
        """Copy the server's file to the phone unless it is there already. Raises LaneFailed."""
        try:
            data = await asyncio.to_thread(_jar)
        except (OSError, RuntimeError) as missing:  # RuntimeError if the package lacks the file
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
        """Start the server and wait until it answers. Raises LaneFailed."""
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
        """Close the stream, so that adb ends the server. Returns whether there was one."""
        if self._output is not None:
            self._output.cancel()
        if self._writer is not None:
            self._writer.close()
        return self._writer is not None

    async def _open(self) -> asyncio.StreamReader:
        """Open a stream with the first shell protocol, which ends the process it started when it is closed."""
        address, serial = self._shell.connection.address, target(self._shell.connection.serial)
        reader, self._writer = await asyncio.open_connection(address.host, address.port)
        for service, answer in ((f"host:tport:serial:{serial}", 8), (f"shell:{START_LINE}", 0)):
            self._writer.write(f"{len(service.encode()):04x}{service}".encode())
            if await reader.readexactly(4) != b"OKAY":
                raise LaneFailed(words("phone.lane.refused"))
            await reader.readexactly(answer)
        return reader

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Read the server's output so that it never blocks, keeping the last words."""
        try:
            while piece := await reader.read(4096):
                self._words = (self._words + piece.decode(errors="replace"))[-_LAST_WORDS:]
        except OSError as broken:
            self._words += f" ({broken})"


def _jar() -> bytes:
    with with_package_resource("assets/u2.jar") as path:
        return Path(path).read_bytes()
