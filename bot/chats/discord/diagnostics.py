"""Checks what the bot may do on Discord, without staying connected; used by `opengui doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final

import aiohttp
import discord
from discord.http import Route

from bot.chats.discord.endpoints import endpoints
from bot.chats.discord.permissions import missing_of, sentence
from bot.texts import say, words

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
    try:
        channel = await client.fetch_channel(number)
    except (discord.NotFound, discord.Forbidden):
        return PlaceReport(say("check.chat.place.channel", number=number), found=False)
    if not isinstance(channel, _TEXT):
        return PlaceReport(say("check.chat.place.channel", number=number), found=False)
    me = await _myself(client, channel.guild.id)
    if me is None:
        return PlaceReport(say("check.chat.place.channel", number=number), found=False)
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
