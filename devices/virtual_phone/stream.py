"""One stream inside an adb link: what a service on the phone reads from and writes to."""

from __future__ import annotations

import asyncio
from typing import Protocol

from devices.virtual_phone.protocol import Command, Message


class Link(Protocol):
    """The part of a transport that a stream needs."""

    max_payload: int

    async def send(self, message: Message) -> None:
        """Sends one message and waits until the socket has room again."""
        ...


class StreamClosed(Exception):
    """The host closed the stream, or the link is gone."""


class Stream:
    """A two-way byte stream. One WRTE is in flight at a time: the next waits for OKAY (AOSP protocol.txt)."""

    def __init__(self, link: Link, local: int, remote: int) -> None:
        self._link = link
        self._local = local
        self._remote = remote
        self._incoming = asyncio.StreamReader(limit=2**24)
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._closed = False

    async def accept(self) -> None:
        """Tells the host that the service exists."""
        await self._link.send(Message(Command.OKAY, self._local, self._remote))

    async def write(self, data: bytes) -> None:
        """Sends the bytes. Raises StreamClosed when nobody listens any more."""
        view = memoryview(data)
        for start in range(0, len(view), self._link.max_payload):
            await self._may_write.wait()
            if self._closed:
                raise StreamClosed
            self._may_write.clear()
            chunk = view[start : start + self._link.max_payload]
            await self._link.send(Message(Command.WRTE, self._local, self._remote, chunk))

    async def read_exactly(self, count: int) -> bytes:
        """`count` bytes from the host. Raises StreamClosed when fewer came."""
        try:
            return await self._incoming.readexactly(count)
        except asyncio.IncompleteReadError:
            raise StreamClosed from None

    async def close(self) -> None:
        """Ends the stream from this side, after everything written was taken."""
        await self._may_write.wait()
        if not self._closed:
            self._closed = True
            await self._link.send(Message(Command.CLSE, self._local, self._remote))

    async def received(self, data: bytes) -> None:
        """Takes bytes from the host and lets it send more."""
        self._incoming.feed_data(data)
        await self.accept()

    def acknowledged(self) -> None:
        """The host took the last WRTE."""
        self._may_write.set()

    def ended(self) -> None:
        """The host closed the stream; whoever waits on it is woken."""
        self._closed = True
        self._incoming.feed_eof()
        self._may_write.set()
