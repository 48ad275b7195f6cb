"""Rights: what a person may do, on which phone, and to whom admins have granted it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bot.domain.address import Address, Person

OPERATOR_PLATFORMS = frozenset({"web", "cli"})
"""Platforms whose users are the operator: the console requires its start token, the command line access to the
computer.
"""


API_PLATFORM: Final = "api"
"""The platform of access tokens used by programs; the account is the token's name."""
PAGE_PLATFORM: Final = "page"
"""The platform of people who sign in to the console with an access token and are not operators."""


class Right(StrEnum):
    """A right that a person or token can have."""

    USE = "use"
    """Give tasks, and see phones and the results of one's own tasks."""
    APPROVE = "approve"
    """Allow actions that need approval."""
    OPERATE = "operate"
    """Touch a phone by hand: tap, type, press keys, open apps."""
    ADMIN = "admin"

    def includes(self, other: Right) -> bool:
        """Return whether this right includes the other: every right includes `use`, and `admin` includes all."""
        return other in {self, Right.USE} or self is Right.ADMIN


@dataclass(frozen=True, slots=True)
class Grant:
    """A right that an admin has given to one person, or to everybody with a role on one server. It adds to the lists
    in the settings.

    - `id`: Of the person, or of the role.
    - `guild`: The server of the role; "" for a person.
    - `phone`: Id of the only phone that it covers; "" for all phones.
    """

    platform: str
    id: str
    right: Right
    guild: str = ""
    phone: str = ""

    def names(self, person: Person, where: Address) -> bool:
        """Return whether the grant is for this person writing at `where`. A role counts only on its own server, never
        in private chats.
        """
        return _names(self, person, where)

    def gives(self, right: Right, phone: str) -> bool:
        """Return whether the grant includes this right for the phone with this id.

        With `phone` "" any grant of the right counts, except that `admin` must cover all phones.
        """
        return self.right.includes(right) and (self.phone in {"", phone} or (not phone and right is not Right.ADMIN))


@dataclass(frozen=True, slots=True)
class TierGift:
    """A tier (a named daily quota) that an admin has given to a person, or to everybody with a role on one server
    (`guild`).

    `id` is that of the person or of the role; `guild` is "" for a person.
    """

    platform: str
    id: str
    tier: str
    guild: str = ""

    def names(self, person: Person, where: Address) -> bool:
        """Return whether the tier was given to this person writing at `where`. A role counts only on its own server."""
        return _names(self, person, where)


def _names(given: Grant | TierGift, person: Person, where: Address) -> bool:
    if given.platform != person.platform:
        return False
    if given.guild:
        return given.guild == where.guild and f"{given.guild}/{given.id}" in person.roles
    return given.id == person.id
