"""Which tiers admins have given to whom, and with which one a task was accepted."""

from __future__ import annotations

from bot.access import TierGift
from bot.store.connection import Source, Transaction
from bot.store.database import Database


class Tiers:
    """The tables of tiers: one for each person or role, one for each task that has any."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> tuple[TierGift, ...]:
        """Everything that was given."""
        rows = await self._database.fetch("SELECT * FROM person_tiers ORDER BY platform, guild, subject")
        return tuple(TierGift(row["platform"], row["subject"], row["tier"], guild=row["guild"]) for row in rows)

    async def give(self, transaction: Transaction, gift: TierGift) -> None:
        """Keep a tier in the place of the one that the same had."""
        await transaction.fetch(
            "INSERT INTO person_tiers (platform, guild, subject, tier) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET tier = excluded.tier",
            (gift.platform, gift.guild, gift.id, gift.tier),
        )

    async def take(self, transaction: Transaction, platform: str, guild: str, subject: str) -> str:
        """Forget whoever's tier; returns its name, "" when there was none."""
        rows = await transaction.fetch(
            "DELETE FROM person_tiers WHERE platform = ? AND guild = ? AND subject = ? RETURNING tier",
            (platform, guild, subject),
        )
        return str(rows[0]["tier"]) if rows else ""

    async def accepted_with(self, transaction: Transaction, task: str, tier: str) -> None:
        """The task was accepted within this tier."""
        await transaction.fetch("INSERT INTO task_tiers (task, tier) VALUES (?, ?)", (int(task), tier))

    async def now_with(self, task: str, tier: str) -> None:
        """The task (or what it is a part of) is within this tier from now on; "" for none. Raises StoreError."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "DELETE FROM task_tiers WHERE task = (SELECT COALESCE(parent, id) FROM tasks WHERE id = ?)",
                (int(task),),
            )
            if tier:
                await transaction.fetch(
                    "INSERT INTO task_tiers (task, tier) SELECT COALESCE(parent, id), ? FROM tasks WHERE id = ?",
                    (tier, int(task)),
                )

        await self._database.write(work)

    async def of_task(self, task: str, source: Source | None = None) -> str:
        """The tier within which the task (or what it is a part of) was accepted, "" when nothing limited it."""
        rows = await (source or self._database).fetch(
            "SELECT tier FROM task_tiers WHERE task = (SELECT COALESCE(parent, id) FROM tasks WHERE id = ?)",
            (int(task),),
        )
        return str(rows[0]["tier"]) if rows else ""
