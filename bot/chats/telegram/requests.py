"""The HTTP requests of python-telegram-bot, with two answers read before the library reads them."""

from __future__ import annotations

import json
import ssl
from functools import cache
from http import HTTPStatus
from typing import Any, Final

import httpx
from telegram.error import NetworkError, TelegramError
from telegram.request import HTTPXRequest

from bot.domain.chat import Record
from bot.texts import words

FLOOD_SECONDS: Final = 30.0
"""How long to be silent after a 429 that does not say how long; ours."""


class Flooded(TelegramError):
    """Telegram asks for silence. The library's RetryAfter warns of deprecation each time it is made."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too Many Requests: retry after {seconds:.0f}")
        self.seconds = seconds


class NotSent(TelegramError):
    """The record may belong to another service by now, so that nothing was sent."""

    def __init__(self) -> None:
        super().__init__(words("chats.not_ours"))


class Request(HTTPXRequest):
    """One pool of connections to the Bot API."""

    async def do_request(
        self,
        *arguments: Any,  # noqa: ANN401 - the library types its timeouts with names of its own
        **options: Any,  # noqa: ANN401
    ) -> tuple[int, bytes]:
        """Status and body. Raises Flooded on 429, and NetworkError on 5xx without looking at the page that comes with
        it (the library would log that page whole, and it may show the address with the token). Raises NotSent while
        the record is not certainly ours.
        """
        code, payload = await super().do_request(*arguments, **options)
        if code == HTTPStatus.TOO_MANY_REQUESTS:
            raise Flooded(_seconds(payload))
        if code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise NetworkError(f"Telegram answered with status {code}")
        return code, payload


def _seconds(payload: bytes) -> float:
    try:
        return max(1.0, float(json.loads(payload)["parameters"]["retry_after"]))
    except (ValueError, KeyError, TypeError):
        return FLOOD_SECONDS


def sending_pool(record: Record) -> Request:
    """For everything but polls: a few requests at a time, with time for uploads."""
    return Request(
        connection_pool_size=16,
        connect_timeout=10.0,
        read_timeout=20.0,
        write_timeout=20.0,
        media_write_timeout=90.0,
        pool_timeout=20.0,
        httpx_kwargs=_options(record),
    )


def polling_pool(record: Record) -> Request:
    """For polls alone, so that neither can keep the other waiting."""
    return Request(
        connection_pool_size=1,
        connect_timeout=10.0,
        write_timeout=10.0,
        pool_timeout=5.0,
        httpx_kwargs=_options(record),
    )


def _options(record: Record) -> dict[str, Any]:
    """As `bot.chats.last_look` for this library: looked at once there is a connection, before anything is written."""

    async def look(event: str, _: object) -> None:
        if event.endswith("send_request_headers.started") and not record.is_ours:
            raise NotSent

    async def watch(request: httpx.Request) -> None:
        request.extensions["trace"] = look

    return {"verify": _authorities(), "event_hooks": {"request": [watch]}}


@cache
def _authorities() -> ssl.SSLContext:
    """Whom a certificate may come from. One for both pools, also after a new login: to read them takes 20 ms."""
    return httpx.create_ssl_context()
