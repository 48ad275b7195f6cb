"""Moves all data of a chat when it gets another id, as when a Telegram group becomes a supergroup."""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.application.services import Services
from bot.domain.address import Address, Place
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Message
from bot.outbox.outbox import Outbox
from bot.texts import language_of, say, speaking

logger = logging.getLogger(__name__)


class ChatMoves:
    """Handles the move of a chat to another id; called by a chat adapter each time that it learns of one. Lists that
    contain the old id also apply to the new one: it is the same group, and only Telegram itself reports such a move.
    """

    def __init__(self, services: Services, outbox: Outbox, *, language: str = "auto") -> None:
        self._services = services
        self._outbox = outbox
        self._language = language

    async def __call__(self, old: Address, new: str) -> None:
        """Move the tasks, questions and schedules of the chat `old` to the id `new`, and tell people."""
        if not await self._services.store.moves.move(old, new, now=self._services.clock()):
            return
        logger.warning(
            "The %s chat %s now has the id %s and is still allowed. Replace the old id in the settings.",
            old.platform,
            old.chat,
            new,
        )
        await self._services.rights.refresh()
        await self._outbox.move(old, new)
        await self._tell(replace(old, chat=new, thread=""), old.chat)

    async def _tell(self, place: Address, old: str) -> None:
        chat = self._services.chats.get(place.platform)
        if chat is None or old not in self._services.rights.listed_chats(place.platform):
            return
        with speaking(language_of(self._language, "")):
            message = Message(body=say("moved.told", old=old, new=place.chat))
        try:
            await chat.send(place, message, nonce=f"moved-{old}", turn=self._services.turns(Place(place)))
        except (ChatError, FloodWait) as refused:
            logger.info("The new id was not told in the chat: %s", refused)
