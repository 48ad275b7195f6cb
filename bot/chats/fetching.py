"""Files that people attach, fetched from their platform's own servers within limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import aiohttp
import yarl

from bot.domain.address import Person, Place
from bot.domain.chat import ChatError
from bot.domain.incoming import Attachment
from bot.texts import say

logger = logging.getLogger(__name__)

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; ours."""

FETCHES: Final = 2
"""Messages whose files are fetched at the same time, so that files cannot fill the memory; ours."""

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


class _TooLarge(Exception):
    """The file is larger than what is left for it."""


class _NotTaken(Exception):
    """The file was not fetched; the text says why, for the log."""


class Fetcher:
    """Downloads the attachments of people who may use the bot, a few at a time."""

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
        self._most = most
        self._headers = headers
        self._free = asyncio.Semaphore(FETCHES)

    async def fetch(
        self, person: Person, place: Place, attached: Sequence[Attached]
    ) -> tuple[tuple[Attachment, ...], str]:
        """The files, and a sentence for each one that was left behind. Nothing of strangers is touched."""
        if not attached or not self._welcome(person, place):
            return (), ""
        files: list[Attachment] = []
        lost: list[str] = []
        room = self._most
        async with self._free, aiohttp.ClientSession(timeout=_PATIENCE) as session:
            for item in attached:
                try:
                    data = await self._read(session, item, room)
                except _TooLarge:
                    lost.append(say("chats.file_large", name=item.filename, megabytes=self._most // _MEGABYTE))
                except (_NotTaken, aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
                    logger.warning("An attached file could not be fetched from %s: %s", self._title, error)
                    lost.append(say("chats.file_lost", name=item.filename, platform=self._title))
                else:
                    room -= len(data)
                    files.append(Attachment(item.filename, data))
        return tuple(files), "\n".join(lost)

    async def recording(self, spoken: Attached) -> bytes:
        """What somebody said. Raises ChatError."""
        try:
            async with self._free, aiohttp.ClientSession(timeout=_PATIENCE) as session:
                return await self._read(session, spoken, self._most)
        except (_TooLarge, _NotTaken, aiohttp.ClientError, OSError, ValueError) as error:
            raise ChatError(f"A voice message could not be fetched from {self._title}: {error}") from error

    async def _read(self, session: aiohttp.ClientSession, item: Attached, room: int) -> bytes:
        """The bytes of a file, at most `room`. What it says of its size is believed only when that is too much."""
        url = yarl.URL(item.url)
        if not url.is_absolute() or not self._trusted(url):
            raise _NotTaken(f"{url.host} is not one of {self._title}'s file servers")
        if item.size > room:
            raise _TooLarge
        async with session.get(url, headers=self._headers, allow_redirects=False) as response:
            if response.status != 200:
                raise _NotTaken(f"the file server answered with status {response.status}")
            data = bytearray()
            async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
                data += chunk
                if len(data) > room:
                    raise _TooLarge
            return bytes(data)
