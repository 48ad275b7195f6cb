"""The recipients of rights (a person, or everybody with a role), how they are named in text, who sees which commands,
and the roles of people who are not writing at the moment.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bot.domain.address import Address, Person, Place
from bot.domain.chat import Chat, ChatError, FloodWait, KnowsRoles
from bot.domain.right import Grant, Right
from bot.people.access import Lists, Policy

logger = logging.getLogger(__name__)


_NUMBER: Final = re.compile(r"-?\d{1,20}")
_ROLE: Final = re.compile(r"role:(?:(?P<guild>\w{1,32})/)?(?P<id>\w{1,32})", re.IGNORECASE)
_PERSON: Final = re.compile(r"(?:(?P<platform>[a-z][a-z0-9_]*):)?(?P<id>\S+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Naming:
    """How typed text refers to people and roles on one platform."""

    person: re.Pattern[str] = _NUMBER
    """The pattern of a person's id."""
    mention: re.Pattern[str] | None = None
    """The pattern of a mention in typed text, with the group `id` and, if there are roles, `role`."""
    roles: bool = False
    """Whether the platform has servers with roles."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The recipient of a right: a person by platform and id, or a role by its server and id."""

    platform: str
    id: str
    guild: str = ""

    @classmethod
    def of(cls, grant: Grant) -> Subject:
        """Return the recipient of this right."""
        return cls(grant.platform, grant.id, grant.guild)

    @classmethod
    def of_person(cls, person: Person) -> Subject:
        """Return the subject for this account."""
        return cls(person.platform, person.id)

    @property
    def person(self) -> Person:
        """The account. May only be read if the subject is a person, not a role."""
        assert not self.guild
        return Person(self.platform, self.id)

    def __str__(self) -> str:
        """The subject in the form in which it can be typed."""
        return f"role:{self.guild}/{self.id}" if self.guild else f"{self.platform}:{self.id}"


def subject_named(text: str, here: Address, namings: Mapping[str, Naming]) -> Subject | None:
    """Return the person or role that a word names: a mention, `42`, `PLATFORM:42`, `role:7` or `role:SERVER/7`. None if
    it names none.

    A plain number is a person on the platform where it is typed, a plain role one of that server. `namings` are the
    rules of all platforms by name. A mention, or a role with its server, is read by the rules of the platform where it
    is typed, otherwise by those of the first platform that accepts it.
    """
    near = sorted(namings.items(), key=lambda known: known[0] != here.platform)
    for platform, naming in near:
        if naming.mention and (found := naming.mention.fullmatch(text)):
            if not found.groupdict().get("role"):
                return Subject(platform, found["id"])
            return Subject(platform, found["id"], here.guild) if here.guild else None
    if found := _ROLE.fullmatch(text):
        guild = found["guild"] or here.guild
        platform = next((platform for platform, naming in near if naming.roles), "")
        return Subject(platform, found["id"], guild) if guild and platform else None
    if found := _PERSON.fullmatch(text):
        platform = (found["platform"] or here.platform).lower()
        if platform in namings and namings[platform].person.fullmatch(found["id"]):
            return Subject(platform, found["id"])
    return None


@dataclass(frozen=True, slots=True)
class Audience:
    """The people who see one menu of commands: everybody in a chat, or one person in it."""

    chat: str
    """The id of a group, or of a person for their private chat."""
    person: str = ""
    admin: bool = False


def audiences(policy: Policy, platform: str) -> tuple[Audience, ...]:
    """Return who gets a menu of commands on this platform: people with rights, and the listed chats. Menus only show
    commands; rights are checked at each use.
    """
    lists = policy.platforms.get(platform, Lists())
    grants = [grant for grant in policy.grants if grant.platform == platform and not grant.guild]
    if not lists.any_set and not grants:
        return ()
    admins = lists.admins | {grant.id for grant in grants if grant.gives(Right.ADMIN, "")}
    named = lists.users | admins | {grant.id for grant in grants}
    private = [Audience(person, admin=person in admins) for person in sorted(named)]
    groups = [Audience(chat) for chat in sorted(lists.chats)]
    in_groups = [Audience(chat, admin, admin=True) for chat in sorted(lists.chats) for admin in sorted(admins)]
    return (*private, *groups, *in_groups)


ANSWER_S: Final = 20.0
"""Seconds that a platform has to return somebody's roles."""


class RolesUnknown(Exception):
    """Rights or tiers at this place depend on roles, and the platform does not say which roles the person has."""


async def with_roles(person: Person, place: Place, policy: Policy, chats: Mapping[str, Chat]) -> Person:
    """Return the person with their current roles on the place's server; without any roles if no right or tier depends
    on a role there. Raises RolesUnknown.
    """
    guild = place.address.guild
    if not guild or guild not in {given.guild for given in (*policy.grants, *policy.tiers)}:
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
