"""The adb daemon of the virtual phone, to which a real adb server connects, and adb's wire format: messages with a
header of 24 bytes and a payload, and streams made of them.

Source: AOSP packages/modules/adb/protocol.txt and adb.h. The words are little-endian 32-bit numbers.

Order of messages: AOSP packages/modules/adb/protocol.txt; authorisation: daemon/auth.cpp.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Protocol

logger = logging.getLogger(__name__)


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


# Length of the random token in AOSP daemon/auth.cpp (TOKEN_SIZE).
TOKEN_BYTES = 20

Service = Callable[[Stream], Awaitable[None]]
"""A service of the phone: runs on a stream, which is closed when it returns."""


class LinkState(StrEnum):
    """How the phone treats adb servers that connect."""

    OPEN = "open"
    UNAUTHORIZED = "unauthorized"
    OFFLINE = "offline"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Product:
    """The phone's product properties, which its banner tells the adb server."""

    name: str
    model: str
    device: str

    @property
    def banner(self) -> bytes:
        """The text of the CNXN message (AOSP adb.cpp, get_connection_string)."""
        return (
            f"device::ro.product.name={self.name};ro.product.model={self.model};"
            f"ro.product.device={self.device};features={','.join(FEATURES)}"
        ).encode()


class Transport:
    """One connection from an adb server."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, product: Product, daemon: AdbDaemon
    ) -> None:
        self.max_payload = MAX_PAYLOAD
        self._reader = reader
        self._writer = writer
        self._product = product
        self._daemon = daemon
        self._streams: dict[int, tuple[Stream, asyncio.Task[None]]] = {}
        self._last_id = 0
        self._connected = False
        self._asked = False

    async def send(self, message: Message) -> None:
        """Send one message. Raises ConnectionError when the connection is lost."""
        self._writer.writelines((message.header(), bytes(message.payload)))
        await self._writer.drain()

    async def run(self) -> None:
        """Answer messages until the connection ends."""
        try:
            while True:
                await self._handle(await read_message(self._reader))
        except (asyncio.IncompleteReadError, ConnectionError):
            logger.debug("adb link ended")
        except ProtocolFault as fault:
            logger.warning("The adb connection was closed because of an error: %s", fault)
        finally:
            tasks = [task for _stream, task in self._streams.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.cut()

    def cut(self) -> None:
        """Close the socket abruptly, as when a cable is pulled."""
        self._writer.transport.abort()

    async def authorise(self) -> None:
        """Accept the adb server, as when a person presses Allow on the phone; only if it has asked."""
        if self._asked and not self._connected:
            await self._welcome()

    async def _welcome(self) -> None:
        self._connected = True
        await self.send(Message(Command.CNXN, VERSION, MAX_PAYLOAD, self._product.banner))

    async def _handle(self, message: Message) -> None:
        match message.command:
            case Command.CNXN:
                self.max_payload = min(MAX_PAYLOAD, message.second)
                await self._greet()
            case Command.AUTH:
                await self._answer_auth(message)
            case Command.OPEN:
                await self._open(message)
            case Command.WRTE | Command.OKAY | Command.CLSE:
                await self._pass_on(message)
            case _:
                logger.debug("ignored %s", message.command.name)

    async def _greet(self) -> None:
        match self._daemon.state:
            case LinkState.OPEN:
                await self._welcome()
            case LinkState.UNAUTHORIZED:
                await self._challenge()
            case LinkState.OFFLINE | LinkState.GONE:
                logger.debug("greeting left unanswered")

    async def _challenge(self) -> None:
        await self.send(Message(Command.AUTH, Auth.TOKEN, 0, os.urandom(TOKEN_BYTES)))

    async def _answer_auth(self, message: Message) -> None:
        """Answer every signature with a new token, because its key is unknown. A public key waits for `authorise`, or
        is accepted at once if the phone is open.
        """
        if message.first == Auth.SIGNATURE:
            await self._challenge()
        elif message.first == Auth.PUBLIC_KEY:
            self._asked = True
            if self._daemon.state is LinkState.OPEN:
                await self._welcome()

    async def _open(self, message: Message) -> None:
        name = bytes(message.payload).rstrip(b"\0").decode("utf-8", "surrogateescape")
        service = self._daemon.find(name) if self._connected else None
        if service is None:
            await self.send(Message(Command.CLSE, 0, message.first))
            return
        self._last_id += 1
        stream = Stream(self, self._last_id, message.first)
        await stream.accept()
        task = asyncio.create_task(self._serve(service, stream, self._last_id), name=f"adbd {name[:40]}")
        self._streams[self._last_id] = (stream, task)

    async def _serve(self, service: Service, stream: Stream, local: int) -> None:
        try:
            with contextlib.suppress(StreamClosed, ConnectionError):
                await service(stream)
                await stream.close()
        finally:
            self._streams.pop(local, None)

    async def _pass_on(self, message: Message) -> None:
        found = self._streams.get(message.second)
        if found is None:
            if message.command is Command.WRTE:
                await self.send(Message(Command.CLSE, 0, message.first))
            return
        stream, task = found
        if message.command is Command.WRTE:
            await stream.received(bytes(message.payload))
        elif message.command is Command.OKAY:
            stream.acknowledged()
        else:
            stream.ended()
            task.cancel()


class News:
    """Wakes up those who wait for a change."""

    def __init__(self) -> None:
        self.number = 0
        """How many changes there were."""
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Report a change."""
        self.number += 1
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Wait for the next change."""
        await self._next.wait()


class LinkNews(News):
    """Notifies users of the phone in this process, who have no adb server, when its connections are cut or possible
    again.

    See `devices.virtual_phone.direct`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state = LinkState.OPEN


class AdbDaemon:
    """Listens on the loopback interface and answers adb servers."""

    def __init__(self, product: Product, find: Callable[[str], Service | None]) -> None:
        """Create the daemon. `find` returns the service of a name such as `shell,v2:id`; None when there is none."""
        self.news = LinkNews()
        self.find = find
        self._product = product
        self._server: asyncio.Server | None = None
        self._port = 0
        self._links: dict[Transport, asyncio.Task[None]] = {}

    @property
    def state(self) -> LinkState:
        """How the phone treats adb servers that connect. Setting it notifies `news`."""
        return self.news.state

    @state.setter
    def state(self, state: LinkState) -> None:
        self.news.state = state
        self.news.tell()

    @property
    def port(self) -> int:
        """The port on which it listens, also while it is restarted."""
        assert self._port, "the daemon was not started"
        return self._port

    async def start(self, port: int = 0) -> None:
        """Start to listen; port 0 takes any free one. Raises OSError when the port is taken."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Cut all connections and stop listening."""
        if self._server is not None:
            self._server.close()
        await self.drop()

    async def drop(self) -> None:
        """Cut every connection abruptly, as when a cable is pulled."""
        self.news.tell()
        links = dict(self._links)
        for transport, task in links.items():
            transport.cut()
            task.cancel()
        await asyncio.gather(*links.values(), return_exceptions=True)

    async def restart(self) -> None:
        """Stop, and listen again on the same port. Raises OSError when another program has taken it meanwhile."""
        port = self.port
        await self.stop()
        await self.start(port)

    async def change(self, state: LinkState) -> None:
        """Treat adb servers as `state` says from now on. If it is a new state, existing connections are cut, unless
        they were only waiting for Allow and are now allowed.
        """
        before, self.state = self.state, state
        if before is LinkState.UNAUTHORIZED and state is LinkState.OPEN:
            for transport in tuple(self._links):
                await transport.authorise()
        elif before is not state:
            await self.drop()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.state is LinkState.GONE:
            writer.transport.abort()
            return
        transport = Transport(reader, writer, self._product, self)
        task = asyncio.current_task()
        assert task is not None
        self._links[transport] = task
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await transport.run()
        finally:
            self._links.pop(transport, None)
