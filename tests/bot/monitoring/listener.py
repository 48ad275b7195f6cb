"""A service manager that writes down what it is told."""

from __future__ import annotations

import asyncio
import secrets
import socket
from types import TracebackType
from typing import Self


class Listener:
    """A datagram socket, in the abstract namespace unless a path is given. `told` is every message so far."""

    def __init__(self, path: str = "") -> None:
        self.address = path or f"@opengui-test-{secrets.token_hex(8)}"
        self.told: list[str] = []
        self._news = asyncio.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def __enter__(self) -> Self:
        self._socket.bind(f"\0{self.address[1:]}" if self.address.startswith("@") else self.address)
        self._socket.setblocking(False)
        asyncio.get_running_loop().add_reader(self._socket, self._read)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()

    async def hears(self, words: str, *, times: int = 1) -> None:
        """Returns once so many messages begin with these words."""
        async with asyncio.timeout(30):
            while sum(message.startswith(words) for message in self.told) < times:
                self._news.clear()
                await self._news.wait()

    def _read(self) -> None:
        self.told.append(self._socket.recv(4096).decode())
        self._news.set()
