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

FLOOD_SECONDS: Final = 30.0
"""How long to be silent after a 429 that does not say how long; ours."""


class Flooded(TelegramError):
    """Telegram asks for silence. The library's RetryAfter warns of deprecation each time it is made."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Too Many Requests: retry after {seconds:.0f}")
        self.seconds = seconds


class Request(HTTPXRequest):
    """One pool of connections to the Bot API."""

    async def do_request(
        self,
        *arguments: Any,  # noqa: ANN401 - the library types its timeouts with names of its own
        **options: Any,  # noqa: ANN401
    ) -> tuple[int, bytes]:
        """Status and body. Raises Flooded on 429, and NetworkError on 5xx without looking at the page that comes with
        it (the library would log that page whole, and it may show the address with the token).
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


def sending_pool() -> Request:
    """For everything but polls: a few requests at a time, with time for uploads."""
    return Request(
        connection_pool_size=16,
        connect_timeout=10.0,
        read_timeout=20.0,
        write_timeout=20.0,
        media_write_timeout=90.0,
        pool_timeout=20.0,
        httpx_kwargs={"verify": _authorities()},
    )


def polling_pool() -> Request:
    """For polls alone, so that neither can keep the other waiting."""
    return Request(
        connection_pool_size=1,
        connect_timeout=10.0,
        write_timeout=10.0,
        pool_timeout=5.0,
        httpx_kwargs={"verify": _authorities()},
    )


@cache
def _authorities() -> ssl.SSLContext:
    """Whom a certificate may come from. One for both pools, also after a new login: to read them takes 20 ms."""
    return httpx.create_ssl_context()
