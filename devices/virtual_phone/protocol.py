"""The wire format of adb: messages with a header of 24 bytes and a payload, and streams made of them.

Source: AOSP packages/modules/adb/protocol.txt and adb.h. The words are little-endian 32-bit numbers.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

HEADER = struct.Struct("<6I")
# A_VERSION_SKIP_CHECKSUM in AOSP adb.h: from this version on, the checksum field is ignored.
VERSION = 0x01000001
# MAX_PAYLOAD in AOSP adb.h.
MAX_PAYLOAD = 1024 * 1024
# Only what is implemented here: a host that reads delayed_ack or sendrecv_v2 would use them and break.
FEATURES = ("shell_v2", "cmd")


class Command(IntEnum):
    """The commands of adb (adb.h). Each value is the little-endian number of the command's four letters."""

    SYNC = 0x434E5953
    CNXN = 0x4E584E43
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    CLSE = 0x45534C43
    WRTE = 0x45545257
    AUTH = 0x48545541
    STLS = 0x534C5453


class Auth(IntEnum):
    """The first argument of an AUTH message, from adb.h (ADB_AUTH_*)."""

    TOKEN = 1
    SIGNATURE = 2
    PUBLIC_KEY = 3


class ProtocolFault(Exception):
    """The other side sent something that is not a valid adb message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One adb message. The meaning of both arguments (`first`, `second`) depends on the command."""

    command: Command
    first: int = 0
    second: int = 0
    payload: bytes | memoryview = b""

    def header(self) -> bytes:
        """Return the header of 24 bytes that precedes the payload."""
        return HEADER.pack(self.command, self.first, self.second, len(self.payload), 0, self.command ^ 0xFFFFFFFF)


async def read_message(reader: asyncio.StreamReader) -> Message:
    """Read the next message. Raises ProtocolFault, or asyncio.IncompleteReadError when the connection ends."""
    command, first, second, length, _checksum, magic = HEADER.unpack(await reader.readexactly(HEADER.size))
    if magic != command ^ 0xFFFFFFFF or length > MAX_PAYLOAD:
        raise ProtocolFault(f"not an adb header: command {command:#x}, length {length}")
    try:
        known = Command(command)
    except ValueError:
        raise ProtocolFault(f"unknown adb command {command:#x}") from None
    return Message(known, first, second, await reader.readexactly(length) if length else b"")


class Link(Protocol):
    """The part of a connection that a stream needs."""

    max_payload: int

    async def send(self, message: Message) -> None:
        """Send one message and wait until the socket has room again."""
        ...


class StreamClosed(Exception):
    """The host (the adb server) closed the stream, or the connection is lost."""


class Stream:
    """A two-way byte stream between the host (the adb server) and a service.

    One WRTE message is in flight at a time: the next one waits for OKAY (AOSP protocol.txt).
    """

    def __init__(self, link: Link, local: int, remote: int) -> None:
        self._link = link
        self._local = local
        self._remote = remote
        self._incoming = asyncio.StreamReader(limit=2**24)
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._closed = False

    async def accept(self) -> None:
        """Tell the host that the service exists, or that it may send more."""
        await self._link.send(Message(Command.OKAY, self._local, self._remote))

    async def write(self, data: bytes) -> None:
        """Send the bytes to the host. Raises StreamClosed when the stream is closed."""
        view = memoryview(data)
        for start in range(0, len(view), self._link.max_payload):
            await self._may_write.wait()
            if self._closed:
                raise StreamClosed
            self._may_write.clear()
            chunk = view[start : start + self._link.max_payload]
            await self._link.send(Message(Command.WRTE, self._local, self._remote, chunk))

    async def read_exactly(self, count: int) -> bytes:
        """Return `count` bytes from the host. Raises StreamClosed when fewer arrive."""
        try:
            return await self._incoming.readexactly(count)
        except asyncio.IncompleteReadError:
            raise StreamClosed from None

    async def close(self) -> None:
        """Close the stream from this side, after the host has received everything written."""
        await self._may_write.wait()
        if not self._closed:
            self._closed = True
            await self._link.send(Message(Command.CLSE, self._local, self._remote))

    async def received(self, data: bytes) -> None:
        """Store bytes that arrived from the host, and let it send more."""
        self._incoming.feed_data(data)
        await self.accept()

    def acknowledged(self) -> None:
        """Handle the host's confirmation of the last WRTE message."""
        self._may_write.set()

    def ended(self) -> None:
        """Handle that the host closed the stream, and wake up those that wait for it."""
        self._closed = True
        self._incoming.feed_eof()
        self._may_write.set()
