"""A right: what somebody may do, on which phone, and to whom an admin has given it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.address import Address, Person

OPERATOR_PLATFORMS = frozenset({"web", "cli"})
"""Whoever reaches these runs the service: the console needs its start token, the command line the machine."""


API_PLATFORM: Final = "api"
"""The accounts of tokens, by name: what programs do with them."""
PAGE_PLATFORM: Final = "page"
"""The same accounts, for people who have signed in to the console with a token and are no operators there."""


class Right(StrEnum):
    """What may be done."""

    USE = "use"
    """Give tasks, and see phones and what comes of one's own tasks."""
    APPROVE = "approve"
    """Allow what the gate asks about."""
    OPERATE = "operate"
    """Touch a phone by hand: tap, type, press keys, open apps."""
    ADMIN = "admin"

    def includes(self, other: Right) -> bool:
        """Whether who has this right has the other one with it: each includes `use`, and `admin` all."""
        return other in {self, Right.USE} or self is Right.ADMIN


@dataclass(frozen=True, slots=True)
class Grant:
    """A right that an admin has given: to one person, or to everybody with a role of one Discord server (`guild`).

    `phone` is the id of the only phone that it is for, "" for all. It adds to the lists and takes nothing away.
    """

    platform: str
    id: str
    right: Right
    guild: str = ""
    phone: str = ""

    def names(self, person: Person, where: Address) -> bool:
        """Whether it was given to this person. A role counts on its own server, never elsewhere or in private."""
        return _names(self, person, where)

    def gives(self, right: Right, phone: str) -> bool:
        """Whether it includes this right on this phone. Without a phone: on any, but an admin's must be for all."""
        return self.right.includes(right) and (self.phone in {"", phone} or (not phone and right is not Right.ADMIN))


@dataclass(frozen=True, slots=True)
class TierGift:
    """A tier that an admin has given, to a person or to everybody with a role of one Discord server (`guild`)."""

    platform: str
    id: str
    tier: str
    guild: str = ""

    def names(self, person: Person, where: Address) -> bool:
        """Whether it was given to this person; see `Grant.names`."""
        return _names(self, person, where)


def _names(given: Grant | TierGift, person: Person, where: Address) -> bool:
    if given.platform != person.platform:
        return False
    if given.guild:
        return given.guild == where.guild and f"{given.guild}/{given.id}" in person.roles
    return given.id == person.id
