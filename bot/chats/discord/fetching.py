"""Files that people attach, fetched within limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, Protocol

import aiohttp
import discord

from bot.chats.base import Attachment
from bot.chats.discord import limits

logger = logging.getLogger(__name__)

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; ours."""

FETCHES: Final = 2
"""Messages whose files are fetched at the same time, so that files cannot fill the memory; ours."""


class Attached(Protocol):
    """A file that was attached to a message or to a slash command."""

    filename: str
    size: int

    async def read(self) -> bytes:
        """Its bytes. Raises discord.HTTPException or aiohttp's errors."""
        ...


class Fetcher:
    """Downloads attachments, a few at a time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(FETCHES)

    async def fetch(self, attached: Sequence[Attached]) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
        """The files, and a sentence for each one that was left behind."""
        if not attached:
            return (), ()
        files: list[Attachment] = []
        lost: list[str] = []
        room = limits.INCOMING_BYTES
        async with self._free:
            for item in attached:
                if item.size > room:
                    megabytes = limits.INCOMING_BYTES // (1024 * 1024)
                    lost.append(f"{item.filename} was left out: the files of a message may have {megabytes} MB in all.")
                    continue
                try:
                    async with asyncio.timeout(FETCH_SECONDS):
                        data = await item.read()
                except (discord.HTTPException, aiohttp.ClientError, OSError, TimeoutError) as error:
                    logger.warning("An attached file could not be fetched from Discord: %s", error)
                    lost.append(f"{item.filename} was left out: it could not be fetched from Discord. Send it again.")
                    continue
                room -= len(data)
                files.append(Attachment(item.filename, data))
        return tuple(files), tuple(lost)
