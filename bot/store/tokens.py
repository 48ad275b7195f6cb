"""The table of access tokens. Only a hash of each secret is stored, which gives no access."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, select, update

from bot.domain.token import Token
from bot.store.codec import Codec
from bot.store.connection import Database, Source, Transaction
from bot.store.engine import given, insert
from bot.store.tables.people import tokens

_TOKEN: Final = Codec(Token, tokens)
_ALL: Final = select(tokens).order_by(tokens.c.name)
_ADD: Final = insert(tokens, (*_TOKEN.columns, "digest")).on_conflict_do_nothing().returning(tokens.c.name)
_REMOVE: Final = delete(tokens).where(given(tokens.c.name))
_TOUCH: Final = update(tokens).where(given(tokens.c.name)).values(used=bindparam("used"))


class TokenTable:
    """The table of access tokens. Whether a token is still valid is decided by `bot.people.tokens`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, source: Source | None = None) -> tuple[tuple[str, Token], ...]:
        """Return all tokens as (digest of the secret, token), sorted by name. With `source`, as the open transaction
        sees them.
        """
        rows = await (source or self._database).fetch(_ALL)
        return tuple((row["digest"], _TOKEN.read(row)) for row in rows)

    async def add(self, transaction: Transaction, token: Token, digest: str) -> bool:
        """Store a token. Returns False and changes nothing if its name is taken."""
        return bool(await transaction.fetch(_ADD, {**_TOKEN.values(token), "digest": digest}))

    async def remove(self, transaction: Transaction, name: str) -> None:
        """Delete the token with this name."""
        await transaction.fetch(_REMOVE, {"name": name})

    async def touch(self, name: str, used: float) -> None:
        """Store when a token was last used. Raises StoreError."""
        await self._database.execute(_TOUCH, {"name": name, "used": used})
