"""Converts Discord's channels and users to the service's addresses and people."""

from __future__ import annotations

import discord

from bot.chats.discord import errors
from bot.domain.address import Address, Person, Place, on_one_line

PLATFORM = "discord"

Channel = discord.abc.Messageable | discord.abc.GuildChannel | discord.abc.PrivateChannel
"""The types that discord.py uses for the channel of a message or interaction."""


def person_of(user: discord.abc.User, locale: discord.Locale | None = None) -> Person:
    """Return the person for a Discord user, with `locale` as their language if it is known.

    The roles are those of the server where the user wrote or pressed, without the role that everybody has.
    """
    roles: frozenset[str] = frozenset()
    if isinstance(user, discord.Member):
        roles = frozenset(f"{user.guild.id}/{role.id}" for role in user.roles if role.id != user.guild.id)
    name = on_one_line(user.display_name)
    return Person(PLATFORM, str(user.id), name, "" if locale is None else str(locale), roles)


def place_of(account: int, channel: Channel, guild: int | None) -> Place:
    """Return the place of a message or press. A thread is given as a thread of its parent channel, because access
    depends on the channel. `account` is the bot's user id; `guild` is None in private chats.
    """
    place = Address(PLATFORM, str(account), str(getattr(channel, "id", "")), str(guild) if guild else "")
    if isinstance(channel, discord.Thread):
        place = Address(PLATFORM, str(account), str(channel.parent_id), place.guild, str(channel.id))
    return Place(place, private=isinstance(channel, discord.DMChannel))


def channel_id(address: Address) -> int:
    """Return the id under which Discord knows the place: the thread's id if it is a thread, else the channel's."""
    return int(address.thread or address.chat)


def channel_at(client: discord.Client, address: Address) -> discord.abc.Messageable:
    """Return the channel or thread to send to, without a request to Discord. Its permissions are known only if it is
    cached.
    """
    number = channel_id(address)
    known = client.get_channel(number)
    if isinstance(known, discord.abc.Messageable):
        return known
    return client.get_partial_messageable(number, guild_id=int(address.guild) if address.guild else None)


def parent_at(client: discord.Client, address: Address) -> object:
    """Return the channel that decides the permissions at this place: the channel itself, or that of a thread. If it is
    not cached, only its id is known.
    """
    number = int(address.chat)
    return client.get_channel(number) or client.get_partial_messageable(number)


async def roles_of(client: discord.Client, person: str, guild: str) -> frozenset[str]:
    """Return the person's current roles on a server; see `KnowsRoles`. This asks Discord, because cached members may be
    out of date, and needs no intent.
    """
    async with errors.translated("the roles of a person"):
        server = client.get_guild(int(guild)) or await client.fetch_guild(int(guild))
        try:
            member = await server.fetch_member(int(person))
        except discord.NotFound:
            return frozenset()
    return person_of(member).roles
