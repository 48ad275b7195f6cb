"""The Telegram chat: keeps the connection open and implements the `Chat` interface that the outbox (the sender of
messages to chats) uses.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import telegram
from telegram.error import BadRequest, InvalidToken, TelegramError

from bot.chats.connection import LOGIN_SECONDS, BackgroundTasks, Connection
from bot.chats.fetching import IsAllowed
from bot.chats.telegram import errors, limits
from bot.chats.telegram.incoming import Albums, Messages, Presses
from bot.chats.telegram.limits import API, Times
from bot.chats.telegram.menu import Audiences, Menus
from bot.chats.telegram.places import PLATFORM
from bot.chats.telegram.requests import Flooded, polling_pool, sending_pool
from bot.chats.telegram.sending import FloodLimits, Online, Sender
from bot.chats.telegram.updates import Hook, Polling, Updates, Webhook, without_webhook
from bot.commands.spec import COMMANDS, CommandSpec
from bot.domain.address import Address, MessageRef
from bot.domain.chat import ChatError, FloodWait, Intake, OwnRecord, Record
from bot.domain.outgoing import Message
from bot.texts import say

logger = logging.getLogger(__name__)

_CLOSE_SECONDS: Final = 5.0
"""Seconds that connections may take to close; our choice."""

_SHAPE: Final = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")
"""The form of a token (Bot API, Authorizing your bot); anything else would make every request's address invalid."""

_REFUSED: Final = (
    "Telegram does not accept the bot token, so Telegram is off. Copy the token again from @BotFather into "
    "TELEGRAM_BOT_TOKEN and restart."
)
_REFUSED_ELSEWHERE: Final = " It was asked at TELEGRAM_BASE_URL: check that address too."

_SUPERGROUP: Final = "-100"
"""Prefix of the ids of supergroups (Bot API, Dialog IDs); only they have topics."""


class TelegramChat(Connection[telegram.Bot, Sender]):
    """The bot's account on Telegram; implements `bot.domain.chat.Chat`.

    `base_url` is the root of another Bot API server, such as "http://127.0.0.1:8081" (TELEGRAM_BASE_URL). `hook` is the
    webhook to which Telegram posts updates; without it they are polled for. `welcome` decides whose attached files are
    downloaded; by default everybody's. `audiences` returns who sees a menu of commands, and `directory` stores which
    menus Telegram was given. `language` is a language of the text catalogue, or "auto" for each person's own. `moved`
    is called when a group has become a supergroup, with its old address and the new id; it may be called more than
    once. `clock` returns seconds and is used for flood limits.
    """

    platform = PLATFORM
    capabilities = limits.CAPABILITIES

    def __init__(
        self,
        token: str,
        intake: Intake,
        *,
        commands: Sequence[CommandSpec] = COMMANDS,
        base_url: str = "",
        language: str = "auto",
        hook: Hook | None = None,
        audiences: Audiences = tuple,
        directory: Path | None = None,
        welcome: IsAllowed = lambda _person, _place: True,
        moved: Callable[[Address, str], Awaitable[None]] | None = None,
        times: Times | None = None,
        clock: Callable[[], float] = time.monotonic,
        record: Record | None = None,
    ) -> None:
        super().__init__("Telegram")
        self._token = token
        self._root = base_url.rstrip("/") or API
        self._language = language
        self._hook = hook
        self._times = times or Times()
        self._record = record or OwnRecord()
        self._menus = Menus(commands, audiences, directory, self._times.menus)
        self._source: Polling | Webhook | None = None
        self._on_moved = moved
        silence = FloodLimits(clock, self._handle_move)
        self._sender = Sender(self.logged_in, silence)
        self._topics = Topics(self.logged_in, silence, clock)
        names = {command.name for command in commands}
        albums = Albums(self._times.album)

        def ours(chat: str) -> bool:
            return any(one.chat == chat for one in audiences())

        self._messages = Messages(intake, self._sender, names, welcome, self._handle_move, albums, ours)
        self._presses = Presses(intake, self._sender, self._times.press)

    @property
    def online(self) -> bool:
        """Whether Telegram can be reached."""
        return self._online.is_set() and (self._source is None or not self._source.unreachable)

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        """Open a topic for a task and return it; a reply to message `anchor` links to it. If no topic can be opened,
        return `origin`; the first message there then replies to `anchor`.

        Without `anchor`, the task was not started by a message. A topic at `origin` is then reopened first, because the
        topics of finished tasks are closed.
        """
        if origin.thread and not anchor:
            await self._topics.reopen(origin)
        place = await self._topics.open(origin, title)
        if anchor and place == origin:
            self._sender.anchor(origin, anchor)
        elif anchor:
            link = f"https://t.me/c/{place.chat.removeprefix(_SUPERGROUP)}/{place.thread}"
            told = Message(body=say("telegram.topic", link=link), reply_to=MessageRef(origin, anchor))
            try:
                await self._sender.send(origin, told, nonce=f"topic:{place.chat}:{place.thread}")
            except (ChatError, FloodWait) as refused:
                logger.info("Where the task goes on is told in its topic alone: %s", refused)
        return place

    async def close_place(self, place: Address) -> None:
        """Close the task's topic. People can still read it, and its buttons still work."""
        if place.thread:
            await self._topics.close(place)

    async def _handle_move(self, old: str, new: str) -> None:
        bot = await self.logged_in()
        if self._on_moved is not None:
            await self._on_moved(Address(PLATFORM, str(bot.id), old), new)

    async def _stay(self) -> None:
        if not _SHAPE.fullmatch(self._token):
            raise ChatError(_REFUSED)
        pool = polling_pool(self._record)
        bot = telegram.Bot(
            self._token,
            base_url=f"{self._root}/bot",
            base_file_url=f"{self._root}/file/bot",
            request=sending_pool(self._record),
            get_updates_request=pool,
        )
        try:
            await self._log_in(bot)
            updates = Updates(bot, self._messages, self._presses, self._language, self._record)
            beside = BackgroundTasks()
            beside.spawn(self._menus.keep(bot))
            try:
                if self._hook is not None:
                    self._source = Webhook(bot, self._hook, updates, self._times)
                else:
                    await without_webhook(bot)
                    self._source = Polling(bot.base_url, pool, updates, self._times)
                await self._source.run()
            finally:
                await beside.close()
                await updates.close()
        except InvalidToken:
            raise ChatError(_REFUSED + (_REFUSED_ELSEWHERE if self._root != API else "")) from None
        finally:
            self._online.clear()
            self._client = self._source = None
            await _shut(bot)

    async def _log_in(self, bot: telegram.Bot) -> None:
        """Log in, repeatedly while Telegram is unreachable. Raises InvalidToken."""
        pause = self._times.first_retry
        while True:
            try:
                async with asyncio.timeout(LOGIN_SECONDS):
                    await bot.initialize()
            except InvalidToken:
                raise
            except (TelegramError, OSError, TimeoutError) as away:
                wait = max(pause, away.seconds) if isinstance(away, Flooded) else pause
                logger.warning("Telegram cannot be reached (%s); next attempt in %.1f s.", errors.reason(away), wait)
                await asyncio.sleep(wait)
                pause = min(pause * 2, self._times.last_retry)
            else:
                break
        self._client = bot
        self._online.set()
        logger.info("Telegram: logged in as @%s.", bot.username)


async def _shut(bot: telegram.Bot) -> None:
    try:
        async with asyncio.timeout(_CLOSE_SECONDS):
            await bot.shutdown()
    except (TelegramError, TimeoutError, OSError) as stuck:
        logger.info("The connections to Telegram did not close: %s", errors.reason(stuck))


class Topics:
    """Opens and closes forum topics: a task from the General topic gets a topic of its own, if the bot may
    create one.
    """

    def __init__(self, online: Online, flood_limits: FloodLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._online = online
        self._flood_limits = flood_limits
        self._clock = clock
        self._none: dict[str, float] = {}
        """Until when it is taken for granted that there are no topics in a chat, or none of ours."""

    async def open(self, origin: Address, title: str) -> Address:
        """Create a topic and return its place; return `origin` if the chat has no topics, `origin` is a topic itself,
        or none can be created. Raises FloodWait, and ChatError while there is no login.
        """
        if origin.thread or not origin.chat.startswith(_SUPERGROUP):
            return origin
        if self._clock() < self._none.get(origin.chat, float("-inf")):
            return origin
        bot = await self._online()
        try:
            async with self._flood_limits.guard(origin.chat, "a topic for the task"):
                chat = await bot.get_chat(int(origin.chat))
                if chat.is_forum:
                    topic = await bot.create_forum_topic(int(origin.chat), title[: limits.TOPIC_NAME])
                    return replace(origin, thread=str(topic.message_thread_id))
        except ChatError as refused:
            logger.info("A task gets no topic of its own: %s Let the bot manage topics for that.", refused)
        self._none[origin.chat] = self._clock() + limits.NO_TOPICS_SECONDS
        return origin

    async def reopen(self, place: Address) -> None:
        """Reopen the topic of a task that begins, so that people can answer there. Raises FloodWait."""
        bot = await self._online()
        try:
            async with self._flood_limits.guard(place.chat, "the topic"):
                await bot.reopen_forum_topic(int(place.chat), int(place.thread))
        except ChatError as refused:
            logger.debug("A topic stays as it is: %s", refused)  # most are open, or not the bot's to open

    async def close(self, place: Address) -> None:
        """Close a topic, so that people can no longer write there; its messages stay. Raises FloodWait or ChatError."""
        bot = await self._online()
        async with self._flood_limits.guard(place.chat, "the end of the topic"):
            try:
                await bot.close_forum_topic(int(place.chat), int(place.thread))
            except BadRequest as refused:
                if not errors.says(refused, errors.CLOSED_ALREADY):
                    raise
