"""A thread for each task."""

from __future__ import annotations

import logging
import secrets

import discord

from bot.chats.discord import errors, limits
from bot.chats.discord.formatting import size
from bot.chats.discord.permissions import Permissions
from bot.chats.discord.places import channel_id
from bot.chats.discord.sending import Online, Sender
from bot.domain.address import Address
from bot.domain.chat import ChatError, ChatGone
from bot.domain.outgoing import Message

_JOINERS = " \u200d\ufe0f"
"""What leads to the next part of an emoji, or follows it; worth nothing at an end."""

logger = logging.getLogger(__name__)


class Threads:
    """Opens and closes the place of a task."""

    def __init__(self, online: Online, permissions: Permissions, sender: Sender) -> None:
        self._online = online
        self._permissions = permissions
        self._sender = sender

    async def open(self, origin: Address, anchor: str | None, title: str) -> Address:
        """A thread on message `anchor`, or on a new message with the title when there is none (a slash command).

        On no message where the bot may not write to the channel, or not read its history.
        The origin itself in private chats, in threads, and wherever Discord allows no thread; the log says why.
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
            note = Message(heading=title)
            sent = await self._sender.send(origin, note, nonce=f"starter:{secrets.token_hex(8)}")
            starter = sent.message
        try:
            thread = await self._begin(channel, int(starter or 0), thread_name(title))
        except ChatError as refused:
            logger.warning("Task without a thread in channel %s, it goes to the channel itself: %s", origin, refused)
            return origin
        return Address(origin.platform, origin.account, origin.chat, origin.guild, str(thread))

    async def close(self, place: Address) -> None:
        """Archive the thread, if it is one that the bot began. Somebody else's thread stays open."""
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
        """A thread on the message, or (0) on none."""
        async with errors.translated("a thread", needs="Create Public Threads"):
            try:
                thread = await (
                    channel.get_partial_message(message).create_thread(
                        name=name, auto_archive_duration=limits.THREAD_IDLE_MINUTES
                    )
                    if message
                    else channel.create_thread(
                        name=name,
                        type=discord.ChannelType.news_thread
                        if channel.is_news()
                        else discord.ChannelType.public_thread,
                        auto_archive_duration=limits.THREAD_IDLE_MINUTES,
                    )
                )
            except discord.HTTPException as refused:
                if refused.code == errors.MISSING_PERMISSIONS:
                    self._permissions.refused(channel, "create_public_threads")
                if refused.code != errors.THREAD_EXISTS or not message:
                    raise
                return message  # a thread has the id of the message that it was begun on
        return thread.id


def thread_name(title: str) -> str:
    """The title on one line, cut to what a thread's name may have; never empty, and no emoji in halves."""
    line = " ".join(title.split()) or "task"
    if size(line) <= limits.THREAD_NAME:
        return line
    while size(line) >= limits.THREAD_NAME:
        line = line[:-1]
    return line.rstrip(_JOINERS) + "…"
