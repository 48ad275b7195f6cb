"""Files to and from a phone's shared storage."""

from __future__ import annotations

import re
import stat
import struct
import time

from devices.adb.connection import Call
from devices.adb.quoting import command
from devices.adb.shell import Shell
from devices.errors import FileRejected, PhoneGone
from devices.storage import DOWNLOADS, GALLERY, checked_path, safe_name
from devices.wording import words

SHOWN = ("jpg", "jpeg", "png", "webp", "gif", "heic", "heif", "bmp", "mp4", "webm", "mov", "3gp", "mkv")
"""What a gallery shows."""
MAX_PUSH = 100 * 1024 * 1024
SYNC_CHUNK = 64 * 1024
"""SYNC_DATA_MAX of adb's file_sync_protocol.h."""
BASE_SECONDS = 10.0
BYTES_PER_SECOND = 500_000
"""A slow Wi-Fi link, for the time limit."""


async def push(shell: Shell, name: str, data: bytes, folder: str = "") -> str:
    """Writes the file, tells the gallery, and returns its path. Raises FileRejected and other PhoneErrors."""
    if len(data) > MAX_PUSH:
        raise FileRejected(words("phone.error.push_large", size=len(data), limit=MAX_PUSH))
    kept = safe_name(name)
    root = GALLERY if kept.rpartition(".")[2].casefold() in SHOWN else DOWNLOADS
    path = "/".join((root, *((safe_name(folder),) if folder else ()), kept))
    timeout = BASE_SECONDS + len(data) / BYTES_PER_SECOND
    await shell.connection.run(
        lambda call: _send(call, path, data), timeout=timeout, doing=words("phone.doing.receiving")
    )
    scan = command("am", "broadcast", "-a", "android.intent.action.MEDIA_SCANNER_SCAN_FILE", "-d", f"file://{path}")
    await shell.run(scan, doing=words("phone.doing.gallery"))
    return path


async def pull(shell: Shell, path: str, limit: int) -> bytes:
    """Reads a file of at most `limit` bytes. Raises FileRejected when there is none, or a larger one."""
    checked = checked_path(path)
    timeout = BASE_SECONDS + limit / BYTES_PER_SECOND
    return await shell.connection.run(
        lambda call: _receive(call, checked, limit), timeout=timeout, doing=words("phone.doing.sending")
    )


def _request(kind: bytes, payload: bytes) -> bytes:
    return kind + struct.pack("<I", len(payload)) + payload


def _send(call: Call, path: str, data: bytes) -> None:
    """The SEND request of adb's SYNC.TXT: path and mode, pieces of data, time of change."""
    connection = call.open("sync:")
    mode = stat.S_IFREG | 0o644
    connection.conn.sendall(_request(b"SEND", f"{path},{mode}".encode()))
    for start in range(0, len(data), SYNC_CHUNK):
        connection.conn.settimeout(call.remaining)
        connection.conn.sendall(_request(b"DATA", data[start : start + SYNC_CHUNK]))
    connection.conn.settimeout(call.remaining)
    connection.conn.sendall(b"DONE" + struct.pack("<I", int(time.time())))
    answer, length = struct.unpack("<4sI", connection.read_exact(8))
    if answer == b"FAIL":
        reason = _printable(connection.read_exact(length))
        raise FileRejected(words("phone.error.push_refused", reason=reason))
    if answer != b"OKAY":
        raise PhoneGone(words("phone.error.link_sending", serial=call.serial))


def _receive(call: Call, path: str, limit: int) -> bytes:
    connection = call.open("sync:")
    encoded = path.encode()
    connection.conn.sendall(_request(b"STAT", encoded))
    _, mode, size, _ = struct.unpack("<4sIII", connection.read_exact(16))
    if not stat.S_ISREG(mode):
        raise FileRejected(words("phone.error.no_file", path=path))
    if size > limit:
        raise FileRejected(words("phone.error.pull_large", path=path, size=size, limit=limit))
    connection.conn.sendall(_request(b"RECV", encoded))
    data = bytearray()
    while True:
        connection.conn.settimeout(call.remaining)
        kind, length = struct.unpack("<4sI", connection.read_exact(8))
        if kind == b"DONE":
            return bytes(data)
        if kind == b"FAIL":
            reason = _printable(connection.read_exact(length))
            raise FileRejected(words("phone.error.pull_refused", reason=reason))
        if kind != b"DATA" or length > SYNC_CHUNK:
            raise PhoneGone(words("phone.error.link_reading", serial=call.serial))
        data += connection.read_exact(length)
        if len(data) > limit:  # it grew since it was measured
            raise FileRejected(words("phone.error.pull_grown", path=path, limit=limit))


def _printable(reason: bytes) -> str:
    return re.sub(r"[^\x20-\x7e]", "?", reason.decode(errors="replace"))[:200]
