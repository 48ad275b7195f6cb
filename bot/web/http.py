"""HTTP helpers for all parts of the console's server: request bodies of limited size, JSON answers, and streams."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from bot.domain.right import Right
from bot.store.errors import StoreAway, StoreUnsure
from bot.texts import say
from bot.web.wakeup import ends_before

BODY_LIMIT: Final = 256 * 1024
"""Bytes of one request; the longest text has 20,000 characters."""
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of every answer, refusals included."""

STREAM_HEADERS: Final = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Headers of server-sent events. The last one makes nginx pass on each event at once."""

Handler = Callable[[Request], Awaitable[Response]]
Write = Callable[[bytes], Awaitable[None]]


class RequestRefused(Exception):
    """Raised by a handler to refuse a request. `status` is the HTTP status; the text says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def get(path: str, handler: Handler, right: Right | None = Right.ADMIN) -> Route:
    """Return a route for GET and HEAD that requires this right. None means that the handler checks rights itself or
    that everybody may use it.
    """
    return Route(path, _with_right(handler, right), methods=["GET"])


def post(path: str, handler: Handler, right: Right | None = Right.ADMIN) -> Route:
    """Return a route for POST, with its right as for `get`."""
    return Route(path, _with_right(handler, right), methods=["POST"])


def _with_right(handler: Handler, right: Right | None) -> Handler:
    if right is None:
        return handler

    async def allowed(request: Request) -> Response:
        verdict = request.state.verdict(right)
        return await handler(request) if verdict.allowed else refuse(403, verdict.reason)

    return allowed


NOT_FOUND: Final = "not_found"
"""The code for anything that does not exist for the caller."""
CODES: Final = {
    400: "bad_request",
    401: "not_signed_in",
    403: "not_allowed",
    404: NOT_FOUND,
    405: "method_not_allowed",
    408: "too_slow",
    409: "refused",
    412: "exists",
    413: "too_large",
    415: "unsupported_type",
    429: "too_many",
    500: "fault",
    501: "not_installed",
    503: "store_away",
}
"""Default code of a refusal for each status."""
OPENAI: Final = re.compile(r"/v1(/|$)")
"""Paths whose clients expect OpenAI's form."""


def refuse(status: int, sentence: str, code: str = "", details: Any = None) -> JSONResponse:  # noqa: ANN401 - JSON
    """Return a refusal as JSON, in the form that all routes share; see `bot.web.v1.models.Problem`."""
    return JSONResponse({"code": code or CODES[status], "message": sentence, "details": details}, status)


def away_words(error: StoreAway) -> str:
    """Return the text for a client when the database cannot be reached. It says whether the request had no effect, or
    may have had one.
    """
    return say("api.store_unsure" if isinstance(error, StoreUnsure) else "api.store_away")


def refuse_as_openai(status: int, sentence: str, code: str, kind: str = "invalid_request_error") -> JSONResponse:
    """Return a refusal in OpenAI's form."""
    kind = "server_error" if status >= 500 else kind
    return JSONResponse({"error": {"message": sentence, "type": kind, "param": None, "code": code}}, status)


def refuse_at(request: Request, status: int, sentence: str, code: str = "") -> JSONResponse:
    """Return a refusal as JSON, in the form that clients of the request's path expect: OpenAI's or that of all other
    routes.
    """
    if OPENAI.match(request.scope["path"]):
        return refuse_as_openai(status, sentence, code or CODES[status])
    return refuse(status, sentence, code)


async def answer_refusal(request: Request, error: Exception) -> Response:
    """Return the answer for a handler that raised RequestRefused."""
    assert isinstance(error, RequestRefused)
    response = refuse_at(request, error.status, error.sentence)
    if error.status in {408, 413}:
        # The rest of the body is not read.
        response.headers["Connection"] = "close"
    return response


async def answer_not_served(request: Request, error: Exception) -> Response:
    """Return the answer for an unknown address or method."""
    assert isinstance(error, HTTPException)
    words = {404: say("api.no_path"), 405: say("api.no_method")}.get(error.status_code, error.detail)
    response = refuse_at(request, error.status_code, words, CODES.get(error.status_code, CODES[400]))
    response.headers.update(error.headers or {})
    return response


async def answer_nobody(_: Request, __: Exception) -> Response:
    """Return an empty answer for a client that has disconnected."""
    return Response(status_code=400)


async def read_body(request: Request, most: int = BODY_LIMIT, too_large: str = "") -> bytes:
    """Read the whole body of a request. Raises RequestRefused if it is larger than `most` bytes (with the text
    `too_large`, if given) or arrives too slowly.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(request.state.arrives_within):
            async for piece in request.stream():
                data += piece
                if len(data) > most:
                    raise RequestRefused(413, too_large or say("refusal.body_large", most=most))
    except TimeoutError as error:
        raise RequestRefused(408, say("refusal.slow")) from error
    return bytes(data)


def server_sent(name: str, data: str, *, number: int | str | None = None) -> bytes:
    """Encode one server-sent event named `name` with a line of JSON. `number` becomes its id, from which a client that
    lost the connection can continue.
    """
    place = "" if number is None else f"id: {number}\n"
    return f"{place}event: {name}\ndata: {data}\n\n".encode()


class Streamed(Response):
    """A response that `work` writes in pieces, until it returns or the client disconnects.

    A slow client delays only its own stream, because `write` waits while the connection accepts no more data.
    """

    def __init__(self, work: Callable[[Write], Awaitable[object]], headers: Mapping[str, str]) -> None:
        super().__init__(headers=dict(headers))
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send the answer. Raises what `work` raises; if the reader leaves, `work` is cancelled."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})

        async def write(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        if await ends_before(disconnected(receive), self._work(write)):
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def disconnected(receive: Receive) -> None:
    """Wait until the client, whose request has been read, disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
