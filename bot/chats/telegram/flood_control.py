"""Sends nothing to a chat while Telegram's flood limit applies to it: calls fail here, before they reach Telegram."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from bot.chats.telegram import errors
from bot.domain.chat import FloodWait

Moved = Callable[[str, str], Awaitable[None]]
"""Called with a chat's old and new id."""


async def nobody_moves(old: str, new: str) -> None:
    """Do nothing: the default for callers that need not know that a chat has a new id."""


class Silence:
    """Records until when nothing may be sent to each chat. Calling during a flood limit would prolong it, up
    to hours.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, moved: Moved = nobody_moves) -> None:
        self._clock = clock
        self._moved = moved
        self._until: dict[str, float] = {}

    @asynccontextmanager
    async def calling(self, chat: str, doing: str) -> AsyncIterator[None]:
        """Wrap a call that sends or edits in `chat`. Raises FloodWait at once while a flood limit applies; also
        ChatGone and ChatError, see `errors.translated`, which explains `doing`.

        If the chat has a new id, `moved` is called with both ids before ChatMoved is raised.
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
