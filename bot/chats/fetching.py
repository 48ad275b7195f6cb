"""Downloads attachments and voice messages, limited in size, number and time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final

import aiohttp
import yarl

from bot.domain.address import Person, Place
from bot.domain.chat import ChatError, FloodWait
from bot.domain.incoming import Attachment
from bot.texts import say

logger = logging.getLogger(__name__)

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; our choice."""

FETCHES: Final = 2
"""Maximum messages of one platform whose files are downloaded at the same time, to limit memory; our choice."""

_PATIENCE: Final = aiohttp.ClientTimeout(FETCH_SECONDS)
_CHUNK_BYTES: Final = 64 * 1024
_MEGABYTE: Final = 1024 * 1024

IsAllowed = Callable[[Person, Place], bool]
"""Returns whether a person may use the bot at a place."""


@dataclass(frozen=True, slots=True)
class Attached:
    """An attachment of a message: its name, its size in bytes, and its address."""

    filename: str
    size: int
    url: str


class TooLarge(Exception):
    """The file is larger than the bytes that are left for this message."""


@dataclass(frozen=True, slots=True)
class Download:
    """One file to download. `size` is in bytes as the platform reports it, or 0."""

    name: str
    size: int
    read: Callable[[int], Awaitable[bytes]] = field(repr=False)
    """Downloads at most this many bytes. Raises TooLarge, ChatError and FloodWait."""


class Downloads:
    """Performs the downloads of one platform, only a few at a time."""

    def __init__(self, title: str, most: int, *, each: int | None = None) -> None:
        """`most` is the maximum bytes of one message: all its files, or its voice recording. `each` is that of one
        file, where the platform has a lower limit for it.
        """
        self._title = title
        self._most = most
        self._each = most if each is None else each
        self._free = asyncio.Semaphore(FETCHES)

    async def fetch(self, wanted: Sequence[Download]) -> tuple[tuple[Attachment, ...], str]:
        """Download these files. Returns those that succeeded, and a text with one sentence for each file that could not
        be accepted.
        """
        files: list[Attachment] = []
        lost: list[str] = []
        room = self._most
        async with self._free:
            for item in wanted:
                try:
                    data = await _read(item, min(room, self._each))
                except TooLarge:
                    lost.append(self._too_large(item.name, room))
                except (ChatError, FloodWait) as error:
                    logger.warning("An attached file could not be fetched from %s: %s", self._title, error)
                    lost.append(say("chats.file_lost", name=item.name, platform=self._title))
                else:
                    room -= len(data)
                    files.append(Attachment(item.name, data))
        return tuple(files), "\n".join(lost)

    def _too_large(self, name: str, room: int) -> str:
        """Say which limit a file exceeds when `room` bytes are left for its message."""
        if room < self._each or self._each == self._most:
            return say("chats.file_large", name=name, megabytes=self._most // _MEGABYTE)
        return say("chats.one_file_large", name=name, megabytes=self._each // _MEGABYTE)

    async def recording(self, spoken: Download) -> bytes:
        """Return the bytes of a voice message. Raises ChatError."""
        try:
            async with self._free:
                return await _read(spoken, self._each)
        except (TooLarge, FloodWait) as error:
            raise ChatError(f"A voice message could not be fetched from {self._title}: {error!r}") from error


async def _read(item: Download, room: int) -> bytes:
    """The bytes of a file. The size that the platform reports is trusted only to refuse a file that is too large."""
    if item.size > room:
        raise TooLarge
    return await item.read(room)


class Fetcher:
    """Downloads attachments of people who may use the bot, from the platform's own servers."""

    def __init__(
        self,
        title: str,
        welcome: IsAllowed,
        trusted: Callable[[yarl.URL], bool],
        most: int,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`trusted` says which addresses belong to the platform. Others are not contacted, so that `headers`, which
        may contain a token, go nowhere else. `most` is the maximum bytes of one message's files.
        """
        self._title = title
        self._is_allowed = welcome
        self._trusted = trusted
        self._headers = headers
        self._downloads = Downloads(title, most)

    async def fetch(
        self, person: Person, place: Place, attached: Sequence[Attached]
    ) -> tuple[tuple[Attachment, ...], str]:
        """Download the attachments of a message. Returns the files, and a text with one sentence for each one that
        could not be accepted. Nothing is downloaded for people who may not use the bot.
        """
        if not attached or not self._is_allowed(person, place):
            return (), ""
        return await self._downloads.fetch([self._download(item) for item in attached])

    async def recording(self, spoken: Attached) -> bytes:
        """Return the bytes of a voice message. Raises ChatError."""
        return await self._downloads.recording(self._download(spoken))

    def _download(self, item: Attached) -> Download:
        return Download(item.filename, item.size, partial(self._read, item))

    async def _read(self, item: Attached, room: int) -> bytes:
        try:
            url = yarl.URL(item.url)
            if not url.is_absolute() or not self._trusted(url):
                raise ChatError(f"{url.host} is not one of {self._title}'s file servers.")
            async with (
                aiohttp.ClientSession(timeout=_PATIENCE) as session,
                session.get(url, headers=self._headers, allow_redirects=False) as response,
            ):
                if response.status != HTTPStatus.OK:
                    raise ChatError(f"{self._title}'s file server answered with status {response.status}.")
                data = bytearray()
                async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                    data += chunk
                    if len(data) > room:
                        raise TooLarge
                return bytes(data)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise ChatError(f"{self._title}'s file server could not be reached: {error}") from error
