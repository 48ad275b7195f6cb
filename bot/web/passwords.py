"""The operator's password, stored as a hash that is slow to guess."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from bot.texts import words

LEAST = 12
"""Characters. Online it is tried a few times an hour; this is for whoever gets hold of the hash."""
MOST = 1024
"""Bytes: nobody types more, and a hash of megabytes would be work for nothing."""
COST = 15
"""log2 of scrypt's N. With BLOCK and LANES one try takes 32 MiB and about 0.1 s (OWASP's sheet on password storage)."""
BLOCK = 8
LANES = 3
SALT_BYTES = 16
KEY_BYTES = 32
MEMORY = 256 * 1024 * 1024
"""Bytes that a hash may take: one made elsewhere with a higher cost still works, none stops the service."""
SCHEME = "scrypt"


class UnfitPassword(ValueError):
    """CONSOLE_PASSWORD cannot be used; the text says why, without it."""


@dataclass(frozen=True, slots=True)
class Password:
    """What a typed password is compared with."""

    cost: int
    block: int
    lanes: int
    salt: bytes = field(repr=False)
    key: bytes = field(repr=False)
    mark: bytes = field(repr=False)
    """Another one when the setting is: what was opened with the old one does not hold with the new."""

    @classmethod
    def of(cls, setting: str) -> Password:
        """From a hash that `opengui password` made, or from the password itself. Raises UnfitPassword."""
        if setting.startswith(f"{SCHEME}:"):
            return cls._read(setting)
        if len(setting) < LEAST or len(_data(setting)) > MOST:
            raise UnfitPassword(words("password.length", least=LEAST, most=MOST))
        salt = secrets.token_bytes(SALT_BYTES)
        # The salt of a password in plain text is another one at each start.
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
        """Bytes of memory that one check takes."""
        return 128 * self.block * (1 << self.cost)

    def matches(self, typed: str) -> bool:
        """Whether the typed text is the password. Takes about 0.1 s of processor time."""
        if len(_data(typed)) > MOST:
            return False
        return hmac.compare_digest(_key(typed, self.salt, self.cost, self.block, self.lanes), self.key)

    def __str__(self) -> str:
        """As it is written in the settings: colons only, since some files of settings read a `$`."""
        return f"{SCHEME}:{self.cost}:{self.block}:{self.lanes}:{_text(self.salt)}:{_text(self.key)}"


def _key(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    return hashlib.scrypt(_data(password), salt=salt, n=1 << cost, r=block, p=lanes, maxmem=2 * MEMORY, dklen=KEY_BYTES)


def _mark(setting: str) -> bytes:
    return hashlib.sha256(_data(setting)).digest()


def _data(password: str) -> bytes:
    """Bytes of any text, also of one that the environment gave with bytes that are no UTF-8."""
    return password.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
