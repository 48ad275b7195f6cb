"""The table of tokens. Of a secret only its digest is kept, by which nobody gets in."""

from __future__ import annotations

import json
import sqlite3

from bot.domain.address import Person
from bot.domain.right import Right
from bot.domain.token import Token
from bot.store.connection import Source, Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text


class TokenTable:
    """What is known of tokens. Which of them still hold is for `bot.people.tokens` to say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, source: Source | None = None) -> tuple[tuple[str, Token], ...]:
        """Every one with the digest of its secret, by name. With `source`, as an open transaction sees it."""
        rows = await (source or self._database).fetch("SELECT * FROM tokens ORDER BY name")
        return tuple((row["digest"], _token(row)) for row in rows)

    async def add(self, transaction: Transaction, token: Token, digest: str) -> bool:
        """Keep a token. False when the name is taken; then nothing changes."""
        added = await transaction.fetch(
            "INSERT INTO tokens"
            " (name, digest, platform, person, person_name, rights, phones, approves_by_mcp, made, expires, used)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) ON CONFLICT DO NOTHING RETURNING 1",
            (
                token.name,
                digest,
                token.owner.platform,
                token.owner.id,
                token.owner.name,
                json_text(sorted(token.rights)),
                json_text(list(token.phones)),
                int(token.approves_by_mcp),
                token.made,
                token.expires,
            ),
        )
        return bool(added)

    async def remove(self, transaction: Transaction, name: str) -> None:
        """Forget a token."""
        await transaction.fetch("DELETE FROM tokens WHERE name = ?", (name,))

    async def touch(self, name: str, used: float) -> None:
        """Keep when a token was used. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("UPDATE tokens SET used = ? WHERE name = ?", (used, name))

        await self._database.write(work)


def _token(row: sqlite3.Row) -> Token:
    return Token(
        name=row["name"],
        owner=Person(row["platform"], row["person"], row["person_name"]),
        rights=frozenset(Right(right) for right in json.loads(row["rights"])),
        phones=tuple(json.loads(row["phones"])),
        made=row["made"],
        expires=row["expires"],
        approves_by_mcp=bool(row["approves_by_mcp"]),
        used=row["used"],
    )
