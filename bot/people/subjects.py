"""Who is meant by a right (a person, or everybody with a role), and who is shown which commands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.address import Address, Person
from bot.domain.right import OPERATOR_PLATFORMS, Grant, Right
from bot.people.access import Lists, Policy

_MENTION = re.compile(r"<@(?P<role>&)?!?(?P<id>\d{1,20})>")
_ROLE = re.compile(r"role:(?:(?P<guild>\w{1,32})/)?(?P<id>\w{1,32})", re.IGNORECASE)
_PERSON = re.compile(r"(?:(?P<platform>discord|telegram):)?(?P<id>-?\d{1,20})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Subject:
    """A person by platform and id, or a role by its server and id."""

    platform: str
    id: str
    guild: str = ""

    @classmethod
    def of(cls, grant: Grant) -> Subject:
        """To whom a right was given."""
        return cls(grant.platform, grant.id, grant.guild)

    @classmethod
    def of_person(cls, person: Person) -> Subject:
        """An account."""
        return cls(person.platform, person.id)

    def __str__(self) -> str:
        """As it can be typed."""
        return f"role:{self.guild}/{self.id}" if self.guild else f"{self.platform}:{self.id}"


def subject_named(text: str, here: Address) -> Subject | None:
    """Whom a word means here: a mention, `42`, `telegram:42`, `role:7`, `role:SERVER/7`. None when it means nobody.

    A number alone is a person of the platform where it is written, a role alone is one of that server.
    """
    if found := _MENTION.fullmatch(text):
        if not found["role"]:
            return Subject("discord", found["id"])
        return Subject("discord", found["id"], here.guild) if here.guild else None
    if found := _ROLE.fullmatch(text):
        guild = found["guild"] or here.guild
        return Subject("discord", found["id"], guild) if guild else None
    if found := _PERSON.fullmatch(text):
        platform = (found["platform"] or here.platform).lower()
        return None if platform in OPERATOR_PLATFORMS else Subject(platform, found["id"])
    return None


@dataclass(frozen=True, slots=True)
class Audience:
    """Those who see one menu: everybody in a chat, or one person in it."""

    chat: str
    """A group's id, or a person's for the private chat."""
    person: str = ""
    admin: bool = False


def audiences(policy: Policy, platform: str) -> tuple[Audience, ...]:
    """The menus of people who are named and of the chats on the list. Only shows: what counts is asked at each use."""
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
