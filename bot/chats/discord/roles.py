"""Who has which roles now, asked of Discord itself: what is remembered of members may be old."""

from __future__ import annotations

import discord

from bot.chats.discord import errors
from bot.chats.discord.places import person_of


async def roles_of(client: discord.Client, person: str, guild: str) -> frozenset[str]:
    """See `KnowsRoles`. It needs no intent."""
    async with errors.translated("the roles of a person"):
        server = client.get_guild(int(guild)) or await client.fetch_guild(int(guild))
        try:
            member = await server.fetch_member(int(person))
        except discord.NotFound:
            return frozenset()
    return person_of(member).roles
