"""Codes for accounts: for pairing (an admin lets an unknown person in) and for linking one person's accounts."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.address import Person

ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
"""Characters of a code, without those that are easily confused: I, L and 1, O and 0, U and V."""
LENGTH = 8
"""Characters of a code: 30^8 possibilities, about 39 bits, of which at most WRONG_TOGETHER are tried in an hour."""
LIFETIME = 3600.0
"""Seconds for which a code is valid."""
PENDING = 3
"""Maximum people of one platform waiting at once, so that the list cannot be flooded with accounts."""
PAUSE = 60.0
"""Seconds before the same person gets a new code in place of the old one."""
WRONG_ALLOWED = 5
"""Wrong codes from one account within LIFETIME before its codes are refused until these are that old."""
WRONG_TOGETHER = 100
"""Wrong codes from all accounts together before codes are refused, so that many accounts guess no faster."""


class Locked(Exception):
    """Too many wrong codes were tried, so codes are refused for a while."""


@dataclass(frozen=True, slots=True)
class PendingPairing:
    """A person who waits to be let in. The code that they were given is not stored here."""

    person: Person
    since: float
    digest: bytes


class Pairing:
    """Issues pairing codes, and approves the people who got them. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._waiting: list[PendingPairing] = []
        self._wrong: list[tuple[tuple[str, str], float]] = []

    def code_for(self, person: Person) -> str:
        """Return a new code for this person; "" if too many people are waiting, or if this person got one a
        moment ago.
        """
        now = self._clock()
        self._forget_old()
        mine = next((one for one in self._waiting if _account(one.person) == _account(person)), None)
        if mine is not None and now - mine.since < PAUSE:
            return ""
        others = [one for one in self._waiting if one is not mine]
        if sum(one.person.platform == person.platform for one in others) >= PENDING:
            return ""
        code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        self._waiting = [*others, PendingPairing(person, now, self.digest(code))]
        return code

    def owner_of(self, code: str, by: Person) -> Person | None:
        """Return the person to whom this code was given; None if it is unknown or expired. `by` is the person who typed
        it. Raises Locked after too many wrong codes.
        """
        found = self._found(code, by)
        return None if found is None else found.person

    def count_wrong_code(self, by: Person) -> None:
        """Count a wrong code that this person typed."""
        self._wrong.append((_account(by), self._clock()))

    def approve(self, code: str, by: Person) -> Person | None:
        """Return the person to whom this code was given, and invalidate it; None if it is unknown or expired. `by` is
        the admin who typed it. Raises Locked after too many wrong codes.
        """
        found = self._found(code, by)
        if found is None:
            self.count_wrong_code(by)
            return None
        self._waiting.remove(found)
        return found.person

    def digest(self, code: str) -> bytes:
        """Return the digest under which a code is kept. It is meaningless outside this process."""
        return hmac.digest(self._key, code.strip().upper().encode(), hashlib.sha256)

    def waiting(self) -> tuple[tuple[Person, float], ...]:
        """Return the people who wait to be let in, each with the seconds until their code expires."""
        self._forget_old()
        return tuple((one.person, LIFETIME - (self._clock() - one.since)) for one in self._waiting)

    def _forget_old(self) -> None:
        oldest = self._clock() - LIFETIME
        self._waiting = [one for one in self._waiting if one.since > oldest]
        self._wrong = [wrong for wrong in self._wrong if wrong[1] > oldest]

    def _found(self, code: str, by: Person) -> PendingPairing | None:
        self._forget_old()
        if (
            len(self._wrong) >= WRONG_TOGETHER
            or sum(account == _account(by) for account, _ in self._wrong) >= WRONG_ALLOWED
        ):
            raise Locked
        digest = self.digest(code)
        found = [one for one in self._waiting if hmac.compare_digest(one.digest, digest)]
        return found[0] if found else None


def _account(person: Person) -> tuple[str, str]:
    return person.platform, person.id


class Linking(Pairing):
    """Issues codes with which a person links their accounts. Each code must be typed twice, the second time as a
    confirmation. `clock` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._typed_once: dict[tuple[str, str], bytes] = {}

    def confirm(self, code: str, by: Person) -> bool:
        """Return whether this account has typed this code before; the code is then invalidated. At the first time,
        remember that it was typed and return False.
        """
        account, digest = _account(by), self.digest(code)
        if self._typed_once.get(account) == digest:
            del self._typed_once[account]
            self.approve(code, by)
            return True
        self._typed_once[account] = digest
        return False

    def invalidate(self, code: str, by: Person) -> None:
        """Invalidate a code because others have seen it."""
        self.approve(code, by)
