"""The console's connections: how many there are at once, and how long a request may take to arrive.

Each takes one of the files that the service may have open, and phones, models and the store need theirs too: whoever
reaches the port must not use them up by connecting and saying little.
"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

from aiohttp import web

from bot.texts import say
from bot.web.auth import HEADERS, Handler, refuse

logger = logging.getLogger(__name__)

MOST = 256
"""Connections at once. A page has up to six."""
SHARE = 4
"""And at most one of so many of the files that the service may have open (`ulimit -n`)."""
ARRIVES_WITHIN = 30.0
"""Seconds that the head of a request may take from its first byte, and its body then. The largest file that may be
handed in comes from this machine.
"""


class Connections:
    """All that are open. Where one more finds no room, the one goes that has been without work for longest; where all
    are at work, the new one goes.
    """

    def __init__(self, most: int | None = None, arrives_within: float = ARRIVES_WITHIN) -> None:
        self.arrives_within = arrives_within
        self._most = _share() if most is None else most
        self._open: set[Connection] = set()
        self._resting: dict[Connection, None] = {}
        """Those that can go, in the order in which they began to rest."""
        self._told = False

    def join(self, connection: Connection) -> bool:
        """Add it when there is room, or can be."""
        if len(self._open) >= self._most:
            if not self._told:
                logger.warning(
                    "The console has its %d connections: idle ones are closed for new ones, and new ones are refused "
                    "while all are at work",
                    self._most,
                )
                self._told = True
            if not self._resting:
                return False
            next(iter(self._resting)).drop()
        self._open.add(connection)
        self.rests(connection)
        return True

    def leave(self, connection: Connection) -> None:
        """It is closed, or is about to be."""
        self._open.discard(connection)
        self._resting.pop(connection, None)
        self._told = self._told and len(self._open) > self._most // 2

    def works(self, connection: Connection) -> None:
        """Its request has come whole and is worked on: it stays."""
        self._resting.pop(connection, None)

    def rests(self, connection: Connection) -> None:
        """It waits for a request, or for the rest of one."""
        if connection in self._open:
            self._resting[connection] = None

    @web.middleware
    async def timely(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """The middleware: a request is answered once its head has come, and cut off when its body does not come."""
        connection = request.protocol
        assert isinstance(connection, Connection)
        return await connection.answer(request, handler)


def _share() -> int:
    files = os.sysconf("SC_OPEN_MAX")  # less than nothing: no limit
    return min(MOST, max(1, files // SHARE)) if files >= 0 else MOST


class Connection(web.RequestHandler):
    """One connection, as aiohttp serves it."""

    def __init__(self, server: web.Server, connections: Connections, idle: float) -> None:
        # No access log: an address may carry the token.
        options: dict[str, Any] = {"access_log": None, "keepalive_timeout": idle}
        super().__init__(server, loop=asyncio.get_running_loop(), **options)
        self._connections = connections
        self._admitted = False
        self._head_due: asyncio.TimerHandle | None = None
        self._body_due: asyncio.Timeout | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has connected: served, or closed at once."""
        self._admitted = self._connections.join(self)
        if self._admitted:
            super().connection_made(transport)
        else:
            assert isinstance(transport, asyncio.Transport)
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Bytes have come: with the first ones of a request its time begins."""
        if data and self._body_due is None and self._head_due is None:
            self._head_due = self._loop.call_later(self._connections.arrives_within, self.drop)
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """It is closed."""
        if self._admitted:
            self._head_came()
            self._connections.leave(self)
            super().connection_lost(exc)

    def drop(self) -> None:
        """Close it now, whatever is still to be sent."""
        self._connections.leave(self)
        if self.transport is not None:
            self.transport.abort()

    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Have the handler answer; 408 when the request's body does not come in time."""
        self._head_came()
        body = request.content
        try:
            async with asyncio.timeout(self._connections.arrives_within) as self._body_due:
                body.on_eof(self._body_came)
                return await handler(request)
        except (TimeoutError, ConnectionResetError):
            if body.is_eof():
                raise
            # Who was cut off in the middle of a body has no fault of the program in the log for it.
            return refuse(408, say("refusal.slow"))
        finally:
            self._body_due = None
            self._connections.rests(self)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """What aiohttp answers by itself, such as to what is no request: no middleware sees that."""
        response = super().handle_error(request, status, exc, message)
        response.headers.update(HEADERS)
        return response

    def _head_came(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _body_came(self) -> None:
        if self._body_due is not None and not self._body_due.expired():
            self._body_due.reschedule(None)
            self._connections.works(self)
