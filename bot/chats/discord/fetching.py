"""Files that people attach, fetched from Discord's own servers within limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import aiohttp
import discord
import yarl

from bot.chats.discord import limits
from bot.domain.address import Person, Place
from bot.domain.chat import ChatError
from bot.domain.incoming import Attachment, Voice
from bot.texts import say

logger = logging.getLogger(__name__)

HOSTS: Final = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
"""Where Discord keeps attachments (developer docs, CDN Formatting); nothing is fetched from anywhere else."""

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; ours."""

_PATIENCE: Final = aiohttp.ClientTimeout(FETCH_SECONDS)

FETCHES: Final = 2
"""Messages whose files are fetched at the same time, so that files cannot fill the memory; ours."""

_CHUNK_BYTES: Final = 64 * 1024
_MEGABYTE: Final = 1024 * 1024


Welcome = Callable[[Person, Place], bool]
"""Whether somebody may use the bot at that place."""


class Attached(Protocol):
    """A file that was attached to a message or to a slash command, as Discord describes it."""

    @property
    def filename(self) -> str:
        """Its name."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...

    @property
    def url(self) -> str:
        """Where it is."""
        ...


class _TooLarge(Exception):
    """The file is larger than what is left for it."""


class _NotTaken(Exception):
    """The file was not fetched; the text says why, for the log."""


class Fetcher:
    """Downloads the attachments of people who may use the bot, a few at a time.

    `api_base` is what stands in front of Discord, if anything does: its own addresses are trusted like Discord's,
    since it sees the bot's token.
    """

    def __init__(self, welcome: Welcome, api_base: str | None = None) -> None:
        self._welcome = welcome
        self._free = asyncio.Semaphore(FETCHES)
        self._front = yarl.URL(api_base).origin() if api_base is not None else None

    async def fetch(
        self, person: Person, place: Place, attached: Sequence[Attached]
    ) -> tuple[tuple[Attachment, ...], tuple[str, ...]]:
        """The files, and a sentence for each one that was left behind. Nothing of strangers is touched."""
        if not attached or not self._welcome(person, place):
            return (), ()
        files: list[Attachment] = []
        lost: list[str] = []
        room = limits.INCOMING_BYTES
        async with self._free, aiohttp.ClientSession(timeout=_PATIENCE) as session:
            for item in attached:
                try:
                    data = await self._read(session, item, room)
                except _TooLarge:
                    megabytes = limits.INCOMING_BYTES // _MEGABYTE
                    lost.append(say("discord.file_large", name=item.filename, megabytes=megabytes))
                except (_NotTaken, aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                    logger.warning("An attached file could not be fetched from Discord: %s", error)
                    lost.append(say("discord.file_lost", name=item.filename))
                else:
                    room -= len(data)
                    files.append(Attachment(item.filename, data))
        return tuple(files), tuple(lost)

    def voice_of(self, message: discord.Message) -> Voice | None:
        """What a voice message says aloud; it is fetched only when somebody listens."""
        spoken = message.attachments[0] if message.flags.voice and message.attachments else None
        if spoken is None:
            return None

        async def fetch() -> bytes:
            try:
                async with self._free, aiohttp.ClientSession(timeout=_PATIENCE) as session:
                    return await self._read(session, spoken, limits.INCOMING_BYTES)
            except (_TooLarge, _NotTaken, aiohttp.ClientError, OSError, ValueError) as error:
                raise ChatError(f"A voice message could not be fetched from Discord: {error}") from error

        return Voice("voice.ogg", spoken.duration or 0.0, spoken.size, fetch)

    async def _read(self, session: aiohttp.ClientSession, item: Attached, room: int) -> bytes:
        """The bytes of a file, at most `room`. What it says of its size is believed only when that is too much."""
        url = yarl.URL(item.url)
        if not self._is_discords(url):
            raise _NotTaken(f"{url.host} is not one of Discord's file servers")
        if item.size > room:
            raise _TooLarge
        async with session.get(url, allow_redirects=False) as response:
            if response.status != 200:
                raise _NotTaken(f"the file server answered with status {response.status}")
            data = bytearray()
            async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                data += chunk
                if len(data) > room:
                    raise _TooLarge
            return bytes(data)

    def _is_discords(self, url: yarl.URL) -> bool:
        if not url.is_absolute():
            return False
        own = url.scheme == "https" and url.host in HOSTS and url.port == 443
        return own or (self._front is not None and url.origin() == self._front)
