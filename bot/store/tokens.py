"""The table of tokens. Of a secret only its digest is kept, by which nobody gets in."""

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
    """What is known of tokens. Which of them still hold is for `bot.people.tokens` to say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, source: Source | None = None) -> tuple[tuple[str, Token], ...]:
        """Every one with the digest of its secret, by name. With `source`, as an open transaction sees it."""
        rows = await (source or self._database).fetch(_ALL)
        return tuple((row["digest"], _TOKEN.read(row)) for row in rows)

    async def add(self, transaction: Transaction, token: Token, digest: str) -> bool:
        """Keep a token. False when the name is taken; then nothing changes."""
        return bool(await transaction.fetch(_ADD, {**_TOKEN.values(token), "digest": digest}))

    async def remove(self, transaction: Transaction, name: str) -> None:
        """Forget a token."""
        await transaction.fetch(_REMOVE, {"name": name})

    async def touch(self, name: str, used: float) -> None:
        """Keep when a token was used. Raises StoreError."""
        await self._database.execute(_TOUCH, {"name": name, "used": used})
