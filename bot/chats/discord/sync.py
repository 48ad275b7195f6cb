"""Registering the slash commands: per server, and only when they changed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import discord

logger = logging.getLogger(__name__)

FILE: Final = "discord_commands.json"
"""Remembers what each server was told last. Losing it costs one repetition, which Discord does not count."""


class CommandSync:
    """Tells Discord the command set of each listed server, once per change."""

    def __init__(self, directory: Path, guilds: Sequence[str], client_id: str) -> None:
        self._file = directory / FILE
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
        known = await asyncio.to_thread(self._read)
        for guild in self._guilds:
            key = f"{application}/{guild}"
            if known.get(key) == print_:
                continue
            if await _register(client, application, int(guild), group):
                known[key] = print_
                await asyncio.to_thread(self._write, known)

    def _read(self) -> dict[str, str]:
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(key): str(value) for key, value in stored.items()} if isinstance(stored, dict) else {}

    def _write(self, known: Mapping[str, str]) -> None:
        fresh = self._file.with_suffix(".new")
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(known, indent=1, sort_keys=True), encoding="utf-8")
            fresh.replace(self._file)
        except OSError as error:
            logger.warning("The registered slash commands could not be remembered, only repeated: %s", error)


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
