"""Discord's servers, or those that replace them: the addresses of the API and the gateway, and the hosts from which
attachments and voice messages are downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route

from bot.chats import fetching
from bot.chats.discord import limits
from bot.chats.fetching import Attached, IsAllowed
from bot.domain.incoming import Voice


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


HOSTS: Final = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
"""The hosts where Discord keeps attachments (developer docs, CDN Formatting). Nothing is downloaded from others."""


class Fetcher(fetching.Fetcher):
    """Downloads attachments from Discord.

    `api_base` is the address of a proxy in front of Discord, if there is one. File addresses on it are trusted like
    Discord's own, because the proxy sees the bot's token anyway.
    """

    def __init__(self, welcome: IsAllowed, api_base: str | None = None) -> None:
        front = yarl.URL(api_base).origin() if api_base is not None else None

        def is_discords(url: yarl.URL) -> bool:
            own = url.scheme == "https" and url.host in HOSTS and url.port == 443
            return own or (front is not None and url.origin() == front)

        super().__init__("Discord", welcome, is_discords, limits.INCOMING_BYTES)

    def voice_of(self, message: discord.Message) -> Voice | None:
        """Return the voice recording of a message, None if it has none. The recording is downloaded only when it is
        transcribed.
        """
        spoken = message.attachments[0] if message.flags.voice and message.attachments else None
        if spoken is None:
            return None
        file = Attached(spoken.filename, spoken.size, spoken.url)
        return Voice("voice.ogg", spoken.duration or 0.0, spoken.size, partial(self.recording, file))
