"""An access token, with which a program uses the service or a person signs in to the console."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.domain.address import Person
from bot.domain.right import API_PLATFORM, Grant, Right

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
