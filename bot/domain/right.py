"""Rights: what a person or an access token may do, on which phone, and to whom admins have granted it."""

from __future__ import annotations

import re
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


class _Given:
    """A right or tier of one person, or of everybody with a role (`id`) on one server (`guild`)."""

    __slots__ = ()
    platform: str
    id: str
    guild: str

    def names(self, person: Person, address: Address) -> bool:
        """Return whether it was given to this person writing at `address`. A role counts only on its own server, never
        in private chats.
        """
        if self.platform != person.platform:
            return False
        if self.guild:
            return self.guild == address.guild and f"{self.guild}/{self.id}" in person.roles
        return self.id == person.id


@dataclass(frozen=True, slots=True)
class Grant(_Given):
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

    def gives(self, right: Right, phone: str) -> bool:
        """Return whether the grant includes this right for the phone with this id.

        With `phone` "" any grant of the right counts, except that `admin` must cover all phones.
        """
        return self.right.includes(right) and (self.phone in {"", phone} or (not phone and right is not Right.ADMIN))


@dataclass(frozen=True, slots=True)
class TierGift(_Given):
    """A tier (a named daily quota) that an admin has given to a person, or to everybody with a role on one server
    (`guild`).

    `id` is that of the person or of the role; `guild` is "" for a person.
    """

    platform: str
    id: str
    tier: str
    guild: str = ""


NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")
"""The pattern of a token's name, which is typed in commands and is the id of its account."""


@dataclass(frozen=True, slots=True)
class Token:
    """An access token without its secret, which is never stored. Times are Unix seconds.

    `name` is typed in commands and is the id of the token's own account.
    """

    name: str
    owner: Person
    """The person it belongs to. A service account is its own owner."""
    rights: frozenset[Right]
    phones: tuple[str, ...]
    """The ids of the only phones that its rights cover; () for every phone."""
    made: float
    expires: float
    approves_by_mcp: bool = False
    """Whether its MCP client is trusted to pass on a person's approval."""
    used: float | None = None
    """When it was last used; None if never."""

    @property
    def person(self) -> Person:
        """The token's own account (not its owner's), which appears as the author of what is done with it."""
        return Person(API_PLATFORM, self.name, self.owner.name or self.name)

    @property
    def for_operator(self) -> bool:
        """Whether signing in to the console with it makes one an operator, which requires `admin` for all phones."""
        return Right.ADMIN in self.rights and not self.phones

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The rights that the token gives, as grants to its own account."""
        rights = sorted(self.rights)
        return tuple(
            Grant(API_PLATFORM, self.name, right, phone=phone) for right in rights for phone in self.phones or ("",)
        )
