"""The rights that admins have given."""

from __future__ import annotations

from bot.access import Grant, Right
from bot.store.connection import Source, Transaction
from bot.store.database import Database


class Grants:
    """The table of grants: one right for each person or role and phone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, source: Source | None = None) -> tuple[Grant, ...]:
        """Everything that was given. With `source`, as an open transaction sees it."""
        rows = await (source or self._database).fetch("SELECT * FROM grants ORDER BY platform, guild, subject, phone")
        return tuple(
            Grant(row["platform"], row["subject"], Right(row["may"]), guild=row["guild"], phone=row["phone"])
            for row in rows
        )

    async def give(self, transaction: Transaction, grant: Grant) -> None:
        """Keep a right in the place of the one that was given to the same for the same phone."""
        await transaction.fetch(
            "INSERT INTO grants (platform, guild, subject, phone, may) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET may = excluded.may",
            (grant.platform, grant.guild, grant.id, grant.phone, grant.right.value),
        )

    async def take(self, transaction: Transaction, grant: Grant) -> None:
        """Forget a right."""
        await transaction.fetch(
            "DELETE FROM grants WHERE platform = ? AND guild = ? AND subject = ? AND phone = ?",
            (grant.platform, grant.guild, grant.id, grant.phone),
        )
