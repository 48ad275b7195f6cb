"""The Discord chat: keeps the connection open and implements the `Chat` interface that the outbox (the sender of
messages to chats) uses.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import aiohttp
import discord

from bot.chats.connection import Connection
from bot.chats.discord import errors, limits
from bot.chats.discord.client import DiscordClient, Locales
from bot.chats.discord.hosts import Fetcher, ask_for_gateway, endpoints
from bot.chats.discord.incoming import Messages
from bot.chats.discord.interactions import CommandSync, Presses, SlashCommands, payload
from bot.chats.discord.permissions import PermissionReports, Permissions
from bot.chats.discord.places import PLATFORM, channel_id, roles_of
from bot.chats.discord.sending import Online, Sender
from bot.chats.fetching import IsAllowed
from bot.chats.plain_text import cut, size
from bot.commands.spec import COMMANDS, CommandSpec
from bot.domain.address import Address
from bot.domain.chat import ChatError, ChatGone, Intake, OwnRecord, Record

logger = logging.getLogger(__name__)

FIRST_RETRY_SECONDS: Final = 5.0
LAST_RETRY_SECONDS: Final = 300.0
"""Pauses between attempts to log in while Discord cannot be reached; our choice."""

_CANCEL_SECONDS: Final = 0.5
_FAREWELL_SECONDS: Final = 40.0
"""Seconds that closing the connection may take; discord.py itself waits up to 30 s for the gateway."""

_AUTHENTICATION_FAILED: Final = 4004
"""Gateway close code (developer docs, Opcodes and Status Codes)."""

_REFUSED: Final = (
    "Discord does not accept the bot token, so Discord is off. Copy the token again from the Bot page of "
    "https://discord.com/developers/applications into DISCORD_BOT_TOKEN and restart."
)
_NO_CONTENT: Final = (
    "Discord refuses the Message Content intent, so commands with the prefix %s DO NOT WORK in servers. "
    "Slash commands, private messages and messages that mention the bot work. To get the prefix, switch on Message "
    "Content Intent on the Bot page of https://discord.com/developers/applications and restart."
)


_AWAY: Final = (
    discord.HTTPException,
    discord.GatewayNotFound,
    discord.RateLimited,
    aiohttp.ClientError,
    OSError,
    TimeoutError,
)

_EMOJI_JOINERS = " \u200d\ufe0f"
"""Characters that join the parts of an emoji. At the end of a text they have no meaning."""


class DiscordChat(Connection[DiscordClient, Sender]):
    """The bot's account on Discord; implements `bot.domain.chat.Chat`.

    `guild_ids` are the servers in which slash commands are registered. `welcome` decides whose attached files are
    downloaded; by default everybody's. `lost` is called for places where nobody can be reached any more: deleted or
    locked threads and deleted channels; it may be called more than once. `language` is a language of the text
    catalogue, or "auto" for each person's own. `state_directory` stores which commands were registered and which
    notices were sent.

    `api_base` (such as "http://127.0.0.1:8080/api/v10") is the address of a proxy in front of Discord, see `endpoints`;
    the gateway's address is then asked for there, unless `gateway` gives it. Without the Message Content intent the
    chat stays connected and reports what does not work.
    """

    platform = PLATFORM
    capabilities = limits.CAPABILITIES

    def __init__(
        self,
        token: str,
        intake: Intake,
        *,
        prefix: str = "!opengui",
        client_id: str = "",
        guild_ids: Sequence[str] = (),
        register_commands: bool = False,
        state_directory: Path | None = None,
        commands: Sequence[CommandSpec] = COMMANDS,
        welcome: IsAllowed = lambda _person, _place: True,
        language: str = "auto",
        lost: Callable[[Address], Awaitable[None]] | None = None,
        api_base: str | None = None,
        gateway: str | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__("Discord")
        self._token = token
        self._prefix = prefix
        self._api_base = api_base
        self._gateway = gateway
        self._language = language
        self._locales = Locales()
        self._group = payload(commands, language)
        self._sync = None
        if register_commands:
            if state_directory is None:
                raise ValueError("registering slash commands needs a state_directory to remember what was registered")
            self._sync = CommandSync(state_directory, guild_ids, client_id)
        permissions, fetcher = Permissions(), Fetcher(welcome, api_base)
        self._permission_reports = PermissionReports(permissions, state_directory)
        self._sender = Sender(self.logged_in, permissions, self._permission_reports)
        self._threads = Threads(self.logged_in, permissions, self._starter)
        self._messages = Messages(intake, prefix, fetcher, self._sender)
        self._slash = SlashCommands(intake, commands, fetcher)
        self._presses = Presses(intake, permissions)
        self._on_lost = lost
        self._record = record or OwnRecord()

    @property
    def online(self) -> bool:
        """Whether the gateway (Discord's WebSocket for events) is connected."""
        return self._online.is_set() and self._client is not None and self._client.online

    async def run(self) -> None:
        """Stay connected until cancelled or closed; see `Connection.run`."""
        with endpoints(self._api_base, self._gateway):
            await super().run()

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:
        """Open a thread for a task and return it; return `origin` if none can be made. See `Chat.open_place`."""
        return await self._threads.open(origin, anchor, title)

    async def close_place(self, place: Address) -> None:
        """Archive the thread of a finished task, if it has one."""
        await self._threads.close(place)

    async def roles_of(self, person: str, guild: str) -> frozenset[str]:
        """Return the person's current roles on a server, as `guild/role`; empty if they have left it."""
        return await roles_of(await self.logged_in(), person, guild)

    async def _stay(self) -> None:
        try:
            await self._run_client(content=True)
        except discord.PrivilegedIntentsRequired:
            self._permission_reports.prefix_unread = self._prefix
            logger.error(_NO_CONTENT, self._prefix)  # noqa: TRY400 - expected; a traceback would hide the sentence
            await self._run_client(content=False)

    async def _run_client(self, *, content: bool) -> None:
        """Log in, repeatedly while Discord is unreachable, and stay until the connection ends for good."""
        pause = FIRST_RETRY_SECONDS
        while True:
            client = DiscordClient(
                self._messages,
                self._slash,
                self._presses,
                self._ready,
                locales=self._locales,
                content=content,
                language=self._language,
                lost=self._on_lost,
                record=self._record,
            )
            self._client = client
            try:
                async with client:
                    await client.start(self._token)
            except discord.LoginFailure:
                raise ChatError(_REFUSED) from None
            except discord.ConnectionClosed as closed:
                if closed.code == _AUTHENTICATION_FAILED:
                    raise ChatError(_REFUSED) from None
                raise ChatError(f"Discord closed the connection for good (code {closed.code}).") from closed
            except _AWAY as away:
                logger.warning("Discord cannot be reached (%s); next attempt in %.0f s.", away, pause)
            else:
                return
            finally:
                self._online.clear()
                self._client = None
            await asyncio.sleep(pause)
            pause = min(pause * 2, LAST_RETRY_SECONDS)

    async def _end(self, work: asyncio.Future[None]) -> None:
        """Cancel `work` and wait for its end.

        In Python 3.11 `asyncio.wait_for`, with which discord.py connects, loses a cancellation that arrives at the
        moment when its work is done. Closing the client ends that as well; cancelling again would interrupt the
        closing.
        """
        work.cancel()
        await asyncio.wait({work}, timeout=_CANCEL_SECONDS)
        if not work.done() and self._client is not None:
            await self._client.close()
        await asyncio.wait({work}, timeout=_FAREWELL_SECONDS)

    async def _ready(self, client: DiscordClient) -> None:
        if self._api_base is not None and self._gateway is None:
            await ask_for_gateway(client.http)
        if self._sync is not None:
            await self._sync.run(client, self._group)
        self._online.set()
        logger.info("Discord: logged in as %s.", client.user)


class Threads:
    """Opens and closes a Discord thread for each task."""

    def __init__(
        self, online: Online, permissions: Permissions, starter: Callable[[Address, str], Awaitable[str]]
    ) -> None:
        """`starter` sends a message with a title, on which a thread can begin, and returns its id."""
        self._online = online
        self._permissions = permissions
        self._starter = starter

    async def open(self, origin: Address, anchor: str | None, title: str) -> Address:
        """Open a thread and return its address. It begins on message `anchor`; without one (after a slash command) on a
        new message with the title.

        It begins on no message if the bot may not read the channel's history or, without `anchor`, may not write to the
        channel. Returns `origin` in private chats, in threads, and where no thread can be opened; if Discord refuses
        it, that is logged. Raises ChatError if the channel cannot be looked up or the new message cannot be sent, and
        FloodWait.
        """
        if not origin.guild or origin.thread:
            return origin
        client = await self._online()
        async with errors.translated("a look at the channel"):
            channel = client.get_channel(int(origin.chat)) or await client.fetch_channel(int(origin.chat))
        abilities = self._permissions.abilities(channel)
        if not isinstance(channel, discord.TextChannel) or not abilities.threads:
            return origin
        starter = (anchor or "") if abilities.history else ""
        if not starter and abilities.writes and abilities.history:
            starter = await self._starter(origin, title)
        try:
            thread = await self._begin(channel, int(starter or 0), thread_name(title))
        except ChatError as refused:
            logger.warning(
                "A task in channel %s gets no thread, so its messages go to the channel itself: %s", origin, refused
            )
            return origin
        return Address(origin.platform, origin.account, origin.chat, origin.guild, str(thread))

    async def close(self, place: Address) -> None:
        """Archive the thread if the bot began it; other threads stay open."""
        if not place.thread:
            return
        client = await self._online()
        try:
            async with errors.translated("the archiving of the thread"):
                number = channel_id(place)
                thread = client.get_channel(number) or await client.fetch_channel(number)
                mine = isinstance(thread, discord.Thread) and client.user and thread.owner_id == client.user.id
                if isinstance(thread, discord.Thread) and mine and not thread.archived:
                    await thread.edit(archived=True)
        except ChatGone as gone:
            logger.info("The thread of a finished task was not archived: %s", gone)

    async def _begin(self, channel: discord.TextChannel, message: int, name: str) -> int:
        """Create a thread on the message, or on none if `message` is 0, and return its id."""
        kind = discord.ChannelType.news_thread if channel.is_news() else discord.ChannelType.public_thread
        idle: Final = limits.THREAD_IDLE_MINUTES
        async with errors.translated("a thread", needs="Create Public Threads"):
            try:
                if message:
                    above = channel.get_partial_message(message)
                    thread = await above.create_thread(name=name, auto_archive_duration=idle)
                else:
                    thread = await channel.create_thread(name=name, type=kind, auto_archive_duration=idle)
            except discord.HTTPException as refused:
                if refused.code == errors.MISSING_PERMISSIONS:
                    self._permissions.refused(channel, "create_public_threads")
                if refused.code != errors.THREAD_EXISTS or not message:
                    raise
                return message  # a thread has the id of the message that it was begun on
        return thread.id


def thread_name(title: str) -> str:
    """Return the title on one line, cut to Discord's limit for thread names. Never empty; emoji are not cut
    in halves.
    """
    line = " ".join(title.split()) or "task"
    short = cut(line, limits.THREAD_NAME - 1).rstrip(_EMOJI_JOINERS)
    return line if size(line) <= limits.THREAD_NAME else f"{short}…"
