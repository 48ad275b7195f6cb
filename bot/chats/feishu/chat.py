"""The Feishu chat: keeps the connection open and implements what the outbox (the sender of messages to chats) needs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import aiohttp

from bot.chats.connection import Connection
from bot.chats.feishu import limits
from bot.chats.feishu.api import Api, Unusable
from bot.chats.feishu.cards import PLATFORM
from bot.chats.feishu.incoming import App, Events
from bot.chats.feishu.limits import Times
from bot.chats.feishu.sending import Sender, refusals
from bot.chats.fetching import IsAllowed
from bot.chats.sending import ownership_trace
from bot.commands.spec import COMMANDS, CommandSpec
from bot.domain.address import Address, on_one_line
from bot.domain.chat import ChatError, FloodWait, Intake, OwnRecord, Record
from bot.texts import words

logger = logging.getLogger(__name__)


async def _nothing(_place: Address) -> None:
    """Ignore a lost place."""


class FeishuChat(Connection[Api, Sender]):
    """The bot of a Feishu or Lark app, as a chat (`bot.domain.chat.Chat`).

    `root` is the address of the API, such as "https://open.feishu.cn". `tenants` are companies whose people are heard
    in addition to the app's own. `locale` is used for people who have set none, because Feishu does not report it.
    `welcome` decides whose attached files are downloaded; `lost` is called for places that can no longer be reached.
    """

    platform = PLATFORM
    capabilities = limits.CAPABILITIES

    def __init__(
        self,
        app: str,
        secret: str,
        intake: Intake,
        *,
        root: str,
        tenants: Sequence[str] = (),
        language: str = "auto",
        locale: str = "zh-CN",
        commands: Sequence[CommandSpec] = COMMANDS,
        welcome: IsAllowed = lambda _person, _place: True,
        lost: Callable[[Address], Awaitable[None]] = _nothing,
        times: Times | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__("Feishu")
        self._secret, self._root, self._intake = secret, root.rstrip("/"), intake
        self._app = App(app, "", "", locale, frozenset(tenants))
        self._names = {command.name for command in commands}
        self._language, self._welcome, self._lost = language, welcome, lost
        self._times = times or Times()
        self._record = record or OwnRecord()
        self._sender = Sender(self.logged_in)
        self._connected: Callable[[], bool] = lambda: False

    @property
    def online(self) -> bool:
        """Whether the long connection is open."""
        return self._connected()

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        """Open a thread for a task; see `Connection.open_place`. Feishu creates it with its first reply. In a private
        chat, the first message is a reply to `anchor` instead.
        """
        if anchor and not (origin.guild or origin.thread):
            self._sender.anchor(origin, anchor)
        return await super().open_place(origin, anchor, title)

    async def _stay(self) -> None:
        if not self._app.id:
            raise Unusable(words("feishu.app_id"))
        from bot.chats.feishu.connection import LongConnection  # noqa: PLC0415 - loads what only the extra brings

        async with aiohttp.ClientSession(trace_configs=[ownership_trace(self._record)]) as session:
            api = Api(session, self._root, self._app.id, self._secret)
            app = await self._log_in(api)
            events = Events(
                api,
                app,
                self._intake,
                self._sender,
                self._names,
                self._language,
                self._welcome,
                self._lost,
                self._times,
                self._record,
            )
            connection = LongConnection(api, events.take, self._times)
            self._client, self._connected = api, lambda: connection.connected
            self._online.set()
            logger.info("Feishu: logged in as %s.", app.name)
            try:
                await connection.run()
            finally:
                self._online.clear()
                self._client = None
                await events.close()

    async def _log_in(self, api: Api) -> App:
        """Return the bot's identity, retrying while Feishu is unreachable. Raises ChatError if the app is refused."""
        pause = self._times.first_retry
        while True:
            try:
                return await self._who(api)
            except Unusable:
                raise
            except (ChatError, FloodWait) as away:
                wait = max(pause, away.seconds) if isinstance(away, FloodWait) else pause
                logger.warning("Feishu cannot be reached (%s); next attempt in %.1f s.", away, wait)
            await asyncio.sleep(wait)
            pause = min(pause * 2, self._times.last_retry)

    async def _who(self, api: Api) -> App:
        async with refusals("connect"):
            answer = await api.call("GET", "bot/v3/info")
        bot = answer.get("bot")
        if not isinstance(bot, dict) or not bot.get("open_id"):
            raise Unusable(words("feishu.no_bot"))
        return replace(self._app, bot=str(bot["open_id"]), name=on_one_line(str(bot.get("app_name", "")))[:64])
