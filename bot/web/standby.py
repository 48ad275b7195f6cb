"""Answers at the console's address while another service owns the record (the stored data) and this one is on
standby.
"""

from __future__ import annotations

import asyncio
import html
import logging
import os
import secrets
import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from bot.config.settings import Settings
from bot.texts import say, speaking
from bot.web import handover
from bot.web.connections import HttpServer
from bot.web.exposure import ConsoleError, Exposure, is_loopback
from bot.web.http import HEADERS, refuse_at
from bot.web.page_files import PageTexts

logger = logging.getLogger(__name__)

AGAIN_S = 5
"""Seconds after which the page reloads."""
ALIVE_S = 1.0
"""Seconds between two signs of life."""


class Standby:
    """Answers requests from the first `set_active` until `aclose`, and calls `alive` every second meanwhile. It has no
    data about tasks or people, so nobody has to sign in.
    """

    def __init__(self, settings: Settings, alive: Callable[[], None], prepare: Callable[[], None]) -> None:
        """`prepare` is called once, in a thread, to get slow things ready."""
        self._settings = settings
        self._prepare = prepare
        self._texts = PageTexts(settings.language)
        self._alive = alive
        self._active = ""
        self._since = 0.0
        self._work: asyncio.Task[None] | None = None
        self._server: HttpServer | None = None
        self._handover: handover.Handover | None = None

    def set_active(self, service: str) -> None:
        """Record the name of the service that owns the record now; begin to answer at the first call."""
        if self._work is None or service != self._active:
            logger.info("Standing by: the active service is %s. This one takes over when that is gone.", service)
        self._active = service
        if self._work is None:
            self._since = time.time()
            self._work = asyncio.create_task(self._run(), name="standby")

    async def aclose(self) -> None:
        """Stop answering, so that the console can use the address. Safe to call twice, and without an earlier
        `set_active`.
        """
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work})
        if self._handover is not None:
            await asyncio.to_thread(handover.remove, self._settings.data_dir, self._handover)
        if self._server is not None:
            await self._server.close()

    async def _run(self) -> None:
        await self._open()
        await asyncio.to_thread(self._prepare)
        while True:
            self._alive()
            await asyncio.sleep(ALIVE_S)

    async def _open(self) -> None:
        app = Starlette(routes=[Route("/healthz", self._health), Route("/{path:path}", self._page, methods=_METHODS)])
        self._server = HttpServer(app)
        here = self._settings
        password = here.console_password.get_secret_value()
        try:
            door = await asyncio.to_thread(Exposure.of, here.console_host, here.console_url, password)
            url = door.own_url(await self._server.listen(door.host, here.console_port))
            self._handover = handover.Handover(url=url, token=secrets.token_urlsafe(), pid=os.getpid())
            await asyncio.to_thread(handover.write, here.data_dir, self._handover)
        except (OSError, ConsoleError) as error:
            logger.warning("The console's address cannot show that this service is on standby: %s", error)
        else:
            logger.info("%s tells that this service stands by", url)

    async def _health(self, request: Request) -> Response:
        body = {
            "healthy": True,
            "wrong": [],
            "waits": [],
            "standing_by": {"active": self._named(request), "since": round(self._since)},
        }
        return JSONResponse(body, headers={"Cache-Control": "no-store"})

    async def _page(self, request: Request) -> Response:
        path = request.url.path
        if path == "/api/sessions":
            return JSONResponse({})  # so that the command line knows that a service is here
        with speaking(self._texts.language(request)):
            sentence = say("standby.page", name=self._named(request) or say("standby.another"))
        again = {"Retry-After": str(AGAIN_S), "Cache-Control": "no-store", **HEADERS}
        if path.startswith(("/api/", "/v1/")):
            response: Response = refuse_at(request, 503, sentence, "standing_by")
            response.headers.update(again)
            return response
        head = f'<meta charset="utf-8"><meta http-equiv="refresh" content="{AGAIN_S}"><title>opengui</title>'
        return HTMLResponse(f"<!doctype html>{head}<p>{html.escape(sentence)}</p>", 503, again)

    def _named(self, request: Request) -> str:
        """Return the active service's name, for callers on this machine only."""
        return self._active if request.client is not None and is_loopback(request.client.host) else ""


_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
