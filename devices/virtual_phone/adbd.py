"""The adb daemon of the virtual phone, the side that a real adb server connects to.

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
"""What runs on a stream; the stream is closed when it returns."""


class LinkState(StrEnum):
    """How the phone treats whoever connects."""

    OPEN = "open"
    UNAUTHORIZED = "unauthorized"
    OFFLINE = "offline"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Product:
    """What the banner tells the host."""

    name: str
    model: str
    device: str

    @property
    def banner(self) -> bytes:
        """The text of CNXN (AOSP adb.cpp, get_connection_string)."""
        return (
            f"device::ro.product.name={self.name};ro.product.model={self.model};"
            f"ro.product.device={self.device};features={','.join(FEATURES)}"
        ).encode()


class Transport:
    """One link from an adb server."""

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
        """Sends one message. Raises ConnectionError when the link is gone."""
        self._writer.writelines((message.header(), bytes(message.payload)))
        await self._writer.drain()

    async def run(self) -> None:
        """Answers until the link ends."""
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
        """Closes the socket as a pulled cable would."""
        self._writer.transport.abort()

    async def authorise(self) -> None:
        """The person at the phone pressed Allow."""
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
        """A signature by an unknown key is answered by a new token, a public key by a dialog on the phone."""
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
    """Tells whoever uses the phone in this process, without an adb server, that its links were cut or are possible
    again; see `devices.virtual_phone.direct`.
    """

    def __init__(self) -> None:
        self.state = LinkState.OPEN
        self.number = 0
        """How often there was news."""
        self._next = asyncio.Event()

    def tell(self) -> None:
        """There is news."""
        self.number += 1
        self._next.set()
        self._next = asyncio.Event()

    async def wait(self) -> None:
        """Returns at the next news."""
        await self._next.wait()


class AdbDaemon:
    """Listens on loopback and answers adb servers."""

    def __init__(self, product: Product, find: Callable[[str], Service | None]) -> None:
        """`find` gives the service of a name such as `shell,v2:id`, None when there is none."""
        self.news = LinkNews()
        self.find = find
        self._product = product
        self._server: asyncio.Server | None = None
        self._port = 0
        self._links: dict[Transport, asyncio.Task[None]] = {}

    @property
    def state(self) -> LinkState:
        """How the phone treats whoever connects."""
        return self.news.state

    @state.setter
    def state(self, state: LinkState) -> None:
        self.news.state = state
        self.news.tell()

    @property
    def port(self) -> int:
        """The port it listens on, and will again where it is away for a moment."""
        assert self._port, "the daemon was not started"
        return self._port

    async def start(self, port: int = 0) -> None:
        """Listens; port 0 takes any free one. Raises OSError when the port is taken."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Drops all links and stops listening."""
        if self._server is not None:
            self._server.close()
        await self.drop()

    async def drop(self) -> None:
        """Cuts every link as a pulled cable would."""
        self.news.tell()
        links = dict(self._links)
        for transport, task in links.items():
            transport.cut()
            task.cancel()
        await asyncio.gather(*links.values(), return_exceptions=True)

    async def restart(self) -> None:
        """Ends and listens again on the same port. Raises OSError when somebody else took it meanwhile."""
        port = self.port
        await self.stop()
        await self.start(port)

    async def change(self, state: LinkState) -> None:
        """Treats links differently from now on; existing ones end unless they were only waiting for Allow."""
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
