"""What all platforms share for sending: the last check before a request, messages of several parts, and notes of what
was sent, which survive a restart.

Another service may have taken over the record (the stored data) by then, for example while this process was suspended.
Everything that a chat sends by HTTP is checked here: messages, edits, reactions, answers to presses, and the
registration of commands.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import aiohttp

from bot.domain.chat import ChatError, Record
from bot.texts import words
from devices.atomic_file import write_atomically
from devices.recent import Recent

logger = logging.getLogger(__name__)


class OwnershipLost(ChatError):
    """Nothing was sent, because another service may have taken over the record (the stored data)."""

    def __init__(self) -> None:
        super().__init__(words("chats.not_ours"))


def ownership_trace(record: Record) -> aiohttp.TraceConfig:
    """Return a trace configuration for an aiohttp session. While this service may have lost the record, it stops each
    request by raising OwnershipLost.
    """

    async def look(*_: object) -> None:
        if not record.is_ours:
            raise OwnershipLost

    tracing = aiohttp.TraceConfig()
    # Despite its name it is called before the headers are written, once there is a connection to write them to.
    tracing.on_request_headers_sent.append(look)
    return tracing


def seconds_in(header: str, otherwise: float) -> float:
    """Return the seconds in a `Retry-After` header, at least 1; `otherwise` if it contains no number."""
    try:
        return max(1.0, float(header))
    except ValueError:
        return otherwise


_REMEMBERED: Final = 256
"""Maximum sendings interrupted between two parts that are remembered; our choice."""


class SendProgress:
    """Remembers how far an interrupted sending got, so that repeating it continues there."""

    def __init__(self) -> None:
        self._progress: Recent[str, tuple[str, int]] = Recent(_REMEMBERED)
        """The id of the first message, and the number of parts that are there, by nonce."""

    async def send(self, nonce: str, parts: int, send: Callable[[int], Awaitable[str]]) -> str:
        """Call `send` with each part's number, beginning with the first that was not sent yet under this nonce. `parts`
        is the number of parts; `send` returns the id of the sent message. Returns the id of the first part's message.
        """
        first, done = self._progress.pop(nonce, ("", 0))
        try:
            for index in range(done, parts):
                sent = await send(index)
                first, done = first or sent, index + 1
        finally:
            if 0 < done < parts:
                self._progress[nonce] = (first, done)
        return first


class TextStore:
    """Stores texts by name in one JSON file. If the file is lost, a notice may be sent a second time, nothing worse."""

    def __init__(self, file: Path | None) -> None:
        """Without a file, texts are remembered until the process ends."""
        self._file = file
        self._known: dict[str, str] | None = None
        self._reading = asyncio.Lock()

    async def get(self, name: str) -> str:
        """Return the text last stored under this name; "" if there is none."""
        return (await self._all()).get(name, "")

    async def put(self, name: str, text: str) -> None:
        """Store a text under this name. If the file cannot be written, that is logged."""
        known = await self._all()
        known[name] = text
        if self._file is not None:
            await asyncio.to_thread(_write, self._file, dict(known))

    async def _all(self) -> dict[str, str]:
        async with self._reading:
            if self._known is None:
                self._known = {} if self._file is None else await asyncio.to_thread(_read, self._file)
        return self._known


def _read(file: Path) -> dict[str, str]:
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return texts_in(stored)


def texts_in(stored: object) -> dict[str, str]:
    """Return the texts by name in the parsed content of a file; values of other types are ignored."""
    entries = stored.items() if isinstance(stored, dict) else ()
    return {key: value for key, value in entries if isinstance(key, str) and isinstance(value, str)}


def _write(file: Path, known: Mapping[str, str]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(known, indent=1, sort_keys=True).encode())
    except OSError as error:
        logger.warning("A notice was sent but could not be recorded as sent, so it may be sent again: %s", error)
