"""A real nats-server for tests, and a cable to it that can be cut."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from bot.fleet.keys import HubKeys
from bot.fleet.sign_in import server_configuration

SERVER: Final = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or "nats-server"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


@dataclass(frozen=True)
class Way:
    """How a server is reached: by `tls` or `wss`, with this certificate and its key, as a name that stands in it."""

    scheme: Literal["tls", "wss"]
    certificate: Path
    key: Path
    name: str = "localhost"


class Engine:
    """The nats-server of a hub with these keys. `kill` ends it without a word; it keeps its streams."""

    def __init__(self, directory: Path, keys: HubKeys, way: Way | None = None) -> None:
        self.port = free_port()
        self._way = way
        self._websocket = free_port()
        self._file = directory / "nats.conf"
        self._log = directory / "nats.log"
        self._file.write_text(
            server_configuration(
                keys,
                store=str(directory / "jetstream"),
                port=self.port,
                host="127.0.0.1",
                tls=("", "") if way is None else (str(way.certificate), str(way.key)),
                websocket=0 if way is None else self._websocket,
            )
        )
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        if self._way is None:
            return f"nats://127.0.0.1:{self.port}"
        return f"{self._way.scheme}://{self._way.name}:{self.port if self._way.scheme == 'tls' else self._websocket}"

    @property
    def log(self) -> str:
        return self._log.read_text()

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(SERVER, "-c", str(self._file), stdout=log, stderr=log)
        async with asyncio.timeout(20):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                except OSError:
                    await asyncio.sleep(0.02)
                else:
                    writer.close()
                    return

    async def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()


@asynccontextmanager
async def engine_at(directory: Path, keys: HubKeys, way: Way | None = None) -> AsyncIterator[Engine]:
    """A server that runs until the block ends."""
    engine = Engine(directory, keys, way)
    await engine.start()
    try:
        yield engine
    finally:
        await engine.kill()


class Cable:
    """A way to a port of this machine. Cut, its sockets are closed and new ones are refused."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.port = free_port()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.bytes = 0

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def cut(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for writer in tuple(self._open):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, onward = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        self._open |= {writer, onward}
        try:
            await asyncio.gather(self._pass(reader, onward), self._pass(there, writer))
        finally:
            self._open -= {writer, onward}
            writer.close()
            onward.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.bytes += len(data)
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def cable_to(port: int) -> AsyncIterator[Cable]:
    """A cable that is whole at first."""
    cable = Cable(port)
    await cable.mend()
    try:
        yield cable
    finally:
        await cable.cut()
