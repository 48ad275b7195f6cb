"""The addresses of Discord, or of a server that replaces it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route


@contextmanager
def endpoints(api_base: str | None, gateway: str | None) -> Iterator[None]:
    """Make discord.py use another HTTP API and gateway until the block ends; None keeps Discord's own.

    This is for rate-limit proxies that several bots of one owner share (nirn-proxy, twilight's http-proxy and
    gateway-proxy) and for our own test servers. discord.py stores both addresses on classes, so they apply to the whole
    process: only one Discord account per process may be redirected.
    """
    before = (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
    if api_base is not None:
        Route.BASE = api_base.rstrip("/")
    if gateway is not None:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = before


async def ask_for_gateway(http: HTTPClient) -> None:
    """Make discord.py use the gateway address that the HTTP API returns, as Discord's documentation requires; called
    inside `endpoints`.
    """
    _, url, _ = await http.get_bot_gateway()
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)
