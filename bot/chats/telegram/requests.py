"""The HTTP client for python-telegram-bot. It handles two kinds of answers before the library sees them."""

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
"""Seconds to send nothing after a 429 that does not say how long; our choice."""


class Flooded(TelegramError):
    """Telegram's flood limit refused a request. Used instead of the library's RetryAfter, which logs a deprecation
    warning each time.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too Many Requests: retry after {seconds:.0f}")
        self.seconds = seconds


class NotSent(TelegramError):
    """Nothing was sent, because another service may have taken over the record (the stored data)."""

    def __init__(self) -> None:
        super().__init__(words("chats.not_ours"))


class Request(HTTPXRequest):
    """One connection pool to the Bot API."""

    async def do_request(
        self,
        *arguments: Any,  # noqa: ANN401 - the library types its timeouts with names of its own
        **options: Any,  # noqa: ANN401
    ) -> tuple[int, bytes]:
        """Send a request and return the HTTP status and the body.

        Raises Flooded on 429, and NetworkError on 5xx without using the body: the library would log it whole, and it
        may contain the address with the token. Raises NotSent while this service may have lost its record.
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
    """Create the connection pool for all requests except polls: a few at a time, with enough time for uploads."""
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
    """Create the connection pool for polls only, so that polls and other requests do not delay each other."""
    return Request(
        connection_pool_size=1,
        connect_timeout=10.0,
        write_timeout=10.0,
        pool_timeout=5.0,
        httpx_kwargs=_options(record),
    )


def _options(record: Record) -> dict[str, Any]:
    """Add a check like that of `bot.chats.sending`, for this library: it is made once there is a connection, before
    anything is written.
    """

    async def look(event: str, _: object) -> None:
        if event.endswith("send_request_headers.started") and not record.is_ours:
            raise NotSent

    async def watch(request: httpx.Request) -> None:
        request.extensions["trace"] = look

    return {"verify": _authorities(), "event_hooks": {"request": [watch]}}


@cache
def _authorities() -> ssl.SSLContext:
    """Return the certificate authorities that are accepted. Both pools share one context, even after a new login,
    because reading them takes 20 ms.
    """
    return httpx.create_ssl_context()
