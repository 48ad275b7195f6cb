"""Forum topics: a task that is given in the General topic gets one of its own, where the bot may make it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from telegram.error import BadRequest

from bot.chats.telegram import errors, limits
from bot.chats.telegram.flood_control import Silence
from bot.chats.telegram.sending import Online
from bot.domain.address import Address
from bot.domain.chat import ChatError

logger = logging.getLogger(__name__)

_SUPERGROUP: Final = "-100"
"""How the ids of supergroups begin (Bot API, Dialog IDs); only they have topics."""


class Topics:
    """Opens and closes topics. A topic in which a command was written is its place already, as a thread is."""

    def __init__(self, online: Online, silence: Silence, clock: Callable[[], float] = time.monotonic) -> None:
        self._online = online
        self._silence = silence
        self._clock = clock
        self._none: dict[str, float] = {}
        """Until when it is taken for granted that there are no topics in a chat, or none of ours."""

    async def open(self, origin: Address, title: str) -> Address:
        """The place of a new topic, or `origin` where there are none or the bot may not make any. Raises FloodWait."""
        if origin.thread or not origin.chat.startswith(_SUPERGROUP):
            return origin
        if self._clock() < self._none.get(origin.chat, float("-inf")):
            return origin
        bot = await self._online()
        try:
            async with self._silence.calling(origin.chat, "a topic for the task"):
                chat = await bot.get_chat(int(origin.chat))
                if chat.is_forum:
                    topic = await bot.create_forum_topic(int(origin.chat), title[: limits.TOPIC_NAME])
                    return replace(origin, thread=str(topic.message_thread_id))
        except ChatError as refused:
            logger.info("A task gets no topic of its own: %s Let the bot manage topics for that.", refused)
        self._none[origin.chat] = self._clock() + limits.NO_TOPICS_SECONDS
        return origin

    async def reopen(self, place: Address) -> None:
        """A task begins in a topic that may be closed: people have to be able to answer there. Raises FloodWait."""
        bot = await self._online()
        try:
            async with self._silence.calling(place.chat, "the topic"):
                await bot.reopen_forum_topic(int(place.chat), int(place.thread))
        except ChatError as refused:
            logger.debug("A topic stays as it is: %s", refused)  # most are open, or not the bot's to open

    async def close(self, place: Address) -> None:
        """The topic takes no more from people; what stands there stays. Raises FloodWait or ChatError."""
        bot = await self._online()
        async with self._silence.calling(place.chat, "the end of the topic"):
            try:
                await bot.close_forum_topic(int(place.chat), int(place.thread))
            except BadRequest as refused:
                if not errors.says(refused, errors.CLOSED_ALREADY):
                    raise


def link_to(place: Address) -> str:
    """Where people of the group open the topic."""
    return f"https://t.me/c/{place.chat.removeprefix(_SUPERGROUP)}/{place.thread}"
