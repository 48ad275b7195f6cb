"""Receives updates from Telegram, by long polling or through a webhook, and passes each to the component that handles
it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import telegram
from aiohttp import web
from telegram.error import BadRequest, Conflict, InvalidToken, TelegramError

from bot.chats.connection import BackgroundTasks
from bot.chats.incoming import accepted, not_accepted
from bot.chats.telegram import errors, limits
from bot.chats.telegram.incoming import Messages, Presses
from bot.chats.telegram.limits import Times
from bot.chats.telegram.requests import Flooded, Request
from bot.domain.chat import ChatError, FloodWait, Record
from bot.texts import language_of, speaking

logger = logging.getLogger(__name__)

_BATCH: Final = 100
"""Maximum updates of one poll (Bot API, getUpdates)."""

KINDS: Final = ("message", "callback_query")
"""The kinds of updates that are requested. Edited messages are not among them: a command is carried out as it was first
sent.
"""

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


class Polling:
    """Polls Telegram for updates, one request at a time.

    `address` is the Bot API's address with the token. `updates` handles each batch. The next poll confirms the batch to
    Telegram, so that a batch is delivered again if the process dies meanwhile.
    """

    def __init__(
        self,
        address: str,
        pool: Request,
        updates: Updates,
        times: Times,
    ) -> None:
        self._address = address
        self._pool = pool
        self._updates = updates
        self._times = times
        self._completed = time.monotonic()
        self._offset: int | None = None
        self._failed = 0
        self._contested = False

    @property
    def unreachable(self) -> bool:
        """Whether the last poll failed."""
        return self._failed > 0

    async def run(self) -> None:
        """Poll until cancelled. Raises InvalidToken if Telegram no longer accepts the token."""
        self._completed = time.monotonic()
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
            self._completed = time.monotonic()
            if self._failed:
                logger.info("Telegram is connected again; missed messages follow.")
            self._failed, self._contested = 0, False
            if batch:
                if (again := await self._updates.take(batch, backlog=backlog)) is not None:
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
        fields: dict[str, object] = {"timeout": hold, "allowed_updates": json.dumps(KINDS)}
        if self._offset is not None:
            fields["offset"] = self._offset
        async with asyncio.timeout(self._times.stall):
            found = await self._pool.post(
                f"{self._address}/getUpdates?{urlencode(fields)}", read_timeout=hold + self._times.answer
            )
        return found if isinstance(found, list) else []

    def _pause(self, error: Exception) -> float:
        """Return the seconds until the next attempt, after logging what is wrong."""
        pause = min(self._times.last_retry, self._times.first_retry * 2.0 ** min(self._failed, 16))
        self._failed += 1
        if isinstance(error, Flooded):
            pause = max(pause, error.seconds)
        if not isinstance(error, Conflict):
            logger.warning("Telegram cannot be reached (%s); next attempt in %.1f s.", errors.reason(error), pause)
        elif not self._contested:
            self._contested = True
            logger.error(_CONFLICT, errors.reason(error))
        return pause

    async def _revive(self) -> None:
        """Replace the connection if no poll has completed for too long: it may only look alive."""
        silent = time.monotonic() - self._completed
        if silent < self._times.stall:
            return
        logger.warning("Telegram has not answered a poll for %.0f s; reconnecting.", silent)
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._pool.shutdown()
        except (TimeoutError, OSError) as stuck:
            logger.info("The old connection did not close: %s", errors.reason(stuck))
        await self._pool.initialize()
        self._completed = time.monotonic()


HEADER: Final = "X-Telegram-Bot-Api-Secret-Token"
"""The header in which Telegram sends the secret (Bot API, setWebhook)."""
BODY_BYTES: Final = 1024 * 1024
"""Maximum bytes of one update; our choice. Real ones have a few kilobytes."""
CONNECTIONS: Final = 1
"""One update after the other (Bot API, setWebhook, max_connections): `/do` and `/cancel` keep their order."""
_STOP_SECONDS: Final = 2.0
"""Seconds that the listener waits for requests at its end; our choice."""


@dataclass(frozen=True, slots=True)
class Hook:
    """The public address to which Telegram posts (`url`), and the local address at which the reverse proxy finds this
    service.
    """

    url: str
    host: str
    port: int


class Webhook:
    """Receives updates through a webhook and keeps it registered with Telegram. Its secret is new at each start and
    kept only in memory.
    """

    def __init__(self, bot: telegram.Bot, hook: Hook, updates: Updates, times: Times) -> None:
        self._bot = bot
        self._hook = hook
        self._updates = updates
        self._times = times
        self._secret = secrets.token_urlsafe(32)
        self._registered = False
        self._backlog = True
        self._failed_at = 0.0
        self.unreachable = False
        """Whether Telegram did not answer when it was last asked."""

    async def run(self) -> None:
        """Receive updates until cancelled. Raises InvalidToken, and ChatError if the listener cannot start or Telegram
        refuses the address.

        The webhook stays registered at the end, so that Telegram keeps updates for the next start.
        """
        async with self._listening():
            pause = self._times.first_retry
            while True:
                try:
                    await self._register()
                except InvalidToken:
                    raise
                except BadRequest as refused:
                    reason = errors.reason(refused)
                    raise ChatError(f"Telegram does not take the address in TELEGRAM_WEBHOOK_URL: {reason}.") from None
                except (TelegramError, OSError) as away:
                    self.unreachable = True
                    wait = max(pause, away.seconds) if isinstance(away, Flooded) else pause
                    logger.warning(
                        "Telegram cannot be reached (%s); next attempt in %.1f s.", errors.reason(away), wait
                    )
                    await asyncio.sleep(wait)
                    pause = min(pause * 2, self._times.last_retry)
                    continue
                self.unreachable, pause = False, self._times.first_retry
                await asyncio.sleep(self._times.look)
                self._backlog = False

    async def _register(self) -> None:
        """Register the address with Telegram unless it is registered, and log delivery problems that Telegram reports.
        The first call always registers it, with a new secret.
        """
        info = await self._bot.get_webhook_info()
        if not self._registered or info.url != self._hook.url:
            if self._registered:
                logger.error(
                    "Another program removed the bot's webhook; it is set again. Check for a second running service."
                )
            else:
                self._backlog = info.pending_update_count > 0
            await self._bot.set_webhook(
                self._hook.url,
                secret_token=self._secret,
                max_connections=CONNECTIONS,
                allowed_updates=KINDS,
            )
            self._registered = True
            logger.info("Telegram: updates come to the webhook, here at %s:%d.", self._hook.host, self._hook.port)
            return
        failed = info.last_error_date.timestamp() if info.last_error_date is not None else 0.0
        if failed > self._failed_at:
            self._failed_at = failed
            logger.warning(
                "Telegram could not deliver to the webhook: %s. %d updates wait.",
                info.last_error_message,
                info.pending_update_count,
            )

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        app = web.Application(client_max_size=BODY_BYTES)
        app.router.add_post(urlsplit(self._hook.url).path or "/", self._receive)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=_STOP_SECONDS, handler_cancellation=True)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, self._hook.host, self._hook.port).start()
            except OSError as error:
                raise ChatError(
                    f"The webhook cannot listen at {self._hook.host}:{self._hook.port} ({error.strerror}). "
                    "Set TELEGRAM_WEBHOOK_HOST and TELEGRAM_WEBHOOK_PORT to what is free here."
                ) from None
            yield
        finally:
            await runner.cleanup()

    async def _receive(self, request: web.Request) -> web.Response:
        shown = request.headers.get(HEADER, "").encode(errors="replace")
        if not hmac.compare_digest(shown, self._secret.encode()):
            return web.Response(status=401)
        try:
            update = json.loads(await request.read())
        except (ValueError, RecursionError):
            return web.Response(status=400)
        if not isinstance(update, dict):
            return web.Response(status=400)
        # Answered once it has begun: until then Telegram would deliver it again.
        again = await self._updates.take([update], backlog=self._backlog)
        return web.Response(status=HTTPStatus.OK if again is None else HTTPStatus.SERVICE_UNAVAILABLE)


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
        self._background_tasks = BackgroundTasks()

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
            task = self._background_tasks.spawn(self._handle(raw, backlog))
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
        await self._background_tasks.close()

    async def _handle(self, raw: dict[str, Any], backlog: bool) -> bool:
        """Handle one update. Returns whether it was accepted; an update that cannot be parsed counts as accepted, so
        that it does not come again.
        """
        try:
            update = telegram.Update.de_json(raw, self._bot)
            message: Any = update.effective_message  # its types say that it has a chat, and it does not check that
            if message is not None and message.chat is None:
                raise KeyError("chat")
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
        if update.callback_query is not None:
            work = self._presses.handle(update.callback_query, self._bot, backlog=backlog)
        elif update.message is not None:
            work = self._messages.handle(update.message, self._bot)
        else:
            return True
        if await accepted(work, "Telegram", "update"):
            return True
        logger.info("An update from Telegram is not confirmed, so that it comes again: the record does not answer.")
        return False


def _is_of_album(raw: dict[str, Any]) -> bool:
    message = raw.get("message")
    return isinstance(message, dict) and "media_group_id" in message
