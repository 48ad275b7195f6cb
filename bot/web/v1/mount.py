"""The entry point of /api/v1. Every request gets an id and a body of limited size. Requests with the same
Idempotency-Key have only one effect.

FastAPI is loaded with the first request, so that it costs nothing if the API is not used.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.application.services import Services
from bot.store.errors import StoreAway, StoreError
from bot.tasks.files import MAX_FILE_BYTES
from bot.texts import say
from bot.web.auth import caller_of
from bot.web.http import BODY_LIMIT, RequestRefused, away_words, get, read_body, refuse

if TYPE_CHECKING:
    from fastapi import APIRouter

KEY_LIMIT: Final = 200
"""Characters of an Idempotency-Key."""
FILES: Final = "/files"
REPEATED_SAFELY: Final = ("/tasks", "/conversations", "/schedules", "/triggers", "/webhooks", "/hooks", FILES)
"""Paths where repeating a request after a crash changes nothing or is refused. Touches of a phone are not included."""
TELLS_SECRET: Final = frozenset({"/webhooks", "/hooks", "/hosts"})
"""Paths whose answer contains a secret: it is not stored, but produced again where that creates nothing twice."""

logger = logging.getLogger(__name__)


class ApiMount:
    """The ASGI application below /api/v1. Setting `stopping` ends its streams. `routers` returns the routes of optional
    parts of the program; it is called at the first request.
    """

    def __init__(
        self, services: Services, stopping: asyncio.Event, routers: Callable[[], Sequence[APIRouter]] = tuple
    ) -> None:
        self._services = services
        self._stopping = stopping
        self._routers = routers
        self._app: ASGIApp | None = None
        self._loading = asyncio.Lock()
        self._under_way: set[tuple[str, str]] = set()

    def routes(self) -> list[BaseRoute]:
        """Return the HTTP routes that this class handles, for the server to add."""
        below = Mount("/api/v1", app=self)
        # An address may contain a line break, at which Starlette's own pattern would end.
        below.path_regex = re.compile(below.path_regex.pattern, re.DOTALL)
        return [below, get("/docs/openapi.json", self.document, None)]

    async def load(self) -> ASGIApp:
        """Load the FastAPI application if it is not loaded yet, and return it."""
        async with self._loading:
            if self._app is None:
                self._app = await asyncio.to_thread(self._create)
            return self._app

    async def document(self, _: Request) -> Response:
        """Return the OpenAPI document. It contains no data of this service, so it needs no token."""
        app: Any = await self.load()
        return JSONResponse(app.openapi(), headers={"Cache-Control": "no-cache"})

    def _create(self) -> ASGIApp:
        from bot.web.v1.app import api_app  # noqa: PLC0415 - fastapi takes 0.2 s and 7 MB

        return api_app(self._services, self._stopping, self._routers())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request, number, began = Request(scope, receive), secrets.token_hex(8), time.monotonic()
        request.state.request_id = number
        status = 0

        async def numbered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=list(message["headers"]))
                headers["X-Request-Id"] = number
                headers.setdefault("Cache-Control", "no-store")
                message = {**message, "headers": headers.raw}
            await send(message)

        try:
            answer = await self._answered(request, numbered)
            if answer is not None:
                await answer(scope, receive, numbered)
        except ClientDisconnect:
            pass
        finally:
            took = (time.monotonic() - began) * 1000
            path, name = scope["path"][:200], caller_of(request).person.id
            logger.log(
                logging.DEBUG if status < 500 else logging.WARNING,
                "API %s: %s %s by %s: %d in %.0f ms",
                number,
                request.method,
                path,
                name,
                status,
                took,
            )

    async def _answered(self, request: Request, send: Send) -> Response | None:
        app = await self.load()
        body = b""
        if request.method in {"POST", "PATCH", "PUT", "DELETE"}:
            try:
                if request.scope["path"].endswith(FILES):
                    too_large = say("refusal.file_large", most=MAX_FILE_BYTES)
                    body = await read_body(request, MAX_FILE_BYTES, too_large)
                else:
                    body = await read_body(request, BODY_LIMIT)
            except RequestRefused as refused:
                answer = refuse(refused.status, refused.sentence)
                answer.headers["Connection"] = "close"
                return answer
        receive = _replayed(body, request.receive)
        key = request.headers.get("Idempotency-Key", "")
        if request.method != "POST" or not key:
            request.state.event = ""
            await app(request.scope, receive, send)
            return None
        if len(key) > KEY_LIMIT or not key.isprintable():
            return refuse(422, say("api.bad_key", most=KEY_LIMIT), "bad_key")
        try:
            return await self._once(request, body, key, app, receive, send)
        except StoreAway as error:
            logger.warning("A request to the API was not accepted: %s", error)
            return refuse(503, away_words(error))

    async def _once(
        self, request: Request, body: bytes, key: str, app: ASGIApp, receive: Receive, send: Send
    ) -> Response | None:
        """Serve a request at most once per key, and repeat the answer for a repeated key."""
        # The operator without a token cannot collide with a token's name, which contains no colon.
        person, requests = caller_of(request).name or "web:operator", self._services.store.api_requests
        path = request.scope["path"]
        digest = hashlib.sha256(b"\0".join((path.encode(), request.url.query.encode(), body))).hexdigest()
        known = await requests.begin(person, key, digest)
        if known is not None and known.digest != digest:
            return refuse(422, say("api.key_used"), "key_used")
        if known is not None and known.status:
            return Response(known.body, known.status, {"Idempotent-Replay": "true"}, "application/json")
        if (person, key) in self._under_way:
            return refuse(409, say("api.under_way"), "under_way")
        below = path.partition("/api/v1")[2] or path
        if known is not None and not below.startswith(REPEATED_SAFELY):
            return refuse(409, say("api.uncertain"), "uncertain")
        # What the request creates has this name, so that repeating it after a crash creates nothing twice.
        request.state.event = f"api:{person}:{key}"
        self._under_way.add((person, key))
        status, answer = 0, bytearray()

        async def kept(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            answer.extend(message.get("body", b""))
            await send(message)

        try:
            await app(request.scope, receive, kept)
        finally:
            self._under_way.discard((person, key))
            try:
                if 200 <= status < 300:
                    if below not in TELLS_SECRET:
                        await requests.finish(person, key, status, answer.decode())
                elif status:
                    # Nothing was done, so the request may be repeated once the reason has passed.
                    await requests.forget(person, key)
            except StoreError as error:
                logger.warning("The answer for an Idempotency-Key could not be stored: %s", error)
        return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first yields the body already read, then further messages such as a disconnect."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
