"""Long polling: one request for updates after another, over a new connection if one does not return."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol
from urllib.parse import urlencode

import telegram
from telegram.error import Conflict, InvalidToken, TelegramError

from bot.chats.telegram import errors
from bot.chats.telegram.limits import Times
from bot.chats.telegram.requests import Flooded, Request
from bot.domain.chat import ChatError, FloodWait

logger = logging.getLogger(__name__)

_BATCH: Final = 100
"""Maximum updates of one poll (Bot API, getUpdates)."""

_CLOSE_SECONDS: Final = 5.0
"""Seconds that old connections may take to close; our choice."""

_CONFLICT: Final = (
    "Telegram gives the bot's messages to somebody else, so no command arrives here. Another program polls with the "
    "same token, or a webhook is set. Stop the other program, or delete the webhook. (%s)"
)


async def without_webhook(bot: telegram.Bot) -> None:
    """Remove a webhook that is still set, because Telegram refuses polls while there is one. Waiting updates are kept
    for the polls. Failures are only logged: the polls will report them.
    """
    try:
        async with errors.translated("the question about a webhook"):
            if (await bot.get_webhook_info()).url:
                logger.warning(
                    "A webhook was set for this bot, but TELEGRAM_WEBHOOK_URL is not, so the webhook is removed."
                )
                await bot.delete_webhook(drop_pending_updates=False)
    except (ChatError, FloodWait) as refused:
        logger.info("Whether a webhook is set is not known: %s", refused)


class Take(Protocol):
    """The function that handles a batch of updates. `backlog` says that the updates may have waited while the service
    was away.
    """

    async def __call__(self, batch: Sequence[dict[str, Any]], *, backlog: bool) -> int | None:
        """Begin to handle each update of the batch. Returns the number of the first one that must be delivered again,
        None if there is none.
        """
        ...


class Polling:
    """Polls Telegram for updates, one request at a time.

    `address` is the Bot API's address with the token. `take` is called with each batch. The next poll confirms the
    batch to Telegram, so that a batch is delivered again if the process dies meanwhile.
    """

    def __init__(
        self,
        address: str,
        pool: Request,
        take: Take,
        kinds: Sequence[str],
        times: Times,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._pool = pool
        self._take = take
        self._kinds = kinds
        self._times = times
        self._clock = clock
        self._completed = clock()
        self._offset: int | None = None
        self._failed = 0
        self._contested = False

    @property
    def away(self) -> bool:
        """Whether the last poll failed."""
        return self._failed > 0

    async def run(self) -> None:
        """Poll until cancelled. Raises InvalidToken if Telegram no longer accepts the token."""
        self._completed = self._clock()
        backlog = True  # the first poll returns at once, so that new updates are not mistaken for waiting ones
        while True:
            try:
                batch = await self._poll(0.0 if backlog else self._times.poll)
            except InvalidToken:
                raise
            except (TelegramError, TimeoutError, OSError) as away:
                backlog = True
                await self._revive()
                await asyncio.sleep(self._pause(away))
                continue
            self._completed = self._clock()
            if self._failed:
                logger.info("Telegram is connected again; missed messages follow.")
            self._failed, self._contested = 0, False
            if batch:
                if (again := await self._take(batch, backlog=backlog)) is not None:
                    self._offset = again
                    await asyncio.sleep(self._times.first_retry)
                    continue
                self._offset = max(int(update["update_id"]) for update in batch) + 1
            # After a full batch, more of the waiting updates follow.
            backlog = backlog and len(batch) >= _BATCH

    async def _poll(self, hold: float) -> list[dict[str, Any]]:
        """Return the updates that are waiting. If there are none, Telegram holds the answer for up to `hold`
        seconds.
        """
        fields: dict[str, object] = {"timeout": hold, "allowed_updates": json.dumps(self._kinds)}
        if self._offset is not None:
            fields["offset"] = self._offset
        async with asyncio.timeout(self._times.stall):
            found = await self._pool.post(
                f"{self._address}/getUpdates?{urlencode(fields)}", read_timeout=hold + self._times.answer
            )
        return found if isinstance(found, list) else []

    def _pause(self, away: Exception) -> float:
        """Return the seconds until the next attempt, after logging what is wrong."""
        pause = min(self._times.last_retry, self._times.first_retry * 2.0 ** min(self._failed, 16))
        self._failed += 1
        if isinstance(away, Flooded):
            pause = max(pause, away.seconds)
        if not isinstance(away, Conflict):
            logger.warning("Telegram cannot be reached (%s); next attempt in %.1f s.", errors.reason(away), pause)
        elif not self._contested:
            self._contested = True
            logger.error(_CONFLICT, errors.reason(away))
        return pause

    async def _revive(self) -> None:
        """Replace the connection if no poll has completed for too long: it may only look alive."""
        silent = self._clock() - self._completed
        if silent < self._times.stall:
            return
        logger.warning("Telegram has not answered a poll for %.0f s; reconnecting.", silent)
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._pool.shutdown()
        except (TimeoutError, OSError) as stuck:
            logger.info("The old connection did not close: %s", errors.reason(stuck))
        await self._pool.initialize()
        self._completed = self._clock()
