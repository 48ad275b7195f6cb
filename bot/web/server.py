"""The console's web server: the page, its API, and what the command line uses."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from aiohttp import web

from bot.domain.finding import Finding
from bot.tasks.follow import Runs
from bot.views.tasks import Json
from bot.web import handover
from bot.web.api import Api, BadBody, ConsoleServices
from bot.web.auth import Gate, add_headers, refuse
from bot.web.cli_endpoint import HandIn, Operating
from bot.web.connections import Connection, Connections
from bot.web.dashboard import Board
from bot.web.errors import ConsoleError, ConsolePortInUse
from bot.web.exposure import Exposure
from bot.web.history import Consumption, Past
from bot.web.page_files import INDEX, File, Words, answer, page_files, serve
from bot.web.pictures import Pictures
from bot.web.sessions import Kept, Sessions, Way
from bot.web.sign_in import Signing, caller_address
from bot.web.stream import Events
from bot.web.thumbnails import Glances
from bot.web.views import ConsoleChecks

logger = logging.getLogger(__name__)

TOKEN_BYTES = 32
BODY_LIMIT = 256 * 1024
"""Bytes of one request; the longest line has 20,000 characters."""
IDLE_WITHIN = 300.0
"""Seconds that a connection may be silent between requests; then it is closed. Proxies keep theirs for up to two
minutes and must be the first to let go.
"""
STOP_WITHIN = 3.0
"""Seconds that a request gets to end when the console stops."""


class Console:
    """Serves the console from `start` to `stop`.

    `port` may be 0 for any free one; `kept` is where sessions are. With `data_dir` it leaves the note there by
    which the command line finds it. `beside` is served too, on this machine only; what is not below `/api` asks for
    no token there.
    """

    def __init__(
        self,
        door: Exposure,
        port: int,
        behind: ConsoleServices,
        runs: Runs,
        kept: Kept,
        *,
        data_dir: Path | None = None,
        language: str = "auto",
        beside: Sequence[web.RouteDef] = (),
        idle: float = IDLE_WITHIN,
        connections: Connections | None = None,
    ) -> None:
        self._door = door
        self._port = port
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        password = {} if door.password is None else {Way.PASSWORD: door.password.mark}
        self._gate = Gate(door, self._token, Sessions(kept, time.time, {Way.TOKEN: b"", **password}))
        self._stopping = asyncio.Event()
        self._data_dir = data_dir
        self._beside = beside
        self._note: handover.Handover | None = None
        board = Board(behind.tasks, behind.questions, behind.phones)
        self._words = Words(language)
        self._parts = (
            self._words,
            Signing(self._gate, door.password),
            Api(behind, board),
            Past(behind.tasks, behind.search, behind.steps),
            Events(behind, board, self._stopping, self._gate),
            Pictures(behind.frames),
            Glances(behind.phones, behind.tasks, time.monotonic),
            Consumption(behind.usage, behind.zone),
            CheckUp(behind.checks),
            Operating(behind.intake, behind.schedules, behind.commands),
            HandIn(behind.intake, runs, behind.frames, self._stopping),
        )
        self._idle = idle
        self._connections = connections or Connections()
        self._runner: web.AppRunner | None = None
        self._listening: asyncio.Server | None = None

    async def start(self) -> str:
        """Listen, and return the address to open on this machine, which carries the start token: for the operator's
        eyes only. When only others can open it, it is their address.

        Raises ConsolePortInUse, or ConsoleError when the address cannot be had for another reason.
        """
        files = await asyncio.to_thread(page_files)
        await self._gate.sessions.load()
        middlewares = (self._words.spoken, self._connections.timely, self._gate.check, _forms)
        app = web.Application(middlewares=middlewares, client_max_size=BODY_LIMIT)
        app.on_response_prepare.append(add_headers)
        app.add_routes([web.get("/", self._enter(files[INDEX]))])
        app.add_routes([web.get(f"/page/{name}", serve(file)) for name, file in files.items()])
        for part in self._parts:
            app.add_routes(part.routes())
        app.add_routes(self._beside)
        runner = web.AppRunner(app, shutdown_timeout=STOP_WITHIN)
        await runner.setup()
        server = runner.server
        assert server is not None

        def connected() -> Connection:
            return Connection(server, self._connections, self._idle)

        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(connected, self._door.host, self._port)
        except OSError as error:
            await runner.cleanup()
            if error.errno == errno.EADDRINUSE:
                raise ConsolePortInUse(self._door.host, self._port) from error
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise ConsoleError(
                f"The console was not started on {self._door.host}, port {self._port}: {reason}. "
                "Check CONSOLE_HOST and CONSOLE_PORT."
            ) from error
        self._runner = runner
        port = self._listening.sockets[0].getsockname()[1]
        self._gate.opened(port)
        url = self._door.own_url(port)
        if self._data_dir is not None:
            self._note = handover.Handover(url=url, token=self._token, pid=os.getpid())
            try:
                await asyncio.to_thread(handover.write, self._data_dir, self._note)
            except OSError as error:
                await self.stop()
                raise ConsoleError(
                    f"The console was not started: {handover.FILE} could not be written to {self._data_dir} "
                    f"({error.strerror}). Check DATA_DIR and its rights."
                ) from error
        logger.info("The console listens on %s", url)
        return self._told(url, self._door.origin(port))

    def _told(self, url: str, elsewhere: str) -> str:
        """The address to open, once it is said what the operator has to know about others."""
        if elsewhere:
            logger.info("The console is opened from elsewhere as %s, with CONSOLE_PASSWORD", elsewhere)
            if not self._door.covered:
                logger.warning(
                    "People reach the console by plain http: whoever is on the way reads the password. "
                    "Put a proxy with https in front and set CONSOLE_URL to its address."
                )
        return elsewhere if elsewhere == url else f"{url}/?token={self._token}"

    async def stop(self) -> None:
        """End the streams, close the port and take the note away. Safe to call twice."""
        self._stopping.set()
        if self._data_dir is not None and self._note is not None:
            await asyncio.to_thread(handover.remove, self._data_dir, self._note)
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _enter(self, page: File) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The page itself. A token first becomes a session, so that it leaves the address bar."""

        async def enter(request: web.Request) -> web.Response:
            token = request.query.get("token")
            if token is None:
                return answer(request, page)
            response = web.Response(status=303, headers={"Location": "/", "Cache-Control": "no-store"})
            if self._gate.here(request) and self._gate.right(token) and await self._gate.caller(request) is None:
                await self._gate.admit(request, response, Way.TOKEN, caller_address(request))
            return response

        return enter


@web.middleware
async def _forms(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """A body in the wrong form is the sender's fault, and says so."""
    try:
        return await handler(request)
    except BadBody as error:
        return refuse(400, str(error))


class CheckUp:
    """The settings check. What is asked elsewhere is asked once at a time, and only when somebody wants it."""

    def __init__(self, checks: ConsoleChecks) -> None:
        self._checks = checks
        self._turn = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.get("/api/check", self.near), web.post("/api/check", self.far)]

    async def near(self, _: web.Request) -> web.Response:
        """What costs nothing, and the settings: never a secret's value."""
        settings = [asdict(one) for one in self._checks.settings()]
        return web.json_response({"findings": _told(await self._checks.near()), "settings": settings})

    async def far(self, _: web.Request) -> web.Response:
        """Model and chats, asked for real."""
        async with self._turn:
            return web.json_response({"findings": _told(await self._checks.far())})


def _told(findings: Sequence[Finding]) -> list[Json]:
    return [asdict(finding) for finding in findings]
