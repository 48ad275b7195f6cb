"""The roles of somebody who does not write at this moment: asked of the platform each time, and never kept."""

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
"""Seconds that a platform has to tell somebody's roles."""

logger = logging.getLogger(__name__)


class RolesUnknown(Exception):
    """Rights or tiers hang on roles there, and the platform does not tell who has which."""


async def with_roles(person: Person, place: Place, policy: Policy, chats: Mapping[str, Chat]) -> Person:
    """The person with the roles that they have on the place's server now, where roles mean anything there.

    Raises RolesUnknown.
    """
    guild = place.address.guild
    if not _matter(guild, policy):
        return replace(person, roles=frozenset())
    if (chat := _book(person, chats)) is None:
        raise RolesUnknown
    try:
        return replace(person, roles=await asyncio.wait_for(chat.roles_of(person.id, guild), ANSWER_S))
    except (ChatError, FloodWait, TimeoutError) as error:
        logger.warning("the roles of a person were not told: %s", error)
        raise RolesUnknown from error


def asker(
    policy: Callable[[], Policy], chats: Mapping[str, Chat]
) -> Callable[[Person, Place], Awaitable[Person | None]]:
    """What gives a person with the roles that they have now, None when the platform does not tell."""

    async def ask(person: Person, place: Place) -> Person | None:
        try:
            return await with_roles(person, place, policy(), chats)
        except RolesUnknown:
            return None

    return ask


def can_be_asked(person: Person, chats: Mapping[str, Chat]) -> bool:
    """Whether the person's platform tells roles of people who do not write at that moment."""
    return _book(person, chats) is not None


def _book(person: Person, chats: Mapping[str, Chat]) -> KnowsRoles | None:
    chat: object = chats.get(person.platform)
    return chat if isinstance(chat, KnowsRoles) else None


def _matter(guild: str, policy: Policy) -> bool:
    guilds = {grant.guild for grant in policy.grants} | {gift.guild for gift in policy.tiers}
    return bool(guild) and guild in guilds
