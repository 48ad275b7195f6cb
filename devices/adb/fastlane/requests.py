"""One request to the server on the phone: JSON-RPC 2.0 over HTTP over adb. Each is sent once.

uiautomator2's own client starts the server anew and repeats a request that failed; an input must never be sent twice.
"""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection, HTTPException

import adbutils
from uiautomator2.core import DEFAULT_SERVER_PORT

from devices.adb.connection import Call, Connection
from devices.errors import PhoneError
from devices.wording import sentence_of, words

PORT: int = DEFAULT_SERVER_PORT
RECEIPT_HEADER = "X-OpenGUI-Receipt"
_OK = 200
# nanohttpd leaks when it compresses (github.com/NanoHttpd/nanohttpd/issues/492).
_HEADERS = {"Accept-Encoding": "", "Content-Type": "application/json"}


class LaneFailed(Exception):
    """The fast lane did not do its part. `uncertain`: the phone may have got the request all the same."""

    def __init__(self, message: str, *, uncertain: bool = False) -> None:
        super().__init__(message)
        self.uncertain = uncertain


class LaneRefused(LaneFailed):
    """The server answered that it did not do it; `str` has its words."""


async def alive(connection: Connection, *, timeout: float) -> bool:
    """Whether the server answers."""
    try:
        return await connection.run(
            lambda call: _exchange(call, "GET", "/ping", None, {}) == b"pong",
            timeout=timeout,
            doing=words("phone.doing.fast_lane"),
        )
    except (LaneFailed, PhoneError):
        return False


async def ask(connection: Connection, method: str, *parameters: object, timeout: float, receipt: str = "") -> object:
    """The result of a method of the server. Raises LaneFailed, also when the link to the phone broke."""
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
    """What an answer of the server says. Raises LaneFailed for anything but a result."""
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
    """Runs in the call's thread. Raises LaneFailed; the failures of the link itself are told apart by the call."""
    # adbutils would ask the adb server for its version before each request, which takes 10 ms.
    try:
        connection = call.open(f"tcp:{PORT}", acts=False)
    except adbutils.AdbError as refused:
        raise LaneFailed(words("phone.lane.unreachable")) from refused
    http = HTTPConnection("localhost", PORT)
    http.sock = connection.conn
    try:
        http.sock.settimeout(call.remaining)
        # Head and body are two writes: without this the second waits 40 ms for the acknowledgement of the first.
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
