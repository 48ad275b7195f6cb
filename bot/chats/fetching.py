"""Files that people attach, and what they say aloud, fetched within limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final, Protocol

import aiohttp
import yarl

from bot.domain.address import Person, Place
from bot.domain.chat import ChatError, FloodWait
from bot.domain.incoming import Attachment
from bot.texts import say

logger = logging.getLogger(__name__)

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; ours."""

FETCHES: Final = 2
"""Messages of one platform whose files or voice are fetched at the same time, which bounds the memory; ours."""

_PATIENCE: Final = aiohttp.ClientTimeout(FETCH_SECONDS)
_CHUNK_BYTES: Final = 64 * 1024
_MEGABYTE: Final = 1024 * 1024

Welcome = Callable[[Person, Place], bool]
"""Whether somebody may use the bot at that place."""


class Attached(Protocol):
    """A file that was attached, as the platform describes it."""

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


class TooLarge(Exception):
    """The file is larger than what is left for it."""


@dataclass(frozen=True, slots=True)
class Download:
    """One file that is wanted, of so many bytes as the platform tells, 0 where it does not."""

    name: str
    size: int
    read: Callable[[int], Awaitable[bytes]] = field(repr=False)
    """Gets its bytes, at most so many. Raises TooLarge, ChatError and FloodWait."""


class Downloads:
    """The downloads of one platform, a few at a time: nothing is fetched past them."""

    def __init__(self, title: str, most: int) -> None:
        """`most` is how many bytes may be fetched at once: all files of a message, or what somebody said."""
        self._title = title
        self._most = most
        self._free = asyncio.Semaphore(FETCHES)

    async def fetch(self, wanted: Sequence[Download]) -> tuple[tuple[Attachment, ...], str]:
        """The files, and a sentence for each one that was left behind."""
        files: list[Attachment] = []
        lost: list[str] = []
        room = self._most
        async with self._free:
            for item in wanted:
                try:
                    data = await _read(item, room)
                except TooLarge:
                    lost.append(say("chats.file_large", name=item.name, megabytes=self._most // _MEGABYTE))
                except (ChatError, FloodWait) as error:
                    logger.warning("An attached file could not be fetched from %s: %s", self._title, error)
                    lost.append(say("chats.file_lost", name=item.name, platform=self._title))
                else:
                    room -= len(data)
                    files.append(Attachment(item.name, data))
        return tuple(files), "\n".join(lost)

    async def recording(self, spoken: Download) -> bytes:
        """What somebody said. Raises ChatError."""
        try:
            async with self._free:
                return await _read(spoken, self._most)
        except (TooLarge, FloodWait) as error:
            raise ChatError(f"A voice message could not be fetched from {self._title}: {error!r}") from error


async def _read(item: Download, room: int) -> bytes:
    """The bytes of a file. What the platform says of its size is believed only when that is too much."""
    if item.size > room:
        raise TooLarge
    return await item.read(room)


class Fetcher:
    """Downloads the attachments of people who may use the bot from the platform's own servers."""

    def __init__(
        self,
        title: str,
        welcome: Welcome,
        trusted: Callable[[yarl.URL], bool],
        most: int,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`trusted` says which addresses are the platform's own: nothing is asked of others, so that `headers`, which
        may hold a token, go nowhere else. `most` is how many bytes the files of one message may have.
        """
        self._title = title
        self._welcome = welcome
        self._trusted = trusted
        self._headers = headers
        self._downloads = Downloads(title, most)

    async def fetch(
        self, person: Person, place: Place, attached: Sequence[Attached]
    ) -> tuple[tuple[Attachment, ...], str]:
        """The files, and a sentence for each one that was left behind. Nothing of strangers is touched."""
        if not attached or not self._welcome(person, place):
            return (), ""
        return await self._downloads.fetch([self._download(item) for item in attached])

    async def recording(self, spoken: Attached) -> bytes:
        """What somebody said. Raises ChatError."""
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
