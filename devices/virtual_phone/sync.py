"""The file transfer service of adb (sync, version 1) with the requests STAT, LIST, RECV and SEND.

Source: AOSP packages/modules/adb/SYNC.TXT and file_sync_protocol.h. Numbers are little-endian and 32 bits wide.
"""

from __future__ import annotations

import struct

from devices.virtual_phone.device import Device
from devices.virtual_phone.files import FileRefused, Files
from devices.virtual_phone.protocol import Stream

REQUEST = struct.Struct("<4sI")
STAT = struct.Struct("<4sIII")
ENTRY = struct.Struct("<4sIIII")
# SYNC_DATA_MAX in file_sync_protocol.h.
CHUNK = 64 * 1024
# The longest path that file_sync_service.cpp takes.
MAX_PATH_BYTES = 1024


async def serve_sync(phone: Device, stream: Stream) -> None:
    """Answer file requests until QUIT or the end of the stream. Faults and scenario events know a request as `sync
    SEND /path`.
    """
    files = phone.files
    while True:
        request, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if request == b"QUIT":
            return
        if length > MAX_PATH_BYTES:
            await _fail(stream, "path too long")
            return
        path = (await stream.read_exactly(length)).decode("utf-8", "surrogateescape")
        name = request.decode("ascii", "replace")
        line = f"sync {name} {path}"
        await phone.moments.came(line)
        await phone.faults.hold(line)
        entry = phone.journal.add("sync", name, (name, path))
        await phone.moments.passed(line)
        match request:
            case b"STAT":
                await stream.write(STAT.pack(b"STAT", *files.stat(path)))
            case b"LIST":
                await _list(files, stream, path)
            case b"RECV":
                await _receive(files, stream, path)
            case b"SEND":
                await _send(files, stream, path)
            case _:
                await _fail(stream, f"unknown command {request!r}")
                return
        entry.code = 0


async def _list(files: Files, stream: Stream, path: str) -> None:
    for name in files.names(path):
        mode, size, when = files.stat(f"{path.rstrip('/')}/{name}")
        encoded = name.encode("utf-8", "surrogateescape")
        await stream.write(ENTRY.pack(b"DENT", mode, size, when, len(encoded)) + encoded)
    await stream.write(ENTRY.pack(b"DONE", 0, 0, 0, 0))


async def _receive(files: Files, stream: Stream, path: str) -> None:
    content = files.read(path)
    if content is None:
        await _fail(stream, "open failed: No such file or directory")
        return
    for start in range(0, len(content), CHUNK):
        part = content[start : start + CHUNK]
        await stream.write(REQUEST.pack(b"DATA", len(part)) + part)
    await stream.write(REQUEST.pack(b"DONE", 0))


async def _send(files: Files, stream: Stream, path_and_mode: str) -> None:
    path, _, _mode = path_and_mode.rpartition(",")
    content = bytearray()
    while True:
        kind, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if kind == b"DONE":
            break
        if kind != b"DATA" or length > CHUNK:
            await _fail(stream, "invalid data message")
            return
        content += await stream.read_exactly(length)
    try:
        files.write(path, bytes(content), modified=length)
    except FileRefused as problem:
        await _fail(stream, f"couldn't create file: {problem}")
        return
    await stream.write(REQUEST.pack(b"OKAY", 0))


async def _fail(stream: Stream, reason: str) -> None:
    encoded = reason.encode()
    await stream.write(REQUEST.pack(b"FAIL", len(encoded)) + encoded)
