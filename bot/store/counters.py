"""Counts for monitoring: tasks, questions, messages to send and refusals. They contain no names and no texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import func, select

from bot.store.codec import Codec
from bot.store.connection import Database
from bot.store.engine import insert
from bot.store.tables.chats import outbox, questions
from bot.store.tables.people import refusals
from bot.store.tables.tasks import tasks


@dataclass(frozen=True, slots=True)
class FiguresNow:
    """The current counts.

    - `tasks`: Number of tasks by (state, outcome); the outcome is "" while a task has not ended. A task on several
      phones counts once per phone.
    - `questions`: Number of open questions.
    - `outbox`: Number of messages that are not sent, by state.
    - `refusals`: Number of refusals since the store was created, by (platform, kind).
    """

    tasks: Mapping[tuple[str, str], int]
    questions: int
    outbox: Mapping[str, int]
    refusals: Mapping[tuple[str, str], int]


_COUNT: Final = func.count().label("count")
_OUTCOME: Final = func.coalesce(tasks.c.outcome, "").label("outcome")
_TASKS: Final = select(tasks.c.state, _OUTCOME, _COUNT).where(tasks.c.parts == 0).group_by(tasks.c.state, _OUTCOME)
_QUESTIONS: Final = select(_COUNT).select_from(questions).where(questions.c.answer.is_(None), ~questions.c.expired)
_OUTBOX: Final = select(outbox.c.state, _COUNT).where(outbox.c.state != "sent").group_by(outbox.c.state)
_REFUSALS: Final = select(refusals.c.platform, refusals.c.kind, func.sum(refusals.c.count).label("count")).group_by(
    refusals.c.platform, refusals.c.kind
)


class Figures:
    """Computes counts over the store's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def now(self) -> FiguresNow:
        """Count everything now. Raises StoreError."""
        tasks, questions, outbox, refusals = [
            await self._database.fetch(statement) for statement in (_TASKS, _QUESTIONS, _OUTBOX, _REFUSALS)
        ]
        return FiguresNow(
            tasks={(row["state"], row["outcome"]): row["count"] for row in tasks},
            questions=int(questions[0][0]),
            outbox={row["state"]: row["count"] for row in outbox},
            refusals={(row["platform"], row["kind"]): row["count"] for row in refusals},
        )


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """The number of refusals of one kind on one platform and day (UTC, YYYY-MM-DD)."""

    platform: str
    kind: str
    day: str
    count: int


_REFUSAL: Final = Codec(RefusalCount, refusals)
_REFUSE: Final = insert(refusals, _REFUSAL.columns).on_conflict_do_update(
    index_elements=list(refusals.primary_key), set_={"count": refusals.c.count + 1}
)
_ALL: Final = select(refusals).order_by(refusals.c.day.desc(), refusals.c.platform, refusals.c.kind)


class Refusals:
    """The table that counts how often the service refused somebody, per platform, kind and day."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def count(self, platform: str, kind: str) -> None:
        """Count one more refusal of this kind on this platform for the current day (UTC)."""
        day = datetime.fromtimestamp(self._clock(), UTC).date().isoformat()
        await self._database.execute(_REFUSE, _REFUSAL.values(RefusalCount(platform, kind, day, 1)))

    async def totals(self) -> tuple[RefusalCount, ...]:
        """Return all counts, the latest day first."""
        return _REFUSAL.read_all(await self._database.fetch(_ALL))
