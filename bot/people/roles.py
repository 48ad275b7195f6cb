"""Looks up the roles of people who are not writing at the moment. The platform is asked each time; nothing is
stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Final

from bot.domain.address import Person, Place
from bot.domain.chat import Chat, ChatError, FloodWait, KnowsRoles
from bot.people.access import Policy

ANSWER_S: Final = 20.0
"""Seconds that a platform has to return somebody's roles."""

logger = logging.getLogger(__name__)


class RolesUnknown(Exception):
    """Rights or tiers at this place depend on roles, and the platform does not say which roles the person has."""


async def with_roles(person: Person, place: Place, policy: Policy, chats: Mapping[str, Chat]) -> Person:
    """Return the person with their current roles on the place's server; without any roles if no right or tier depends
    on a role there. Raises RolesUnknown.
    """
    guild = place.address.guild
    if not _matter(guild, policy):
        return replace(person, roles=frozenset())
    if (chat := _book(person, chats)) is None:
        raise RolesUnknown
    try:
        return replace(person, roles=await asyncio.wait_for(chat.roles_of(person.id, guild), ANSWER_S))
    except (ChatError, FloodWait, TimeoutError) as error:
        logger.warning("The roles of a person could not be read: %s", error)
        raise RolesUnknown from error


def asker(
    policy: Callable[[], Policy], chats: Mapping[str, Chat]
) -> Callable[[Person, Place], Awaitable[Person | None]]:
    """Return a function that looks up a person's current roles, and returns the person with them; None if the platform
    does not say which roles they have.
    """

    async def ask(person: Person, place: Place) -> Person | None:
        try:
            return await with_roles(person, place, policy(), chats)
        except RolesUnknown:
            return None

    return ask


def can_be_asked(person: Person, chats: Mapping[str, Chat]) -> bool:
    """Return whether the person's platform can look up their roles while they are not writing."""
    return _book(person, chats) is not None


def _book(person: Person, chats: Mapping[str, Chat]) -> KnowsRoles | None:
    chat: object = chats.get(person.platform)
    return chat if isinstance(chat, KnowsRoles) else None


def _matter(guild: str, policy: Policy) -> bool:
    guilds = {grant.guild for grant in policy.grants} | {gift.guild for gift in policy.tiers}
    return bool(guild) and guild in guilds
