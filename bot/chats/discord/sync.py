"""Registering the slash commands: per server, and only when they changed."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import discord

from bot.chats.discord.remembering import Remembered

logger = logging.getLogger(__name__)

FILE: Final = "discord_commands.json"
"""Remembers what each server was told last. Losing it costs one repetition, which Discord does not count."""


class CommandSync:
    """Tells Discord the command set of each listed server, once per change."""

    def __init__(self, directory: Path, guilds: Sequence[str], client_id: str) -> None:
        self._told = Remembered(directory / FILE)
        self._guilds = guilds
        self._client_id = client_id

    async def run(self, client: discord.Client, group: Mapping[str, Any]) -> None:
        """Register `group` where it is not registered yet. A server that refuses is told in the log and skipped."""
        application = client.application_id
        if self._client_id and str(application) != self._client_id:
            logger.error(
                "Slash commands were not registered: DISCORD_CLIENT_ID is %s, but the token belongs to application %s.",
                self._client_id,
                application,
            )
            return
        if application is None or not self._guilds:
            logger.warning(
                "Slash commands were not registered: DISCORD_ALLOWED_GUILD_IDS names no server to register them in."
            )
            return
        print_ = hashlib.sha256(json.dumps(group, sort_keys=True).encode()).hexdigest()
        for guild in self._guilds:
            key = f"{application}/{guild}"
            if await self._told.get(key) != print_ and await _register(client, application, int(guild), group):
                await self._told.put(key, print_)


async def _register(client: discord.Client, application: int, guild: int, group: Mapping[str, Any]) -> bool:
    try:
        await client.http.bulk_upsert_guild_commands(application, guild, [dict(group)])
    except discord.Forbidden:
        logger.error(  # noqa: TRY400 - the cause is known; a traceback would hide the sentence
            "Slash commands were not registered in server %d: the bot is not there, or was invited without the scope "
            "applications.commands. Invite it again with that scope.",
            guild,
        )
    except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError) as error:
        logger.warning(
            "Slash commands were not registered in server %d: %s. It is tried again at the next start.", guild, error
        )
    else:
        logger.info("Slash commands were registered in server %d.", guild)
        return True
    return False
