"""Limits the number of the console's connections and the time in which a request must arrive.

Each connection takes one of the service's open files, which phones, models and the store need as well, so nobody may
use them up by connecting and staying silent. uvicorn has no such limits.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import socket
from typing import Final

import h11
from starlette.types import ASGIApp
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from bot.web.http import CODES, HEADERS

logger = logging.getLogger(__name__)

MOST = 256
"""Connections at once. A page uses up to six."""
SHARE = 4
"""One in how many of the service's open files (`ulimit -n`) may be a connection."""
ARRIVES_WITHIN = 30.0
"""Seconds for the head of a request from its first byte, and again for its body. The largest uploads come from this
machine.
"""
IDLE_WITHIN = 300.0
"""Seconds of silence between requests after which a connection is closed. Proxies keep theirs for up to two minutes and
must close first.
"""
STOP_WITHIN = 3.0
"""Seconds that a request has to end when the server stops."""
UNREAD: Final = 256 * 1024
"""Bytes that the system buffers for a reader that takes nothing; its own limit is up to 4 MB."""
GRACE_S: Final = 1.0
"""Seconds in which a handler can report that a body came too slowly, before the connection is cut."""


class Connections:
    """Keeps track of all open connections and limits their number. If there is no room for a new one, the connection
    that has been idle longest is closed; if none is idle, the new one is refused.
    """

    def __init__(self, most: int | None = None, arrives_within: float = ARRIVES_WITHIN) -> None:
        self.arrives_within = arrives_within
        self._most = _share() if most is None else most
        self._open: set[Connection] = set()
        self._idle: dict[Connection, None] = {}
        """Connections that may be closed, in the order in which they became idle."""
        self._full_logged = False

    def join(self, connection: Connection) -> bool:
        """Add a connection. Returns False if there is no room for it, so that it must be closed."""
        if len(self._open) >= self._most:
            if not self._full_logged:
                logger.warning(
                    "The console has its %d connections: idle ones are closed for new ones, and new ones are refused "
                    "while all are at work",
                    self._most,
                )
                self._full_logged = True
            if not self._idle:
                return False
            next(iter(self._idle)).drop()
        self._open.add(connection)
        self.mark_idle(connection)
        return True

    def leave(self, connection: Connection) -> None:
        """Forget a connection that is closed, or is about to be."""
        self._open.discard(connection)
        self._idle.pop(connection, None)
        self._full_logged = self._full_logged and len(self._open) > self._most // 2

    def mark_busy(self, connection: Connection) -> None:
        """Record that a connection's request is complete and being handled, so that it is not closed to make room."""
        self._idle.pop(connection, None)

    def mark_idle(self, connection: Connection) -> None:
        """Record that a connection is idle: it waits for a request, or for the rest of one."""
        if connection in self._open:
            self._idle[connection] = None


def _share() -> int:
    files = os.sysconf("SC_OPEN_MAX")  # a negative number means no limit
    return min(MOST, max(1, files // SHARE)) if files >= 0 else MOST


def ambiguity_of(received: bytes) -> str:
    """Return why the head of a request is ambiguous; "" if it is not. `received` are the bytes received so far.

    If two servers disagree about where a request ends, one request can hide another (RFC 9112, 5.2, 6.1 and 11.2). The
    library h11 does not refuse all such requests: it accepts folded lines, and ignores Content-Length if the body is
    chunked.
    """
    head = _HEAD_END.split(received.lstrip(b"\r\n"), maxsplit=1)[0].lower()
    if _FOLDED.search(head):
        return "A header that continues on the next line is not accepted."
    if b"\ncontent-length:" in head and b"\ntransfer-encoding:" in head:
        return "Content-Length and Transfer-Encoding together are not accepted."
    return ""


_HEAD_END: Final = re.compile(rb"\n\r?\n")
_FOLDED: Final = re.compile(rb"\n[ \t]")


class Connection(H11Protocol):
    """A connection of uvicorn with time limits for request heads, request bodies and idle time.

    `idle` is the seconds that it may be idle between requests. The state of each request contains the time limit of its
    body (`arrives_within`), and a function that closes the connection when a client reads nothing (`drop`).
    """

    def __init__(self, config: Config, state: ServerState, connections: Connections, idle: float) -> None:
        super().__init__(config, state, {"arrives_within": connections.arrives_within, "drop": self.drop})
        # Invalid input from others is not logged, faults of the program are.
        self.logger = _faults
        # No access log, because an address may contain the token.
        self.access_log = False
        self._idle = idle
        self._connections = connections
        self._admitted = False
        self._due: asyncio.TimerHandle | None = None
        self._stage: object = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Accept a new connection, or close it at once if there is no room for it."""
        self._admitted = self._connections.join(self)
        if self._admitted:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
            super().connection_made(transport)
            self._wait_for_next()
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Handle received bytes; the time limit of a request starts with its first one."""
        super().data_received(data)
        self._watch()

    def handle_events(self) -> None:
        """Handle the received data, unless the head of the request is ambiguous, so that a proxy in front may have
        understood it differently.
        """
        if self.conn.their_state is h11.IDLE and (why := ambiguity_of(self.conn.trailing_data[0])):
            self.send_400_response(why)
            return
        super().handle_events()

    def on_response_complete(self) -> None:
        """Wait for the next request after a response was sent."""
        self._connections.mark_idle(self)
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait_for_next()
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, which is closed."""
        if self._admitted:
            self._unset_keepalive_if_required()
            self._enough()
            self._connections.leave(self)
            super().connection_lost(exc)

    def drop(self) -> None:
        """Close the connection at once, without sending the rest."""
        self._connections.leave(self)
        self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Answer input that is not a valid HTTP request; no other code gets to see it."""
        headers = [("content-type", "application/json"), ("connection", "close"), *HEADERS.items()]
        answer = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=json.dumps({"code": CODES[400], "message": msg, "details": None}).encode()),
            h11.EndOfMessage(),
        )
        for event in answer:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait_for_next(self) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(self._idle, self.timeout_keep_alive_handler)

    def _watch(self) -> None:
        """Start the time limit for a request that has begun to arrive, and keep the connection once it is complete."""
        stage = self.conn.their_state
        begun = stage is h11.SEND_BODY or (stage is h11.IDLE and bool(self.conn.trailing_data[0]))
        if not begun:
            self._enough()
            if stage in {h11.DONE, h11.MUST_CLOSE} and not self.cycle.response_complete:
                self._connections.mark_busy(self)
        elif self._due is None or self._stage is not stage:
            self._enough()
            within = self._connections.arrives_within
            within = within + GRACE_S if stage is h11.SEND_BODY else min(within, self._idle)
            self._due = self.loop.call_later(within, self.drop)
            self._stage = stage

    def _enough(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None


class HttpServer:
    """Serves an ASGI application on one port, from `listen` to `close`."""

    def __init__(self, app: ASGIApp, connections: Connections | None = None, idle: float = IDLE_WITHIN) -> None:
        # Proxy headers are only trusted where they are evaluated, and here they are not.
        self._config = Config(
            app, http="h11", ws="none", lifespan="off", log_config=None, proxy_headers=False, access_log=False
        )
        self._connections = connections or Connections()
        self._idle = idle
        self._state = ServerState()
        self._listening: asyncio.Server | None = None

    async def listen(self, host: str, port: int) -> int:
        """Start to serve and return the port, which is chosen by the system for 0. Raises OSError."""

        def connected() -> Connection:
            return Connection(self._config, self._state, self._connections, self._idle)

        self._listening = await asyncio.get_running_loop().create_server(connected, host, port)
        bound: int = self._listening.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Accept no more requests, and give current ones a short time to end. Safe to call twice."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=STOP_WITHIN)
        for work in list(self._state.tasks):
            work.cancel()
        for connection in list(self._state.connections):
            connection.transport.abort()


_faults = logging.getLogger(f"{__name__}.faults")
_faults.setLevel(logging.ERROR)
