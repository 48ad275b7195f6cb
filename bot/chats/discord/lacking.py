"""Telling what the bot lacks in a channel: the operator in the log and the people there, each once per channel."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

import discord

from bot.chats.discord.permissions import Permissions
from bot.chats.discord.remembering import Remembered
from bot.chats.outgoing import Message
from bot.texts import ENGLISH, say, speaking

logger = logging.getLogger(__name__)

FILE: Final = "discord_told.json"
"""Remembers what each channel was told last."""

CONTENT: Final = "message_content"
"""The intent, told like a permission."""

_TOLD_WHEN_NEEDED: Final = frozenset({"manage_messages"})
"""Not worth a message of its own: who types a secret is told that it stays."""


def sentence(name: str) -> str:
    """A permission by the name that Discord's settings show, and what does not work without it."""
    return say(f"discord.lacks.{name}")


class Lacking:
    """Says it once for each channel, and again only when more is missing; also across restarts."""

    def __init__(self, permissions: Permissions, directory: Path | None) -> None:
        self._permissions = permissions
        self._told = Remembered(None if directory is None else directory / FILE)
        self._telling = asyncio.Lock()
        self._logged: dict[int, tuple[str, ...]] = {}
        self.prefix_unread = ""
        """The prefix, when Discord refuses the Message Content intent."""

    async def news(self, channel: object) -> Message | None:
        """What should be told now in `channel` or a thread of it; it counts as told."""
        if not isinstance(channel, discord.abc.GuildChannel):
            return None
        missing = self._permissions.missing(channel)
        self._log(channel, missing)
        names = [name for name in missing if name not in _TOLD_WHEN_NEEDED]
        if self.prefix_unread:
            names.append(CONTENT)
        async with self._telling:
            told = (await self._told.get(str(channel.id))).split()
            if set(names) <= set(told):
                return None
            await self._told.put(str(channel.id), " ".join(names))
        lines = [f"• {self._sentence(name)}" for name in names]
        return Message(
            heading=say("discord.lacking", channel=f"#{channel.name}"),
            body="\n".join(lines),
            footer=say("discord.grant"),
        )

    def _sentence(self, name: str) -> str:
        return say("discord.content", prefix=self.prefix_unread) if name == CONTENT else sentence(name)

    def _log(self, channel: discord.abc.GuildChannel, missing: tuple[str, ...]) -> None:
        if self._logged.get(channel.id, ()) == missing:
            return
        self._logged[channel.id] = missing
        if missing:
            with speaking(ENGLISH):
                lacks = " ".join(sentence(name) for name in missing)
            logger.warning(
                "In channel #%s (%d) of %s the bot lacks: %s Grant them in the channel's settings.",
                channel.name,
                channel.id,
                channel.guild.name,
                lacks,
            )
