"""Counts for whoever watches the service, and how often somebody was turned away. Nobody's name and no text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.store.connection import Transaction
from bot.store.database import Database


@dataclass(frozen=True, slots=True)
class FiguresNow:
    """How much there is. `tasks` by state and outcome ("" while a task lives), `outbox` by state without what is sent,
    `refusals` by platform and kind, since the store began.
    """

    tasks: Mapping[tuple[str, str], int]
    questions: int
    outbox: Mapping[str, int]
    refusals: Mapping[tuple[str, str], int]


class Figures:
    """Counts over the tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def now(self) -> FiguresNow:
        """Count. Raises StoreError."""
        tasks = await self._database.fetch(
            "SELECT state, COALESCE(outcome, '') AS outcome, COUNT(*) AS count FROM tasks WHERE parts = 0 GROUP BY 1, 2"
        )
        questions = await self._database.fetch("SELECT COUNT(*) FROM questions WHERE answer IS NULL AND expired = 0")
        outbox = await self._database.fetch(
            "SELECT state, COUNT(*) AS count FROM outbox WHERE state <> 'sent' GROUP BY state"
        )
        refusals = await self._database.fetch(
            "SELECT platform, kind, SUM(count) AS count FROM refusals GROUP BY platform, kind"
        )
        return FiguresNow(
            tasks={(row["state"], row["outcome"]): row["count"] for row in tasks},
            questions=int(questions[0][0]),
            outbox={row["state"]: row["count"] for row in outbox},
            refusals={(row["platform"], row["kind"]): row["count"] for row in refusals},
        )


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """So many refusals of one kind on one platform and day (UTC, YYYY-MM-DD)."""

    platform: str
    kind: str
    day: str
    count: int


class Refusals:
    """The table of refusals."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def count(self, platform: str, kind: str) -> None:
        """One more."""
        day = datetime.fromtimestamp(self._clock(), UTC).date().isoformat()

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO refusals (platform, kind, day, count) VALUES (?, ?, ?, 1)"
                " ON CONFLICT DO UPDATE SET count = count + 1",
                (platform, kind, day),
            )

        await self._database.write(work)

    async def totals(self) -> tuple[RefusalCount, ...]:
        """All counts, the latest day first."""
        rows = await self._database.fetch("SELECT * FROM refusals ORDER BY day DESC, platform, kind")
        return tuple(RefusalCount(row["platform"], row["kind"], row["day"], row["count"]) for row in rows)
