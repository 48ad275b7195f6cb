"""Receives updates through a webhook: Telegram posts them to a public address that a reverse proxy forwards to this
listener.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

import telegram
from aiohttp import web
from telegram.error import BadRequest, InvalidToken, TelegramError

from bot.chats.telegram import errors
from bot.chats.telegram.limits import Times
from bot.chats.telegram.polling import Take
from bot.chats.telegram.requests import Flooded
from bot.domain.chat import ChatError

logger = logging.getLogger(__name__)

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

    def __init__(self, bot: telegram.Bot, hook: Hook, take: Take, kinds: Sequence[str], times: Times) -> None:
        self._bot = bot
        self._hook = hook
        self._take = take
        self._kinds = kinds
        self._times = times
        self._secret = secrets.token_urlsafe(32)
        self._told = False
        self._backlog = True
        self._failed_at = 0.0
        self.away = False
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
                    await self._tell()
                except InvalidToken:
                    raise
                except BadRequest as refused:
                    reason = errors.reason(refused)
                    raise ChatError(f"Telegram does not take the address in TELEGRAM_WEBHOOK_URL: {reason}.") from None
                except (TelegramError, OSError) as away:
                    self.away = True
                    wait = max(pause, away.seconds) if isinstance(away, Flooded) else pause
                    logger.warning(
                        "Telegram cannot be reached (%s); next attempt in %.1f s.", errors.reason(away), wait
                    )
                    await asyncio.sleep(wait)
                    pause = min(pause * 2, self._times.last_retry)
                    continue
                self.away, pause = False, self._times.first_retry
                await asyncio.sleep(self._times.look)
                self._backlog = False

    async def _tell(self) -> None:
        """Register the address with Telegram unless it is registered, and log delivery problems that Telegram reports.
        The first call always registers it, with a new secret.
        """
        info = await self._bot.get_webhook_info()
        if not self._told or info.url != self._hook.url:
            if self._told:
                logger.error(
                    "Another program removed the bot's webhook; it is set again. Check for a second running service."
                )
            else:
                self._backlog = info.pending_update_count > 0
            await self._bot.set_webhook(
                self._hook.url,
                secret_token=self._secret,
                max_connections=CONNECTIONS,
                allowed_updates=list(self._kinds),
            )
            self._told = True
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
        app.router.add_post(urlsplit(self._hook.url).path or "/", self._came)
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

    async def _came(self, request: web.Request) -> web.Response:
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
        again = await self._take([update], backlog=self._backlog)
        return web.Response(status=HTTPStatus.OK if again is None else HTTPStatus.SERVICE_UNAVAILABLE)
