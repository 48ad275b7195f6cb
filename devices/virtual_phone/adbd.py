"""The adb daemon of the virtual phone, to which a real adb server connects.

Order of messages: AOSP packages/modules/adb/protocol.txt; authorisation: daemon/auth.cpp.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from devices.virtual_phone.protocol import (
    FEATURES,
    MAX_PAYLOAD,
    VERSION,
    Auth,
    Command,
    Message,
    ProtocolFault,
    Stream,
    StreamClosed,
    read_message,
)

logger = logging.getLogger(__name__)

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


class LinkNews:
    """Notifies users of the phone in this process, who have no adb server, when its connections are cut or possible
    again.

    See `devices.virtual_phone.direct`.
    """

    def __init__(self) -> None:
        self.state = LinkState.OPEN
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
