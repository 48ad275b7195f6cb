"""A way to a server through which nothing goes while it is shut: no byte is lost, and no connection ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Valve:
    """Open at first. What is sent while it is shut arrives when it is opened, as with a cable that is put back."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._ways: set[asyncio.Task[None]] = set()
        self.port = 0

    def shut(self) -> None:
        """Let nothing through from now on."""
        self._is_open.clear()

    def open(self) -> None:
        """Let everything through again."""
        self._is_open.set()

    @asynccontextmanager
    async def standing(self) -> AsyncIterator[Valve]:
        """On `port`, until the block ends."""
        listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = listening.sockets[0].getsockname()[1]
        async with listening:
            try:
                yield self
            finally:
                ways = [*self._ways]
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        way = asyncio.ensure_future(self._between(reader, writer))
        self._ways.add(way)
        way.add_done_callback(self._ways.discard)

    async def _between(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            with suppress(OSError):
                await self._is_open.wait()
                theirs, ours = await asyncio.open_connection("127.0.0.1", self._target)
                ends.append(ours)
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass_on(reader, ours))
                    both.create_task(self._pass_on(theirs, writer))
        finally:
            for each in ends:
                each.transport.abort()
            await asyncio.gather(*(each.wait_closed() for each in ends), return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self._is_open.wait()
                writer.write(data)
                await writer.drain()
        await self._is_open.wait()  # that it has ended does not get through either
        writer.close()
