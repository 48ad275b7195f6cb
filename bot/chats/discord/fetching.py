"""Downloads attachments and voice messages from Discord."""

from __future__ import annotations

from functools import partial
from typing import Final

import discord
import yarl

from bot.chats import fetching
from bot.chats.discord import limits
from bot.chats.fetching import Welcome
from bot.domain.incoming import Voice

HOSTS: Final = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
"""The hosts where Discord keeps attachments (developer docs, CDN Formatting). Nothing is downloaded from others."""


class Fetcher(fetching.Fetcher):
    """Downloads attachments from Discord.

    `api_base` is the address of a proxy in front of Discord, if there is one. File addresses on it are trusted like
    Discord's own, because the proxy sees the bot's token anyway.
    """

    def __init__(self, welcome: Welcome, api_base: str | None = None) -> None:
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
        return Voice("voice.ogg", spoken.duration or 0.0, spoken.size, partial(self.recording, spoken))
