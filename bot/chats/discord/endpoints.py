"""The addresses of Discord, or of a server that replaces it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route


@contextmanager
def endpoints(api_base: str | None, gateway: str | None) -> Iterator[None]:
    """Talk to another HTTP API and gateway until the block ends.

    For rate-limit proxies that several bots of one owner share (nirn-proxy, twilight's http-proxy and gateway-proxy)
    and for servers of our own. discord.py keeps both addresses on classes, so they hold for the whole process: one
    Discord account per process may be redirected.
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
    """Take the gateway that the HTTP API names, as Discord's documentation wants it; called inside `endpoints`."""
    _, url, _ = await http.get_bot_gateway()
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)
