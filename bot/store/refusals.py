"""How often somebody was turned away, by platform, kind and day. Who it was is not kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.store.connection import Transaction
from bot.store.database import Database


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
