"""A token: what a program brings along to work with the service, or a person to sign in to the console."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.domain.address import Person
from bot.domain.right import API_PLATFORM, Grant, Right

NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")
"""What a token may be called: it is typed in commands, and is the id of its account."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret, which nobody keeps. Times are Unix seconds."""

    name: str
    owner: Person
    """Whose it is. A service account is its own owner."""
    rights: frozenset[Right]
    phones: tuple[str, ...]
    """The ids of the only phones that the rights are for; () for every phone."""
    made: float
    expires: float
    approves_by_mcp: bool = False
    """Whether its client is trusted to pass on a person's yes."""
    used: float | None = None
    """When it was used last, None before the first time."""

    @property
    def person(self) -> Person:
        """Who acts with it: an account of its own, which belongs to the owner."""
        return Person(API_PLATFORM, self.name, self.owner.name or self.name)

    @property
    def for_operator(self) -> bool:
        """Whether who signs in to the console with it is an operator there: that takes an admin for all phones."""
        return Right.ADMIN in self.rights and not self.phones

    @property
    def grants(self) -> tuple[Grant, ...]:
        """What it may do."""
        rights = sorted(self.rights)
        return tuple(
            Grant(API_PLATFORM, self.name, right, phone=phone) for right in rights for phone in self.phones or ("",)
        )
