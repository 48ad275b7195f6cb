"""After a flood answer a chat is left alone: the next call fails here, before it reaches Telegram."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from bot.chats.base import FloodWait
from bot.chats.telegram import errors


class Silence:
    """Until when which chat wants silence. Calling into a flood limit makes it longer, up to hours."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    @asynccontextmanager
    async def calling(self, chat: str, doing: str) -> AsyncIterator[None]:
        """A call that sends or edits in `chat`. Raises FloodWait, ChatGone or ChatError; see `errors.translated`."""
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
