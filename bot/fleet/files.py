"""Transfers files between hub and host in pieces, because the message broker takes at most a megabyte per message."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Final

from agent.ports.stores import Frames
from bot.fleet.engine import EngineAway
from bot.fleet.messages import GetFile, Reply

PIECE: Final = 512 * 1024
LARGEST: Final = 100 * 1024 * 1024
"""Bytes of one file; chats accept half of that at most."""


async def piece_of(frames: Frames, asked: GetFile) -> tuple[Reply, bytes]:
    """Return the requested piece of a stored file, and in the reply the size of the whole file (or that it is
    missing).
    """
    try:
        data = await frames.load(asked.reference)
    except KeyError:
        return Reply(missing=True), b""
    return Reply(data=len(data)), data[asked.offset : asked.offset + PIECE]


async def all_pieces(reference: str, ask: Callable[[int], Awaitable[tuple[Reply, bytes]]]) -> bytes:
    """Fetch a file in pieces and check it against the SHA-256 in its reference.

    `ask` returns the reply and the bytes from an offset on. Raises KeyError if the file is missing, too large or
    damaged, and what `ask` raises.
    """
    found = bytearray()
    while True:
        reply, body = await ask(len(found))
        if reply.missing or not isinstance(reply.data, int) or not 0 <= reply.data <= LARGEST:
            raise KeyError(reference)
        found += body
        if len(found) >= reply.data:
            break
        if len(body) != PIECE:
            raise KeyError(reference)
    if hashlib.sha256(found).hexdigest() != reference.partition(".")[0]:
        raise KeyError(reference)
    return bytes(found)


class HostFrames:
    """The file storage (`Frames`) of a host. Files that belong to a task are fetched from the hub when needed; others
    are stored here.
    """

    def __init__(self, frames: Frames, from_hub: Callable[[str], Awaitable[bytes]]) -> None:
        self._frames = frames
        self._from_hub = from_hub

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Store the bytes and return their reference, such as "<sha256>.jpg"."""
        return await self._frames.save(data, suffix=suffix)

    async def load(self, reference: str) -> bytes:
        """Return the bytes of a reference, fetched from the hub if they are not here. Raises KeyError if they cannot
        be had.
        """
        try:
            return await self._frames.load(reference)
        except KeyError:
            try:
                data = await self._from_hub(reference)
            except EngineAway:
                raise KeyError(reference) from None
            await self._frames.save(data, suffix=reference.partition(".")[2])
            return data
