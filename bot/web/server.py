"""The console's web server: the page, its API, and the routes for the command line."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from email.utils import formatdate
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.domain.chat import Intake
from bot.domain.finding import Finding
from bot.people.rights import Rights
from bot.store.errors import StoreError, StoreUnsure
from bot.texts import say, speaking
from bot.views.tasks import Json
from bot.web import handover
from bot.web.api import Api
from bot.web.auth import ConsoleGate
from bot.web.connections import IDLE_WITHIN, Connections, HttpServer
from bot.web.exposure import ConsoleError, ConsolePortInUse, Exposure
from bot.web.http import (
    HEADERS,
    RequestRefused,
    answer_nobody,
    answer_not_served,
    answer_refusal,
    away_words,
    get,
    post,
    refuse_at,
)
from bot.web.log import TaskLogs
from bot.web.page_files import INDEX, File, PageTexts, answer, page_files
from bot.web.pictures import Pictures, Thumbnails
from bot.web.sessions import Sessions, SessionStore, Way
from bot.web.sign_in import SignIn, caller_address
from bot.web.stream import Dashboard, Events
from bot.web.viewers import Viewers
from bot.web.views import ConsoleChecks
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

TOKEN_BYTES = 32


class Console:
    """The console's server, which runs from `start` to `stop`.

    - `port` is the port to listen on; 0 means any free one.
    - `kept` stores the sessions of browsers.
    - `connectable` maps the settings that are made on the *Connect* pages to the names of their forms.
    - `data_dir` is where the handover file is written, by which the command line finds the service; None writes none.
    - `beside` returns further routes for programs on this machine only; those not below `/api` need no token. It gets
      the event that is set when the server stops.
    """

    def __init__(
        self,
        exposure: Exposure,
        port: int,
        viewers: Viewers,
        intake: Intake,
        checks: ConsoleChecks,
        store: SessionStore,
        *,
        rights: Rights,
        connectable: Mapping[str, str] = {},
        data_dir: Path | None = None,
        language: str = "auto",
        beside: Callable[[asyncio.Event], Sequence[BaseRoute]] = lambda _stopping: (),
        idle: float = IDLE_WITHIN,
        connections: Connections | None = None,
    ) -> None:
        self._exposure = exposure
        self._port = port
        self._token = secrets.token_urlsafe(TOKEN_BYTES)
        password = {} if exposure.password is None else {Way.PASSWORD: exposure.password.mark}
        marks = {Way.TOKEN: b"", Way.PERSON: b"", **password}
        sessions = Sessions(store, time.time, marks, self._holds_token)
        self._tokens = rights.tokens
        self._gate = ConsoleGate(exposure, self._token, sessions, rights)
        self._stopping = asyncio.Event()
        self._data_dir = data_dir
        self._local_routes = beside
        self._handover: handover.Handover | None = None
        services = viewers.services
        board = Dashboard(services)
        services.on_outage(board.change)
        self._words = PageTexts(language)
        self._parts = (
            self._words,
            SignIn(self._gate, exposure.password, rights.tokens),
            Api(viewers, intake, connectable),
            Events(board, self._stopping, self._gate, viewers),
            Pictures(services, viewers),
            TaskLogs(viewers),
            Thumbnails(services, time.monotonic, lambda request: viewers.of(request).phones(services.phones.list())),
            SettingsCheck(checks),
        )
        self._idle = idle
        self._connections = connections
        self._server: HttpServer | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self.routes: Sequence[BaseRoute] = ()
        """The routes, from `start` on."""

    async def start(self) -> str:
        """Begin to listen, and return the address at which to open the console on this machine. It contains the start
        token, so only the operator may see it. If only other machines can open the console, their address is returned.

        Raises ConsolePortInUse, or ConsoleError if the address cannot be used for another reason.
        """
        files = await asyncio.to_thread(page_files)
        await self._gate.sessions.load()
        # Open pages of a revoked token end at once.
        self._unsubscribe = self._tokens.on_change(self._gate.sessions.ended.notify)
        app = Starlette()
        for error, answer_to in (
            (RequestRefused, answer_refusal),
            (ClientDisconnect, answer_nobody),
            (HTTPException, answer_not_served),
            (StoreError, _not_stored),
            (Exception, _failed),
        ):
            app.add_exception_handler(error, answer_to)
        app.router.routes += [get("/", self._enter(files[INDEX]), None)]
        app.router.routes += [get(f"/page/{name}", partial(answer, file=file), None) for name, file in files.items()]
        for part in self._parts:
            app.router.routes += part.routes()
        app.router.routes += self._local_routes(self._stopping)
        app.router.routes += [get("/docs", partial(answer, file=files["api.html"]), None)]
        self.routes = app.router.routes
        self._server = HttpServer(Guarded(app, self._gate, self._words), self._connections, self._idle)
        try:
            port = await self._server.listen(self._exposure.host, self._port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise ConsolePortInUse(self._exposure.host, self._port) from error
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise ConsoleError(
                f"The console was not started on {self._exposure.host}, port {self._port}: {reason}. "
                "Check CONSOLE_HOST and CONSOLE_PORT."
            ) from error
        self._gate.open(
            port, lambda request: any(route.matches(request.scope)[0] is not Match.NONE for route in self.routes)
        )
        url = self._exposure.own_url(port)
        if self._data_dir is not None:
            self._handover = handover.Handover(url=url, token=self._token, pid=os.getpid())
            try:
                await asyncio.to_thread(handover.write, self._data_dir, self._handover)
            except OSError as error:
                await self.stop()
                raise ConsoleError(
                    f"The console was not started: {handover.FILE} could not be written to {self._data_dir} "
                    f"({error.strerror}). Check DATA_DIR and its rights."
                ) from error
        logger.info("The console listens on %s", url)
        return self._opening_url(url, self._exposure.origin(port))

    def _opening_url(self, url: str, elsewhere: str) -> str:
        """Return the address to open, after logging how others reach the console."""
        if elsewhere:
            logger.info("The console is opened from elsewhere as %s, with CONSOLE_PASSWORD", elsewhere)
            if not self._exposure.covered:
                logger.warning(
                    "People reach the console by plain http: anyone on the network path can read the password. "
                    "Put a proxy with https in front and set CONSOLE_URL to its address."
                )
        return elsewhere if elsewhere == url else f"{url}/?token={self._token}"

    async def stop(self) -> None:
        """End the streams, close the port and delete the handover file. Safe to call twice."""
        self._stopping.set()
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._data_dir is not None and self._handover is not None:
            await asyncio.to_thread(handover.remove, self._data_dir, self._handover)
        if self._server is not None:
            await self._server.close()

    def _holds_token(self, name: str, begun: float) -> bool:
        """Whether the token with this name already existed at that time."""
        token = self._tokens.named(name)
        return token is not None and token.made <= begun

    def _enter(self, page: File) -> Callable[[Request], Awaitable[Response]]:
        """Return the handler of the page. A token in the address is exchanged for a session, so that it leaves the
        address bar.
        """

        async def enter(request: Request) -> Response:
            token = request.query_params.get("token")
            if token is None:
                return await answer(request, page)
            response = Response(status_code=303, headers={"Location": "/", "Cache-Control": "no-store"})
            if self._gate.is_local(request) and await self._gate.caller(request) is None:
                if self._gate.is_start_token(token):
                    await self._gate.admit(request, response, Way.TOKEN, caller_address(request))
                else:
                    response.headers["Location"] = "/#old-address"  # for the page, which says what that means
            return response

        return enter


class Guarded:
    """The ASGI application behind its gate (`ConsoleGate`). It answers in the visitor's language, and adds protective
    headers to every answer.
    """

    def __init__(self, app: ASGIApp, gate: ConsoleGate, texts: PageTexts) -> None:
        self._app = app
        self._gate = gate
        self._words = texts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message["headers"]))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["Date"] = formatdate(usegmt=True)
                message = {**message, "headers": headers.raw}
            await send(message)

        request = Request(scope, receive)
        with speaking(self._words.language(request)):
            app = await self._gate.refusal(request) or self._app
            await app(scope, receive, protected)


async def _not_stored(request: Request, error: Exception) -> Response:
    """The response when nothing can be stored because the disk is full or the database is locked."""
    logger.warning("A request to the console was not carried out: %s", error)
    if isinstance(error, StoreUnsure):
        return refuse_at(request, 503, away_words(error))
    return refuse_at(request, 503, say("refusal.store", why=said(sentence_of(error)).rstrip(".。")))


async def _failed(request: Request, _: Exception) -> Response:
    """The response to an error of the program; the traceback is in the log."""
    return refuse_at(request, 500, say("refusal.fault"))


class SettingsCheck:
    """Handles requests to check the settings. Checks that contact other servers run one at a time, and only
    on demand.
    """

    def __init__(self, checks: ConsoleChecks) -> None:
        self._checks = checks
        self._lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [get("/api/check", self.near), post("/api/check", self.far)]

    async def near(self, _: Request) -> Response:
        """Run the checks that contact no other server, and return their findings and the settings without secrets."""
        settings = [asdict(one) for one in self._checks.settings()]
        return JSONResponse({"findings": _findings_json(await self._checks.near()), "settings": settings})

    async def far(self, _: Request) -> Response:
        """Run the checks of the model and the chats, which contact other servers, and return their findings."""
        async with self._lock:
            return JSONResponse({"findings": _findings_json(await self._checks.far())})


def _findings_json(findings: Sequence[Finding]) -> list[Json]:
    return [asdict(finding) for finding in findings]
