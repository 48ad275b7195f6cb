"""Looks up the roles of people who are not writing at the moment; the platform is asked each time, and nothing is
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
    """Rights or tiers depend on roles there, and the platform does not say who has which."""


async def with_roles(person: Person, place: Place, policy: Policy, chats: Mapping[str, Chat]) -> Person:
    """The person with their current roles on the place's server, if roles mean anything there. Raises RolesUnknown."""
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
    """A function that returns a person with their current roles, or None if the platform does not answer."""

    async def ask(person: Person, place: Place) -> Person | None:
        try:
            return await with_roles(person, place, policy(), chats)
        except RolesUnknown:
            return None

    return ask


def can_be_asked(person: Person, chats: Mapping[str, Chat]) -> bool:
    """Whether the platform can look up the roles of this person while they are not writing."""
    return _book(person, chats) is not None


def _book(person: Person, chats: Mapping[str, Chat]) -> KnowsRoles | None:
    chat: object = chats.get(person.platform)
    return chat if isinstance(chat, KnowsRoles) else None


def _matter(guild: str, policy: Policy) -> bool:
    guilds = {grant.guild for grant in policy.grants} | {gift.guild for gift in policy.tiers}
    return bool(guild) and guild in guilds
