"""Voice notes: refused kindly, or written down, shown, and begun only by a button."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from agent.models.transcription import TranscriptionFailed
from bot.chats.base import ChatError
from bot.chats.incoming import Voice
from bot.chats.outgoing import Reply
from bot.commands.request import Refused, Request, Services
from bot.commands.talk import Talk, Topic
from bot.texts import say

VOICE_SECONDS: Final = 180
"""Longest voice note; a task is a few sentences."""
VOICE_BYTES: Final = 5 * 1024 * 1024
"""Largest one: three minutes as chats encode them are about a megabyte."""
FETCH_SECONDS: Final = 60.0
"""Time limit of a download."""
AT_ONCE: Final = 2
"""Voice notes that are written down at the same time; others wait."""

logger = logging.getLogger(__name__)


class Ears:
    """Listens to people who may use the bot."""

    def __init__(self, services: Services, talk: Talk) -> None:
        self._services = services
        self._talk = talk
        self._free = asyncio.Semaphore(AT_ONCE)

    async def heard(self, request: Request, topic: Topic, voice: Voice) -> Reply:
        """What was said, with a button that makes it a task. Raises Refused.

        It answers no question: a code must not go to an endpoint, and a yes must not be misheard.
        """
        asked = await self._services.desk.open_questions(place=request.address)
        if topic.question is not None or asked:
            raise Refused(say("voice.question"))
        if request.stale:
            raise Refused(say("voice.late"))
        transcriber = self._services.transcriber
        if transcriber is None:
            raise Refused(say("voice.off"))
        if voice.seconds > VOICE_SECONDS or voice.size > VOICE_BYTES:
            raise Refused(say("voice.too_long", minutes=VOICE_SECONDS // 60))
        async with self._free:
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    audio = await voice.fetch()
                text = await transcriber.transcribe(audio, voice.name)
            except (ChatError, TimeoutError, TranscriptionFailed) as error:
                logger.warning("A voice note was not written down: %s", str(error) or "its download took too long")
                raise Refused(say("voice.failed")) from None
        if not text:
            raise Refused(say("voice.silent"))
        return await self._talk.offer(request, text, say("voice.heard", text=text))
