"""Who is meant by a right: a person, or everybody with a role on a Discord server."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.access import OPERATOR_PLATFORMS, Grant
from bot.chats.address import Address, Person

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
