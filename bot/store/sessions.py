"""The table of who is signed in to the console: a restart signs nobody out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is signed in. `digest` stands for the id, which is not kept; times are Unix seconds."""

    digest: str
    way: str
    address: str
    begun: float
    used: float
    token: str = ""
    """The name of the token that it was begun with; "" for one of the operator."""


class ConsoleSessions:
    """What is known of sessions. Which of them still hold is for the console to say."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[Session, ...]:
        """Every one that is kept, by its use."""
        rows = await self._database.fetch("SELECT * FROM console_sessions ORDER BY used")
        return tuple(
            Session(row["digest"], row["way"], row["address"], row["begun"], row["used"], row["token"]) for row in rows
        )

    async def keep(self, session: Session) -> None:
        """Add it. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO console_sessions (digest, way, address, begun, used, token) VALUES (?, ?, ?, ?, ?, ?)",
                (session.digest, session.way, session.address, session.begun, session.used, session.token),
            )

        await self._database.write(work)

    async def touch(self, digest: str, used: float) -> None:
        """Keep when a session was used, unless it has ended meanwhile. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("UPDATE console_sessions SET used = ? WHERE digest = ?", (used, digest))

        await self._database.write(work)

    async def forget(self, digests: Collection[str]) -> None:
        """Forget sessions that have ended. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "DELETE FROM console_sessions WHERE digest IN (SELECT value FROM json_each(?))",
                (json_text(sorted(digests)),),
            )

        await self._database.write(work)
