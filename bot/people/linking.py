"""Linking: an account that is known gets a code, and the same person's account on another platform types it.

Whoever types the code is told first with whom it would link them, and types it again to confirm: a code that somebody
else has sent them must not make two people one by a slip.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bot.chats.address import Person
from bot.people.pairing import Pairing


class Linking:
    """Codes as of `Pairing`, with a confirmation. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._codes = Pairing(clock)
        self._told: dict[tuple[str, str], bytes] = {}

    def code_for(self, person: Person) -> str:
        """A new code for this account, "" when too many wait already, or theirs was given a moment ago."""
        return self._codes.code_for(person)

    def owner_of(self, code: str, by: Person) -> Person | None:
        """Whose code it is, None when it is nobody's. Raises Locked for who has guessed too often."""
        return self._codes.owner_of(code, by)

    def missed(self, by: Person) -> None:
        """The code that was typed was nobody's."""
        self._codes.missed(by)

    def confirmed(self, code: str, by: Person) -> bool:
        """Whether this account has typed this code before, and was told what it means. The code is then used up."""
        account, digest = (by.platform, by.id), self._codes.digest(code)
        if self._told.get(account) == digest:
            del self._told[account]
            self._codes.approve(code, by)
            return True
        self._told[account] = digest
        return False

    def burn(self, code: str, by: Person) -> None:
        """The code was seen by others: it links nobody any more."""
        self._codes.approve(code, by)
