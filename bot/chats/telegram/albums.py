"""Albums: Telegram delivers each of their files as a message of its own, and one of them has the caption."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from telegram import Message

from bot.chats.telegram import limits
from devices.recent import Recent

KEPT: Final = 64
"""Whole albums that are remembered, for a later reply to one of their parts; ours."""


@dataclass(slots=True)
class _Album:
    parts: dict[int, Message] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)


class Albums:
    """Gathers the messages of an album."""

    def __init__(self, quiet: float) -> None:
        """`quiet`: seconds without another part after which an album is whole."""
        self._quiet = quiet
        self._open: dict[tuple[int, str], _Album] = {}
        self._whole: Recent[tuple[int, str], tuple[Message, ...]] = Recent(KEPT)

    async def gather(self, message: Message) -> tuple[Message, ...]:
        """All messages that belong together, in their order; the one with the text first. For a part of an album that
        is being gathered already: none.
        """
        if message.media_group_id is None:
            return (message,)
        key = (message.chat.id, message.media_group_id)
        album = self._open.get(key)
        if album is not None:
            album.parts[message.message_id] = message
            album.news.set()
            return ()
        album = self._open[key] = _Album({message.message_id: message})
        try:
            await self._complete(album)
        finally:
            del self._open[key]
        parts = [album.parts[number] for number in sorted(album.parts)]
        self._whole[key] = tuple(parts)
        return tuple(sorted(parts, key=lambda part: not part.caption))

    def around(self, message: Message) -> tuple[Message, ...]:
        """The message with the rest of its album, as far as that is remembered: nobody can ask Telegram for it."""
        if message.media_group_id is None:
            return (message,)
        return self._whole.get((message.chat.id, message.media_group_id), (message,))

    async def _complete(self, album: _Album) -> None:
        while len(album.parts) < limits.ALBUM:
            album.news.clear()
            try:
                async with asyncio.timeout(self._quiet):
                    await album.news.wait()
            except TimeoutError:
                return
