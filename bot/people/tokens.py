"""The access tokens: creating them, finding one by its secret, and revoking them.

A secret is 256 random bits after the prefix `ogt_`. It is shown once; its SHA-256 is stored, which for this many random
bits needs neither a salt nor a slow hash.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from bot.domain.address import Person
from bot.domain.right import API_PLATFORM, NAME, PAGE_PLATFORM, Grant, Right, Token
from bot.people.access import same_person
from bot.store.audit import AuditKind
from bot.store.database import Transaction
from bot.store.errors import StoreError
from bot.store.store import Store
from bot.texts import say

PREFIX: Final = "ogt_"
SECRET_BYTES: Final = 32
LONGEST: Final = 200
"""Maximum characters of a secret that is looked up; ours are shorter."""
DAYS: Final = 90
"""Days for which a token is valid unless another number is given."""
MOST_DAYS: Final = 3650
MOST: Final = 200
"""Maximum tokens at once, as they are held in memory."""
DAY_S: Final = 86400.0
USE_KEPT_EVERY_S: Final = 60.0
"""Seconds between two writes of when a token was last used."""

logger = logging.getLogger(__name__)


class TokenRefused(Exception):
    """The token could not be created. The text says why."""


class Tokens:
    """Holds all tokens in memory, so that a request needs no disk access. `clock` returns Unix seconds."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._by_digest: dict[str, Token] = {}
        self._noted: dict[str, float] = {}
        self._listeners: list[Callable[[], None]] = []
        self._lock = asyncio.Lock()
        self._touching: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Read the stored tokens. Raises StoreError."""
        self._by_digest = dict(await self._store.tokens.all())

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after a token was revoked; it must be quick. Returns a function that unsubscribes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def listed(self) -> tuple[Token, ...]:
        """Return all stored tokens by name, including expired ones."""
        return tuple(sorted(self._by_digest.values(), key=lambda token: token.name))

    @property
    def valid(self) -> tuple[Token, ...]:
        """All tokens that are valid now, by name."""
        return tuple(token for token in self.listed() if self._holds(token))

    def named(self, name: str) -> Token | None:
        """Return the valid token with this name; None if there is none."""
        return next((token for token in self._by_digest.values() if token.name == name and self._holds(token)), None)

    def find(self, secret: str) -> Token | None:
        """Return the valid token with this secret, None if there is none. This counts as a use of the token."""
        if not secret.startswith(PREFIX) or len(secret) > LONGEST:
            return None
        digest = digest_of(secret)
        token = self._by_digest.get(digest)
        if token is None or not self._holds(token):
            return None
        now = self._clock()
        token = self._by_digest[digest] = replace(token, used=now)
        if abs(now - self._noted.get(token.name, 0.0)) >= USE_KEPT_EVERY_S:
            self._noted[token.name] = now
            touching = asyncio.ensure_future(self._touch(token.name, now))
            self._touching.add(touching)
            touching.add_done_callback(self._touching.discard)
        return token

    def holds(self, token: Token) -> bool:
        """Return whether this very token is still valid. A later token with the same name does not count."""
        now = self.named(token.name)
        return now is not None and now.made == token.made

    @property
    def grants(self) -> tuple[Grant, ...]:
        """Return the rights of all valid tokens."""
        return tuple(grant for token in self.valid for grant in token.grants)

    def with_accounts(self, links: Sequence[tuple[Person, ...]]) -> tuple[tuple[Person, ...], ...]:
        """Return the accounts of each person, with the accounts of their tokens added, because the use of a token
        counts as its owner's. `links` are the linked accounts of each person.
        """
        people = [list(accounts) for accounts in links]
        for token in self.listed():
            found = next((one for one in people if any(same_person(each, token.owner) for each in one)), None)
            if found is None:
                people.append(found := [token.owner])
            # The account of the token itself, and those of whoever signs in to the console with it.
            at_page = (Person("web", token.name), Person(PAGE_PLATFORM, token.name))
            found += [each for each in (token.person, *at_page) if each not in found]
        return tuple(tuple(accounts) for accounts in people)

    async def add(
        self,
        name: str,
        rights: Collection[Right],
        by: Person,
        *,
        owner: Person | None = None,
        phones: Sequence[str] = (),
        days: int = DAYS,
        approves_by_mcp: bool = False,
    ) -> tuple[Token, str]:
        """Create an access token. Returns it and its secret, which is stored nowhere. Raises TokenRefused or
        StoreError.

        `owner` is the person it belongs to, None for a service account; `phones` are the ids it is limited to, empty
        for all; `days` is how long it is valid. `approves_by_mcp` lets its MCP client answer approvals.
        """
        if not NAME.fullmatch(name):
            raise TokenRefused(say("token.name", name=name[:40]))
        if not 1 <= days <= MOST_DAYS:
            raise TokenRefused(say("token.days", most=MOST_DAYS))
        now = self._clock()
        token = Token(
            name,
            owner or Person(API_PLATFORM, name, name),
            frozenset(rights),
            tuple(phones),
            now,
            now + days * DAY_S,
            approves_by_mcp,
        )
        secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)

        async def work(transaction: Transaction) -> bool:
            added = await self._store.tokens.add(transaction, token, digest_of(secret))
            if added:
                await self._store.audit.add(transaction, AuditKind.TOKEN_MADE, by, detail=detail_of(token))
            return added

        async with self._lock:
            if len(self._by_digest) >= MOST:
                raise TokenRefused(say("token.most", most=MOST))
            if not await self._store.write(work):
                raise TokenRefused(say("token.taken", name=name))
            self._by_digest[digest_of(secret)] = token
        return token, secret

    async def revoke(self, name: str, by: Person) -> Token | None:
        """Revoke the token with this name, and return it; None if there is none. It is invalid at once. Raises
        StoreError.
        """

        async def work(transaction: Transaction) -> None:
            await self._store.tokens.remove(transaction, name)
            await self._store.audit.add(transaction, AuditKind.TOKEN_REVOKED, by, detail=name)

        async with self._lock:
            digest, token = next(
                ((digest, token) for digest, token in self._by_digest.items() if token.name == name), ("", None)
            )
            if token is None:
                return None
            del self._by_digest[digest]
            self._noted.pop(name, None)
            for listener in tuple(self._listeners):
                listener()
            await self._store.write(work)
        return token

    def of(self, platform: str, person: str) -> tuple[Token, ...]:
        """Return the tokens that belong to this account."""
        return tuple(token for token in self.listed() if (token.owner.platform, token.owner.id) == (platform, person))

    def _holds(self, token: Token) -> bool:
        """Whether a token is valid now; not if the clock was set back to before the token was made."""
        return token.made - DAY_S <= self._clock() < token.expires

    async def _touch(self, name: str, used: float) -> None:
        try:
            await self._store.tokens.touch(name, used)
        except StoreError as error:
            logger.warning("The last use of the token %s could not be stored: %s", name, error)


def digest_of(secret: str) -> str:
    """Return the digest under which a token's secret is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def detail_of(token: Token) -> str:
    """Return the token as text for the audit, such as `ci discord:42 approve,use pixel`."""
    owner = "" if token.owner.platform == API_PLATFORM else f"{token.owner.platform}:{token.owner.id}"
    rights = ",".join(sorted(token.rights))
    return " ".join(part for part in (token.name, owner, rights, ",".join(token.phones)) if part)
