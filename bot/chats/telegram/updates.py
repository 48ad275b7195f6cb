"""Passes each update from Telegram to the component that handles it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import telegram

from bot.chats.confirming import NotAccepted, not_accepted
from bot.chats.connection import Working
from bot.chats.telegram import limits
from bot.chats.telegram.incoming import Messages
from bot.chats.telegram.responses import Presses
from bot.domain.chat import ChatError, FloodWait, Record
from bot.texts import language_of, speaking

logger = logging.getLogger(__name__)

KINDS: Final = ("message", "callback_query")
"""The kinds of updates that are requested. Edited messages are not among them: a command is carried out as it was first
sent.
"""

_ODD: Final = (KeyError, TypeError, ValueError, AttributeError)
"""The exceptions of the library for an update that lacks something it expects."""


class Updates:
    """Handles updates concurrently, started in the order of their arrival. Unfinished work is tracked, so that closing
    can cancel it.
    """

    def __init__(self, bot: telegram.Bot, messages: Messages, presses: Presses, language: str, record: Record) -> None:
        self._bot = bot
        self._messages = messages
        self._presses = presses
        self._language = language
        self._record = record
        self._working = Working()

    async def take(self, batch: Sequence[dict[str, Any]], *, backlog: bool = False) -> int | None:
        """Begin to handle each update of a batch; `backlog` says that the updates may have waited while the service was
        away.

        It waits a moment for each update before it starts the next, so that `/do` and `/cancel` keep their order, but
        no longer than `CONFIRM_SECONDS` in all, so that a slow command never delays a Stop button.

        Returns the number of the first update that was not accepted because the record (the stored data) does not
        answer; it and all later ones must be delivered again. None if all were accepted.
        """
        clock = asyncio.get_running_loop()
        until = clock.time() + limits.CONFIRM_SECONDS
        gathering: list[asyncio.Task[bool]] = []
        begun: dict[asyncio.Task[bool], int] = {}
        for raw in batch:
            task = self._working.begin(self._handle(raw, backlog))
            begun[task] = int(raw.get("update_id", 0))
            if _is_of_album(raw):
                gathering.append(task)  # its other parts stand behind it
            else:
                await asyncio.wait({task}, timeout=max(0.0, until - clock.time()))
        if gathering:
            await asyncio.wait(gathering, timeout=max(0.0, until - clock.time()))
        return min((begun[task] for task in await not_accepted(begun, self._record)), default=None)

    async def close(self) -> None:
        """Cancel all unfinished work."""
        await self._working.close()

    async def _handle(self, raw: dict[str, Any], backlog: bool) -> bool:
        """Handle one update. Returns whether it was accepted; an update that cannot be parsed counts as accepted, so
        that it does not come again.
        """
        try:
            update = telegram.Update.de_json(raw, self._bot)
        except _ODD as fault:
            kinds = ", ".join(key for key in raw if key != "update_id")
            logger.warning(
                "An update from Telegram (%s) could not be decoded and was ignored: %s", kinds, type(fault).__name__
            )
            return True
        user = update.effective_user
        locale = user.language_code if user is not None else None
        with speaking(language_of(self._language, locale or "")):
            return await self._guarded(update, backlog)

    async def _guarded(self, update: telegram.Update, backlog: bool) -> bool:
        try:
            if update.callback_query is not None:
                await self._presses.handle(update.callback_query, self._bot, backlog=backlog)
            elif update.message is not None:
                await self._messages.handle(update.message, self._bot)
        except NotAccepted:
            logger.info("An update from Telegram is not confirmed, so that it comes again: the record does not answer.")
            return False
        except (ChatError, FloodWait) as refused:
            logger.warning("The answer to somebody on Telegram was not delivered: %s", refused)
        except Exception:
            logger.exception("An update from Telegram was lost because of a fault in the program")
        return True


def _is_of_album(raw: dict[str, Any]) -> bool:
    message = raw.get("message")
    return isinstance(message, dict) and "media_group_id" in message
