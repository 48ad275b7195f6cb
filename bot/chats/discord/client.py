"""The discord.py client, which passes each event to the component that handles it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import aiohttp
import discord

from bot.chats.connection import BackgroundTasks
from bot.chats.discord import limits
from bot.chats.discord.formatting import TaskButton, custom_id_of
from bot.chats.discord.incoming import Messages
from bot.chats.discord.interactions import Presses, SlashCommands
from bot.chats.discord.places import PLATFORM, Channel
from bot.chats.sending import ownership_trace
from bot.domain.address import Address
from bot.domain.chat import ChatError, FloodWait, Record
from bot.texts import language_of, speaking
from devices.recent import Recent

REMEMBERED: Final = 4096
"""Maximum people whose language is kept in memory; our choice."""

logger = logging.getLogger(__name__)


class Locales:
    """Remembers the language of each person's Discord client from their latest slash command or press."""

    def __init__(self) -> None:
        self._known: Recent[int, discord.Locale] = Recent(REMEMBERED)

    def of_interaction(self, interaction: discord.Interaction[Any]) -> discord.Locale:
        """Return the language of the person's client, and remember it."""
        self._known[interaction.user.id] = interaction.locale
        return interaction.locale

    def of_message(self, message: discord.Message) -> discord.Locale | None:
        """Return the author's remembered language, else the server's; None if it is unknown in a private chat."""
        server = message.guild.preferred_locale if message.guild is not None else None
        return self._known.get(message.author.id, server)


def intents(*, content: bool) -> discord.Intents:
    """Return the gateway intents (the kinds of events) that the bot uses, and no others. `content` adds the text of
    messages, the only privileged intent.
    """
    wanted = discord.Intents.none()
    wanted.guilds = True
    wanted.guild_messages = True
    wanted.dm_messages = True
    wanted.message_content = content
    return wanted


class DiscordClient(discord.Client):
    """One connection to Discord. It tracks the work for each event, so that closing can cancel it."""

    def __init__(
        self,
        messages: Messages,
        slash: SlashCommands,
        presses: Presses,
        logged_in: Callable[[DiscordClient], Awaitable[None]],
        *,
        locales: Locales,
        content: bool,
        language: str,
        lost: Callable[[Address], Awaitable[None]] | None,
        record: Record,
    ) -> None:
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # voice is never used
        super().__init__(
            intents=intents(content=content),
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=limits.RATE_LIMIT_SECONDS,
            member_cache_flags=discord.MemberCacheFlags.none(),
            max_messages=None,
            chunk_guilds_at_startup=False,
            http_trace=ownership_trace(record),
        )
        self.presses = presses
        self._messages = messages
        self._slash = slash
        self._logged_in = logged_in
        self._locales = locales
        self._language = language
        self._on_lost = lost
        self._background_tasks = BackgroundTasks()
        self.online = False
        """Whether the gateway is connected."""

    async def setup_hook(self) -> None:
        """Register the buttons and begin the background work. Called once by discord.py, after the login and before the
        connection.
        """
        self.add_dynamic_items(TaskButton)
        self._background_tasks.spawn(self._look_for_locks(), name="locked threads")
        await self._logged_in(self)

    async def on_message(self, message: discord.Message) -> None:
        """Handle a new message."""
        if self.user is not None:
            locale = self._locales.of_message(message)
            await self._work(self._handle_message(message, locale, self.user.id), "a message", locale)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Handle a slash command, an autocompletion, or a press of a menu or of a button that `TaskButton` does not
        know.
        """
        locale = self._locales.of_interaction(interaction)
        if interaction.type is discord.InteractionType.application_command:
            await self._work(self._slash.handle(interaction), "a slash command", locale)
        elif interaction.type is discord.InteractionType.autocomplete:
            await self._work(self._slash.complete(interaction), "an autocompletion", locale)
        elif interaction.type is discord.InteractionType.component and not TaskButton.knows(custom_id_of(interaction)):
            await self.pressed(interaction)

    async def pressed(self, interaction: discord.Interaction[Any]) -> None:
        """Handle a pressed button or menu."""
        await self._work(self.presses.handle(interaction), "a press", interaction.locale)

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        """Handle a changed thread. A locked one counts as lost: people can no longer answer there, although the bot can
        write.
        """
        if event.data["thread_metadata"].get("locked"):
            await self._report_lost(event.guild_id, event.parent_id, event.thread_id)

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """Handle the deletion of a thread."""
        await self._report_lost(event.guild_id, event.parent_id, event.thread_id)

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        """Handle the deletion of a channel, with its threads."""
        await self._report_lost(channel.guild.id, channel.id)

    async def on_connect(self) -> None:
        """Record that the gateway is connected."""
        self.online = True

    async def on_disconnect(self) -> None:
        """Record that the gateway is disconnected; discord.py reconnects by itself."""
        self.online = False

    async def on_resumed(self) -> None:
        """Record that the connection is back; Discord then sends the missed events."""
        self.online = True
        logger.info("Discord is connected again; missed messages follow.")

    async def close(self) -> None:
        """Cancel unfinished work, then close the connection."""
        await self._background_tasks.close()
        await super().close()

    async def _look_for_locks(self) -> None:
        """Once all servers are known, find the threads that were locked while the bot was away. Threads that were
        deleted are found when their card is next edited.
        """
        # Not on_ready: discord.py raises the event late, and stumbles when it is closed by then.
        await self.wait_until_ready()
        for thread in [thread for guild in self.guilds for thread in guild.threads if thread.locked]:
            await self._report_lost(thread.guild.id, thread.parent_id, thread.id)

    async def _report_lost(self, guild: int, channel: int, thread: int = 0) -> None:
        if self._on_lost is not None and self.user is not None:
            await self._on_lost(Address(PLATFORM, str(self.user.id), str(channel), str(guild), str(thread or "")))

    async def _handle_message(self, message: discord.Message, locale: discord.Locale | None, bot: int) -> None:
        channel: Channel = message.channel
        if message.guild is None and not isinstance(channel, discord.DMChannel):
            logger.warning("A message was ignored because Discord has not announced its server yet.")
            return
        if isinstance(channel, discord.PartialMessageable):
            # A thread that was archived when this process started: access needs to know its channel.
            channel = await self.fetch_channel(channel.id)
        await self._messages.handle(message, channel, locale, bot)

    async def _work(self, work: Coroutine[Any, Any, None], what: str, locale: discord.Locale | None) -> None:
        """Do the work in the language that is set or, with "auto", that of the person who caused it. Errors of Discord
        and of the network are only logged.
        """
        with speaking(language_of(self._language, "" if locale is None else str(locale))):
            task = self._background_tasks.spawn(work)
        try:
            await task
        except (ChatError, FloodWait) as refused:
            logger.warning("The answer to %s was not delivered: %s", what, refused)
        except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError) as refused:
            logger.warning("Discord did not take the answer to %s: %s", what, refused)
