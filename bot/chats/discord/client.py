"""The discord.py client: events in, each to the part that handles it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import aiohttp
import discord

from bot.chats.connection import Working
from bot.chats.discord import limits
from bot.chats.discord.buttons import TaskButton, custom_id_of
from bot.chats.discord.incoming import Messages
from bot.chats.discord.interactions import Presses
from bot.chats.discord.places import PLATFORM, Channel
from bot.chats.discord.slash import SlashCommands
from bot.chats.last_look import last_look
from bot.domain.address import Address
from bot.domain.chat import ChatError, FloodWait, Record
from bot.texts import language_of, speaking
from devices.recent import Recent

REMEMBERED: Final = 4096
"""People whose language is kept in memory; ours."""

logger = logging.getLogger(__name__)

LoggedIn = Callable[["DiscordClient"], Awaitable[None]]
Lost = Callable[[Address], Awaitable[None]]


class Locales:
    """Remembers the language of each person's client since their last slash command or press."""

    def __init__(self) -> None:
        self._known: Recent[int, discord.Locale] = Recent(REMEMBERED)

    def of_interaction(self, interaction: discord.Interaction[Any]) -> discord.Locale:
        """The person's own."""
        self._known[interaction.user.id] = interaction.locale
        return interaction.locale

    def of_message(self, message: discord.Message) -> discord.Locale | None:
        """The person's own where it is known, else the server's; None in private."""
        server = message.guild.preferred_locale if message.guild is not None else None
        return self._known.get(message.author.id, server)


def intents(*, content: bool) -> discord.Intents:
    """What is asked of the gateway: no more than is used. Message content is the only privileged one."""
    wanted = discord.Intents.none()
    wanted.guilds = True
    wanted.guild_messages = True
    wanted.dm_messages = True
    wanted.message_content = content
    return wanted


class DiscordClient(discord.Client):
    """One connection to Discord. Keeps track of the work for each event, so that closing can cancel it."""

    def __init__(
        self,
        messages: Messages,
        slash: SlashCommands,
        presses: Presses,
        logged_in: LoggedIn,
        *,
        locales: Locales,
        content: bool,
        language: str,
        lost: Lost | None,
        record: Record,
    ) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # nothing here speaks
        super().__init__(
            intents=intents(content=content),
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=limits.RATE_LIMIT_SECONDS,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            http_trace=last_look(record),
        )
        self.presses = presses
        self._messages = messages
        self._slash = slash
        self._logged_in = logged_in
        self._locales = locales
        self._language = language
        self._lost = lost
        self._working = Working()
        self.online = False
        """Whether the gateway is connected."""

    async def setup_hook(self) -> None:
        """Called once by discord.py, after the login and before the connection."""
        self.add_dynamic_items(TaskButton)
        self._working.begin(self._look_for_locks(), name="locked threads")
        await self._logged_in(self)

    async def on_message(self, message: discord.Message) -> None:
        """A message appeared somewhere."""
        if self.user is not None:
            locale = self._locales.of_message(message)
            await self._work(self._heard(message, locale, self.user.id), "a message", locale)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """A slash command, an autocompletion, or a press of a button that no dynamic item knows."""
        locale = self._locales.of_interaction(interaction)
        if interaction.type is discord.InteractionType.application_command:
            await self._work(self._slash.handle(interaction), "a slash command", locale)
        elif interaction.type is discord.InteractionType.autocomplete:
            await self._work(self._slash.complete(interaction), "an autocompletion", locale)
        elif interaction.type is discord.InteractionType.component and not TaskButton.knows(custom_id_of(interaction)):
            await self.pressed(interaction)

    async def pressed(self, interaction: discord.Interaction[Any]) -> None:
        """A button was pressed."""
        await self._work(self.presses.handle(interaction), "a press", interaction.locale)

    async def on_raw_thread_update(self, told: discord.RawThreadUpdateEvent) -> None:
        """A thread was renamed, archived, locked. Who may not write there cannot answer; the bot may write on."""
        if told.data["thread_metadata"].get("locked"):
            await self._left(told.guild_id, told.parent_id, told.thread_id)

    async def on_raw_thread_delete(self, told: discord.RawThreadDeleteEvent) -> None:
        """Handle the deletion of a thread."""
        await self._left(told.guild_id, told.parent_id, told.thread_id)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """A channel is gone, and its threads with it."""
        await self._left(channel.guild.id, channel.id)

    async def on_connect(self) -> None:
        """The gateway is connected."""
        self.online = True

    async def on_disconnect(self) -> None:
        """The gateway is away; discord.py tries again by itself."""
        self.online = False

    async def on_resumed(self) -> None:
        """The connection was away and is back; what was missed follows."""
        self.online = True
        logger.info("Discord is connected again; missed messages follow.")

    async def close(self) -> None:
        """Cancel unfinished work, then close the connection."""
        await self._working.close()
        await super().close()

    async def _look_for_locks(self) -> None:
        """What was locked while the bot was away, once all servers are known; what was deleted, its card finds out."""
        # Not on_ready: discord.py raises the event late, and stumbles when it is closed by then.
        await self.wait_until_ready()
        for thread in [thread for guild in self.guilds for thread in guild.threads if thread.locked]:
            await self._left(thread.guild.id, thread.parent_id, thread.id)

    async def _left(self, guild: int, channel: int, thread: int = 0) -> None:
        if self._lost is not None and self.user is not None:
            await self._lost(Address(PLATFORM, str(self.user.id), str(channel), str(guild), str(thread or "")))

    async def _heard(self, message: discord.Message, locale: discord.Locale | None, bot: int) -> None:
        channel: Channel = message.channel
        if message.guild is None and not isinstance(channel, discord.DMChannel):
            logger.warning("A message was ignored because Discord has not announced its server yet.")
            return
        if isinstance(channel, discord.PartialMessageable):
            # A thread that was archived when this process started: access needs to know its channel.
            channel = await self.fetch_channel(channel.id)
        await self._messages.handle(message, channel, locale, bot)

    async def _work(self, work: Coroutine[Any, Any, None], what: str, locale: discord.Locale | None) -> None:
        """Do it in the language of whoever caused it."""
        with speaking(language_of(self._language, "" if locale is None else str(locale))):
            task = self._working.begin(work)
        try:
            await task
        except (ChatError, FloodWait) as refused:
            logger.warning("The answer to %s was not delivered: %s", what, refused)
        except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError) as refused:
            logger.warning("Discord did not take the answer to %s: %s", what, refused)
