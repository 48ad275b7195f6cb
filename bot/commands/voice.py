"""Handles voice notes: they are refused, or transcribed and shown with a button that starts them as a task."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from agent.models.other_models import TranscriptionFailed
from bot.application.access import Refused
from bot.application.interpret import secrets_asked
from bot.application.services import Services
from bot.commands.free_text import Talk, Topic
from bot.commands.request import Request
from bot.domain.chat import ChatError
from bot.domain.incoming import Voice
from bot.domain.outgoing import Reply
from bot.domain.task import OverQuota
from bot.store.audit import AuditKind
from bot.texts import say

VOICE_SECONDS: Final = 180
"""Maximum length of a voice note; a task is a few sentences."""
VOICE_BYTES: Final = 5 * 1024 * 1024
"""Maximum size of a voice note: three minutes as chats encode them are about a megabyte."""
FETCH_SECONDS: Final = 60.0
"""Time limit of a download, in seconds."""
AT_ONCE: Final = 2
"""Maximum voice notes transcribed at the same time; others wait."""

logger = logging.getLogger(__name__)


class Ears:
    """Transcribes voice notes of people who may use the bot."""

    def __init__(self, services: Services, talk: Talk) -> None:
        self._services = services
        self._talk = talk
        self._free = asyncio.Semaphore(AT_ONCE)

    async def heard(self, request: Request, topic: Topic, voice: Voice) -> Reply:
        """Transcribe a voice note, and reply with the text and a button that makes it a task. Raises Refused, OverQuota
        or BadText.

        The text is never used as an answer: a code must not be sent to a speech endpoint, and an approval must not be
        misheard.
        """
        asked = await self._services.task_service.open_questions(place=request.address)
        if topic.question is not None or asked or await secrets_asked(request, self._services, anybody=False):
            raise Refused(say("voice.question"))
        if request.stale:
            raise Refused(say("voice.late"))
        transcriber = self._services.transcriber()
        if transcriber is None:
            raise Refused(say("voice.off"))
        if voice.seconds > VOICE_SECONDS or voice.size > VOICE_BYTES:
            raise Refused(say("voice.too_long", minutes=VOICE_SECONDS // 60))
        async with self._free:
            await self._require_money(request)
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    audio = await voice.fetch()
                said = await transcriber.transcribe(audio, voice.name, voice.seconds)
            except (ChatError, TimeoutError, TranscriptionFailed) as error:
                logger.warning("A voice note was not transcribed: %s", str(error) or "its download took too long")
                raise Refused(say("voice.failed")) from None
            await self._services.store.usage.heard(request.person, said)  # before the next one asks what is left
        if not said.text:
            raise Refused(say("voice.silent"))
        return await self._talk.offer(request, said.text, say("voice.heard", text=said.text))

    async def _require_money(self, request: Request) -> None:
        try:
            await self._services.quotas.admit_voice(request.person, request.address)
        except OverQuota as refused:
            await self._services.store.audit.note(AuditKind.OVER_QUOTA, request.person, detail=refused.detail)
            raise
