"""Files that people attach, fetched within limits of size, number and time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from telegram import Audio, Document, Message, PhotoSize, Video
from telegram.error import TelegramError

from bot.chats.telegram import errors, limits
from bot.domain.incoming import Attachment, Voice
from bot.texts import say

logger = logging.getLogger(__name__)

FETCH_SECONDS: Final = 60.0
"""Time limit of one download; ours."""

FETCHES: Final = 2
"""Files that are fetched at the same time, so that they cannot fill the memory; ours."""


Attached = Document | PhotoSize | Video | Audio


class Fetcher:
    """Downloads attachments, a few at a time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(FETCHES)

    async def fetch(self, messages: Sequence[Message]) -> tuple[tuple[Attachment, ...], str]:
        """The files of the messages (Telegram allows one in each), in order, and a sentence for each left behind."""
        files: list[Attachment] = []
        lost: list[str] = []
        for message in sorted(messages, key=lambda one: one.message_id):
            found = attached(message)
            if found is not None:
                fetched, why = await self._fetch(*found)
                files += fetched
                lost += [why] if why else []
        return tuple(files), "\n".join(lost)

    async def _fetch(self, found: Attached, name: str) -> tuple[tuple[Attachment, ...], str]:
        if (found.file_size or 0) > limits.INCOMING_BYTES:
            megabytes = limits.INCOMING_BYTES // (1024 * 1024)
            return (), say("telegram.file_too_large", name=name, limit=megabytes)
        async with self._free:
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    file = await found.get_file()
                    data = await file.download_as_bytearray()
            except (TelegramError, OSError, TimeoutError) as error:
                logger.warning("An attached file could not be fetched from Telegram: %s", errors.reason(error))
                return (), say("telegram.file_lost", name=name)
        return (Attachment(name, bytes(data)),), ""


def attached(message: Message) -> tuple[Attached, str] | None:
    """What the message carries, and what it is called."""
    if message.document is not None:
        return message.document, message.document.file_name or "file"
    if message.video is not None:
        return message.video, message.video.file_name or "video.mp4"
    if message.audio is not None:
        return message.audio, message.audio.file_name or "audio.mp3"
    if message.photo:
        return max(message.photo, key=lambda size: size.width * size.height), "photo.jpg"
    return None


def voice_of(message: Message) -> Voice | None:
    """What the message says aloud: a voice note, or the sound of a round video."""
    spoken = message.voice or message.video_note
    if spoken is None:
        return None

    async def fetch() -> bytes:
        async with errors.translated("the download of a voice note"):
            file = await spoken.get_file()
            return bytes(await file.download_as_bytearray())

    name = "voice.ogg" if message.voice is not None else "voice.mp4"
    seconds = float(spoken.to_dict()["duration"])  # the attribute warns each time that it will be something else
    return Voice(name, seconds, spoken.file_size or 0, fetch)
