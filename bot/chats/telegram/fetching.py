"""Files that people attach, fetched within limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from telegram import Document, Message, PhotoSize
from telegram.error import TelegramError

from bot.chats.base import Attachment
from bot.chats.telegram import errors, limits

logger = logging.getLogger(__name__)

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; ours."""

FETCHES: Final = 2
"""Files that are fetched at the same time, so that they cannot fill the memory; ours."""


class Fetcher:
    """Downloads attachments, a few at a time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(FETCHES)

    async def fetch(self, message: Message) -> tuple[tuple[Attachment, ...], str]:
        """The file of the message (Telegram allows one), and a sentence when it was left behind."""
        if message.document is not None:
            return await self._fetch(message.document, message.document.file_name or "file")
        if message.photo:
            best = max(message.photo, key=lambda size: size.width * size.height)
            return await self._fetch(best, "photo.jpg")
        return (), ""

    async def _fetch(self, attached: Document | PhotoSize, name: str) -> tuple[tuple[Attachment, ...], str]:
        if (attached.file_size or 0) > limits.INCOMING_BYTES:
            megabytes = limits.INCOMING_BYTES // (1024 * 1024)
            return (), f"{name} was left out: bots may download files up to {megabytes} MB."
        async with self._free:
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    file = await attached.get_file()
                    data = await file.download_as_bytearray()
            except (TelegramError, OSError, TimeoutError) as error:
                logger.warning("An attached file could not be fetched from Telegram: %s", errors.reason(error))
                return (), f"{name} was left out: it could not be fetched from Telegram. Send it again."
        return (Attachment(name, bytes(data)),), ""
