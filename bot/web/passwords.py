"""The operator's password, stored as a hash that is slow to compute and therefore slow to guess."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from bot.texts import words

LEAST = 12
"""Least characters. Online guesses are limited to a few an hour; this is against guessing from a stolen hash."""
MOST = 1024
"""Most bytes, because hashing megabytes would be wasted work."""
COST = 15
"""log2 of scrypt's N. With BLOCK and LANES one check takes 32 MiB and about 0.1 s (OWASP Password Storage Cheat
Sheet).
"""
BLOCK = 8
LANES = 3
SALT_BYTES = 16
KEY_BYTES = 32
MEMORY = 256 * 1024 * 1024
"""Most bytes of memory for one check: a hash made elsewhere with a higher cost works, but cannot stop the service."""
SCHEME = "scrypt"


class UnfitPassword(ValueError):
    """CONSOLE_PASSWORD cannot be used; the text says why, without the password."""


@dataclass(frozen=True, slots=True)
class Password:
    """A password hash, with which typed passwords are compared."""

    cost: int
    block: int
    lanes: int
    salt: bytes = field(repr=False)
    key: bytes = field(repr=False)
    mark: bytes = field(repr=False)
    """Changes with the setting, so that sessions opened with the old password become invalid."""

    @classmethod
    def of(cls, setting: str) -> Password:
        """Create it from the setting: a hash made by `opengui password`, or the password itself. Raises
        UnfitPassword.
        """
        if setting.startswith(f"{SCHEME}:"):
            return cls._read(setting)
        if len(setting) < LEAST or len(_data(setting)) > MOST:
            raise UnfitPassword(words("password.length", least=LEAST, most=MOST))
        salt = secrets.token_bytes(SALT_BYTES)
        # The salt of a plain-text password is new at each start.
        return cls(COST, BLOCK, LANES, salt, _key(setting, salt, COST, BLOCK, LANES), _mark(setting))

    @classmethod
    def _read(cls, text: str) -> Password:
        try:
            _, cost, block, lanes, salt, key = text.split(":")
            found = cls(int(cost), int(block), int(lanes), _bytes(salt), _bytes(key), _mark(text))
        except (ValueError, binascii.Error):
            raise UnfitPassword(words("password.no_hash")) from None
        if not (10 <= found.cost <= 20 and 1 <= found.block <= 32 and 1 <= found.lanes <= 16) or found.memory > MEMORY:
            raise UnfitPassword(words("password.strength"))
        if len(found.salt) < SALT_BYTES or len(found.key) != KEY_BYTES:
            raise UnfitPassword(words("password.broken"))
        return found

    @property
    def memory(self) -> int:
        """The bytes of memory that one check takes."""
        return 128 * self.block * (1 << self.cost)

    def matches(self, typed: str) -> bool:
        """Return whether the typed text is the password. Takes about 0.1 s of processor time."""
        if len(_data(typed)) > MOST:
            return False
        return hmac.compare_digest(_key(typed, self.salt, self.cost, self.block, self.lanes), self.key)

    def __str__(self) -> str:
        """The form used in the settings, with colons because some settings files interpret a `$`."""
        return f"{SCHEME}:{self.cost}:{self.block}:{self.lanes}:{_text(self.salt)}:{_text(self.key)}"


def _key(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    return hashlib.scrypt(_data(password), salt=salt, n=1 << cost, r=block, p=lanes, maxmem=2 * MEMORY, dklen=KEY_BYTES)


def _mark(setting: str) -> bytes:
    return hashlib.sha256(_data(setting)).digest()


def _data(password: str) -> bytes:
    """Encode any text, even from an environment variable that is not valid UTF-8."""
    return password.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
