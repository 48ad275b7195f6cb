"""Converts Discord's channels and users to the service's addresses and people."""

from __future__ import annotations

import discord

from bot.chats.discord import errors
from bot.domain.address import Address, Person, Place, on_one_line

PLATFORM = "discord"

Channel = discord.abc.Messageable | discord.abc.GuildChannel | discord.abc.PrivateChannel
"""Whatever discord.py calls the channel of a message or interaction."""


def person_of(user: discord.abc.User, locale: discord.Locale | None = None) -> Person:
    """Who wrote or pressed, and what language they read as far as that is known.

    The roles are those of the server where it happened, without the one that everybody has.
    """
    roles: frozenset[str] = frozenset()
    if isinstance(user, discord.Member):
        roles = frozenset(f"{user.guild.id}/{role.id}" for role in user.roles if role.id != user.guild.id)
    name = on_one_line(user.display_name)
    return Person(PLATFORM, str(user.id), name, "" if locale is None else str(locale), roles)


def place_of(account: int, channel: Channel, guild: int | None) -> Place:
    """The place of a message or press. A thread is given as a thread of its parent channel, because access depends
    on the channel.
    """
    place = Address(PLATFORM, str(account), str(getattr(channel, "id", "")), str(guild) if guild else "")
    if isinstance(channel, discord.Thread):
        place = Address(PLATFORM, str(account), str(channel.parent_id), place.guild, str(channel.id))
    return Place(place, private=isinstance(channel, discord.DMChannel))


def channel_id(address: Address) -> int:
    """The id under which Discord knows the place: the thread's where there is one."""
    return int(address.thread or address.chat)


def channel_at(client: discord.Client, address: Address) -> discord.abc.Messageable:
    """The place to send to, without asking Discord; permissions are known only where the channel is in the cache."""
    number = channel_id(address)
    known = client.get_channel(number)
    if isinstance(known, discord.abc.Messageable):
        return known
    return client.get_partial_messageable(number, guild_id=int(address.guild) if address.guild else None)


def parent_at(client: discord.Client, address: Address) -> object:
    """The channel that the place's permissions hang on, itself or that of a thread; little is known of one that is not
    in the cache.
    """
    number = int(address.chat)
    return client.get_channel(number) or client.get_partial_messageable(number)


async def roles_of(client: discord.Client, person: str, guild: str) -> frozenset[str]:
    """See `KnowsRoles`: asked of Discord itself, since what is remembered of members may be old. It needs no intent."""
    async with errors.translated("the roles of a person"):
        server = client.get_guild(int(guild)) or await client.fetch_guild(int(guild))
        try:
            member = await server.fetch_member(int(person))
        except discord.NotFound:
            return frozenset()
    return person_of(member).roles
