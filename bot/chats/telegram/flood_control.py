"""Leaves a chat alone after a flood error: the next call fails here, before it reaches Telegram."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.chats.telegram import errors
from bot.domain.chat import FloodWait

Moved = Callable[[str, str], Awaitable[None]]
"""Takes a chat's old and new id."""


async def nobody_moves(old: str, new: str) -> None:
    """For who does not want to know."""


class Silence:
    """Records until when each chat must be left alone. Calling during a flood limit prolongs it, up to hours."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, moved: Moved = nobody_moves) -> None:
        self._clock = clock
        self._moved = moved
        self._until: dict[str, float] = {}

    @asynccontextmanager
    async def calling(self, chat: str, doing: str) -> AsyncIterator[None]:
        """A call that sends or edits in `chat`. Raises FloodWait, ChatGone or ChatError; see `errors.translated`.

        A chat that has another id now is reported as such before ChatMoved is raised.
        """
        left = self._until.get(chat, 0.0) - self._clock()
        if left > 0:
            raise FloodWait(left)
        self._until.pop(chat, None)
        try:
            async with errors.translated(doing):
                yield
        except FloodWait as flood:
            self._until[chat] = self._clock() + flood.seconds
            raise
        except errors.ChatMoved as away:
            await self._moved(chat, away.chat)
            raise
