"""Finds out what the bot may do on Discord, and reports missing permissions: to the operator in the log and in `opengui
doctor`, and to the people in the channel.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import discord
from discord.http import Route

from bot.chats.discord.hosts import endpoints
from bot.chats.sending import TextStore
from bot.domain.outgoing import Message
from bot.texts import ENGLISH, say, speaking, words

logger = logging.getLogger(__name__)


WANTED: Final = (
    "view_channel",
    "send_messages",
    "send_messages_in_threads",
    "create_public_threads",
    "attach_files",
    "read_message_history",
    "manage_messages",
    "embed_links",
)
"""Discord's names of the permissions that the bot uses (developer docs, Permissions), the most important first."""

REMEMBERED_SECONDS: Final = 600.0
"""Seconds after which a permission that Discord refused is tried again; our choice. Refused requests count: after
10,000 in ten minutes Discord blocks the address (developer docs, Invalid Request Limit).
"""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the bot may do in a channel and its threads. Permissions that are unknown count as granted; Discord then
    decides.
    """

    writes: bool = True
    threads: bool = True
    files: bool = True
    history: bool = True
    """Whether the bot may read earlier messages, which replies and threads on a message need."""
    embeds: bool = True


class Permissions:
    """Tells what the bot may do in a channel, from Discord's data and from earlier refusals. For a thread, pass its
    channel, which has the permissions. `clock` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._refused: dict[tuple[int, str], float] = {}

    def abilities(self, channel: object) -> Abilities:
        """Return what the bot may do in `channel`."""
        lacks = frozenset(self.missing(channel))
        return Abilities(
            writes="send_messages" not in lacks,
            threads=not lacks & {"create_public_threads", "send_messages_in_threads"},
            files="attach_files" not in lacks,
            history="read_message_history" not in lacks,
            embeds="embed_links" not in lacks,
        )

    def missing(self, channel: object) -> tuple[str, ...]:
        """Return the permissions that the bot lacks in the channel, by Discord's API names. Empty if nothing is known,
        as in private chats.
        """
        number = _number(channel)
        granted = _granted(channel)
        known = () if granted is None else missing_of(granted)
        return tuple(name for name in WANTED if name in known or self._was_refused(number, name))

    def reacts(self, channel: object) -> bool:
        """Return whether the bot can add reactions in the channel. A missing permission for that is reported
        to nobody.
        """
        granted = _granted(channel)
        allowed = granted is None or (granted.add_reactions and granted.read_message_history)
        return allowed and not self._was_refused(_number(channel), "add_reactions")

    def refused(self, channel: object, name: str) -> None:
        """Record that Discord refused this permission, even if it seemed to be granted. The record expires after a
        while.
        """
        self._refused[_number(channel), name] = self._clock() + REMEMBERED_SECONDS

    def _was_refused(self, number: int, name: str) -> bool:
        until = self._refused.get((number, name))
        if until is not None and until <= self._clock():
            del self._refused[number, name]
            return False
        return until is not None


def missing_of(granted: discord.Permissions) -> tuple[str, ...]:
    """Return the permissions that the bot uses and was not granted, by Discord's API names. If it may not send
    messages, the permissions for files and embeds are left out, because they follow from that one.
    """
    implied = {"attach_files", "embed_links"} if not granted.send_messages else set()
    return tuple(name for name in WANTED if not getattr(granted, name) and name not in implied)


def _number(channel: object) -> int:
    return int(getattr(channel, "id", 0))


def _granted(channel: object) -> discord.Permissions | None:
    if not isinstance(channel, discord.abc.GuildChannel):
        return None
    me: discord.Member | None = channel.guild.me  # None until the server's data arrived
    return None if me is None else channel.permissions_for(me)


FILE: Final = "discord_told.json"
"""The file that stores what each channel was told last."""

CONTENT: Final = "message_content"
"""The intent for message content, which is reported like a permission."""

_NOT_REPORTED: Final = frozenset({"manage_messages", "embed_links"})
"""Permissions whose lack is not reported: who types a secret is told that it stays in the chat, and a missing colour is
no loss.
"""


def sentence(name: str) -> str:
    """Return a sentence with the permission, as Discord's settings name it, and what does not work without it. `name`
    is Discord's API name.
    """
    return say(f"discord.lacks.{name}")


class PermissionReports:
    """Reports missing permissions once per channel, and again only if more are missing. Reports are remembered across
    restarts.
    """

    def __init__(self, permissions: Permissions, directory: Path | None) -> None:
        self._permissions = permissions
        self._reported = TextStore(None if directory is None else directory / FILE)
        self._report_lock = asyncio.Lock()
        self._logged: dict[int, tuple[str, ...]] = {}
        self.prefix_unread = ""
        """The prefix, when Discord refuses the Message Content intent."""

    async def next_report(self, channel: object) -> Message | None:
        """Return the message about missing permissions to send to `channel` or a thread of it; None if there is nothing
        new. It then counts as reported.
        """
        if not isinstance(channel, discord.abc.GuildChannel):
            return None
        missing = self._permissions.missing(channel)
        self._log(channel, missing)
        names = [name for name in missing if name not in _NOT_REPORTED]
        if self.prefix_unread:
            names.append(CONTENT)
        async with self._report_lock:
            told = (await self._reported.get(str(channel.id))).split()
            if set(names) <= set(told):
                return None
            await self._reported.put(str(channel.id), " ".join(names))
        lines = [f"• {self._sentence(name)}" for name in names]
        return Message(
            heading=say("discord.lacking", channel=f"#{channel.name}"),
            body="\n".join(lines),
            footer=say("discord.grant"),
        )

    def _sentence(self, name: str) -> str:
        return say("discord.content", prefix=self.prefix_unread) if name == CONTENT else sentence(name)

    def _log(self, channel: discord.abc.GuildChannel, missing: tuple[str, ...]) -> None:
        if self._logged.get(channel.id, ()) == missing:
            return
        self._logged[channel.id] = missing
        if missing:
            with speaking(ENGLISH):
                lacks = " ".join(sentence(name) for name in missing)
            logger.warning(
                "In channel #%s (%d) of %s the bot lacks: %s Grant them in the channel's settings.",
                channel.name,
                channel.id,
                channel.guild.name,
                lacks,
            )


SURVEY_SECONDS: Final = 30.0
"""Time limit in seconds of the whole check; our choice."""

_TEXT: Final = (discord.TextChannel, discord.ForumChannel, discord.VoiceChannel, discord.StageChannel)


@dataclass(frozen=True, slots=True)
class PlaceReport:
    """What the bot lacks on a server or in a channel. `place` is its name; `lacks` has one sentence for each missing
    permission; `found` says whether the bot sees it.
    """

    place: str
    lacks: tuple[str, ...] = ()
    found: bool = True


async def survey(
    token: str, guilds: Sequence[str], channels: Sequence[str], api_base: str | None
) -> tuple[PlaceReport, ...]:
    """Check the permissions in each of the listed channels or, if there are none, on each of the listed servers.

    Raises OSError if Discord cannot be asked; its text contains no token.
    """
    try:
        async with asyncio.timeout(SURVEY_SECONDS):
            # In a service that is already connected, the addresses are already set.
            there = api_base == Route.BASE
            with nullcontext() if there else endpoints(api_base, None):
                async with discord.Client(intents=discord.Intents.none()) as client:
                    await client.login(token)
                    if channels:
                        return tuple([await _channel(client, int(one)) for one in channels])
                    return tuple([await _guild(client, int(one)) for one in guilds])
    except (discord.DiscordException, aiohttp.ClientError, TimeoutError) as error:
        raise OSError(words("check.chat.unasked", why=type(error).__name__)) from None


async def _guild(client: discord.Client, number: int) -> PlaceReport:
    me = await _myself(client, number)
    if me is None:
        return PlaceReport(say("check.chat.place.guild", name=number), found=False)
    return PlaceReport(say("check.chat.place.guild", name=me.guild.name), _sentences(me.guild_permissions))


async def _channel(client: discord.Client, number: int) -> PlaceReport:
    unseen = PlaceReport(say("check.chat.place.channel", number=number), found=False)
    try:
        channel = await client.fetch_channel(number)
    except (discord.NotFound, discord.Forbidden):
        return unseen
    me = await _myself(client, channel.guild.id) if isinstance(channel, _TEXT) else None
    if me is None:
        return unseen
    # Fetched again, because only a channel of a complete server object knows the roles.
    known = await me.guild.fetch_channel(number)
    place = say("check.chat.place.channel_of", name=known.name, guild=me.guild.name)
    return PlaceReport(place, _sentences(known.permissions_for(me)))


async def _myself(client: discord.Client, guild: int) -> discord.Member | None:
    assert client.user is not None, "logged in"
    try:
        return await (await client.fetch_guild(guild)).fetch_member(client.user.id)
    except (discord.NotFound, discord.Forbidden):
        return None


def _sentences(granted: discord.Permissions) -> tuple[str, ...]:
    return tuple(sentence(name) for name in missing_of(granted))
