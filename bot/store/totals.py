"""Totals over the stored tasks: what they have used, by person, phone, role, model or day, and counts for monitoring,
which contain no names and no texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Table, Text, bindparam, func, literal, or_, select

from agent.models.base import Share, Usage
from agent.models.other_models import Transcript
from bot.domain.address import Person
from bot.domain.locale import day_of
from bot.store.codec import Codec, usage_of
from bot.store.database import (
    JsonField,
    Parameters,
    Row,
    Source,
    TableAccess,
    TimedTableAccess,
    accounts_text,
    insert,
    is_of,
)
from bot.store.tables.chats import outbox, questions, voice_notes
from bot.store.tables.metadata import Number
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
_TASK_COUNTS: Final = (
    select(tasks.c.state, _OUTCOME, _COUNT).where(tasks.c.parts == 0).group_by(tasks.c.state, _OUTCOME)
)
_QUESTION_COUNTS: Final = (
    select(_COUNT).select_from(questions).where(questions.c.answer.is_(None), ~questions.c.expired)
)
_OUTBOX_COUNTS: Final = select(outbox.c.state, _COUNT).where(outbox.c.state != "sent").group_by(outbox.c.state)
_REFUSAL_COUNTS: Final = select(
    refusals.c.platform, refusals.c.kind, func.sum(refusals.c.count).label("count")
).group_by(refusals.c.platform, refusals.c.kind)


class Figures(TableAccess):
    """Computes counts over the store's tables."""

    async def now(self) -> FiguresNow:
        """Count everything now. Raises StoreError."""
        tasks, questions, outbox, refusals = [
            await self._database.fetch(statement)
            for statement in (_TASK_COUNTS, _QUESTION_COUNTS, _OUTBOX_COUNTS, _REFUSAL_COUNTS)
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
_ALL_REFUSALS: Final = select(refusals).order_by(refusals.c.day.desc(), refusals.c.platform, refusals.c.kind)


class Refusals(TimedTableAccess):
    """The table that counts how often the service refused somebody, per platform, kind and day."""

    async def count(self, platform: str, kind: str) -> None:
        """Count one more refusal of this kind on this platform for the current day (UTC)."""
        day = datetime.fromtimestamp(self._clock(), UTC).date().isoformat()
        await self._database.execute(_REFUSE, _REFUSAL.values(RefusalCount(platform, kind, day, 1)))

    async def totals(self) -> tuple[RefusalCount, ...]:
        """Return all counts, the latest day first."""
        return _REFUSAL.read_all(await self._database.fetch(_ALL_REFUSALS))


class UsageBy(StrEnum):
    """The criterion by which usage is grouped."""

    PERSON = "person"
    PHONE = "phone"
    ROLE = "role"
    MODEL = "model"
    DAY = "day"


@dataclass(frozen=True, slots=True)
class VoiceTotals:
    """Totals of transcribed voice notes. `seconds` is the length of the speech; `cost` is None when nothing has a
    price.
    """

    notes: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: VoiceTotals) -> VoiceTotals:
        return VoiceTotals(self.notes + other.notes, self.seconds + other.seconds, _sum(self.cost, other.cost))


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Totals over tasks. `seconds` counts from a task's start to its end, or until now, including the time spent
    waiting for people.
    """

    tasks: int = 0
    steps: int = 0
    seconds: float = 0.0
    tokens: Usage = field(default_factory=Usage)
    """Token counts. `tokens.cost` is the sum of everything that has a price; None when nothing has."""
    unpriced: int = 0
    """Tasks that used tokens of a model without a price: the cost is then too low."""
    voice: VoiceTotals = field(default_factory=VoiceTotals)
    """Voice notes to the bot, which are not part of the tasks' own usage."""

    @property
    def cost(self) -> float | None:
        """The cost of tasks and voice notes together; None when nothing has a price."""
        return _sum(self.tokens.cost, self.voice.cost)

    @property
    def minutes(self) -> float:
        """The duration of the tasks in minutes."""
        return self.seconds / 60.0

    def __add__(self, other: UsageTotals) -> UsageTotals:
        return UsageTotals(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


def _sum(*costs: float | None) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The totals of one group.

    - `key`: The phone's id, the role (`agent.models.base.Share.role`), the model's name, the day (YYYY-MM-DD), or the
      person as "platform:id"; "" if unknown.
    - `label`: A person's last known name; otherwise the same as `key`.

    When grouped by role or model, a task counts in the row of each role or model that it used, with the tokens used
    there; its steps and duration count only in the row of the one that acted. These rows therefore add up to more
    tasks than there were.
    """

    key: str
    label: str
    totals: UsageTotals


def _counts(table: Table) -> tuple[ColumnElement[bool], ...]:
    """Return the SQL conditions for rows of this table that lie in the requested time and belong to one of the
    requested people; without people, to anybody.
    """
    return (
        table.c.created >= bindparam("begin"),
        table.c.created < bindparam("end"),
        or_(bindparam("people", type_=Text()).is_(None), is_of(table, "people")),
    )


_BEFORE: Final = bindparam("before", type_=Number)
_WITHOUT: Final = bindparam("without", type_=Number)
_TASKS: Final = (
    select(
        *(tasks.c.person_platform, tasks.c.person_id, tasks.c.person_name, tasks.c.phone, tasks.c.model),
        *(tasks.c.steps, tasks.c.usage, tasks.c.created, tasks.c.started, tasks.c.ended),
    )
    .where(
        tasks.c.parts == 0,  # a task for several phones used what its parts did
        *_counts(tasks),
        ~(
            (tasks.c.state == "ended")
            & tasks.c.started.is_(None)
            & (func.coalesce(JsonField(tasks.c.usage, "calls"), "0") == "0")
        ),
        or_(_BEFORE.is_(None), tasks.c.id < _BEFORE),
        or_(_WITHOUT.is_(None), tasks.c.id != _WITHOUT),
    )
    .order_by(tasks.c.id)
)
_VOICES: Final = select(voice_notes, literal("").label("phone")).where(*_counts(voice_notes)).order_by(voice_notes.c.id)
_HEAR: Final = insert(voice_notes, [column.key for column in voice_notes.c if column.key != "id"])


class UsageTable(TimedTableAccess):
    """Computes the usage of tasks and voice notes.

    A task counts, with everything that it used, at the time of its acceptance; a voice note when it was transcribed. A
    task on several phones counts as one task per phone. Tasks that ended without having begun (declined, or cancelled
    in the queue) do not count, unless a model was called for them. In all methods `begin` and `end` are Unix seconds,
    the end excluded; `people` are the accounts that count, None for all.
    """

    async def total(
        self,
        begin: float,
        end: float,
        people: Collection[Person] | None = None,
        *,
        before: str | None = None,
        without: str | None = None,
        source: Source | None = None,
    ) -> UsageTotals:
        """Return the totals of everything in that time.

        `before` counts only tasks accepted before this one, `without` leaves this one out. `source` is an open
        transaction to read in.
        """
        source = source or self._database
        values = _values(begin, end, people, before, without)
        rows = await source.fetch(_TASKS, values)
        spoken = [_spoken(row) for row in await source.fetch(_VOICES, values)]
        return sum((*(_totals(row, self._clock()) for row in rows), *spoken), UsageTotals())

    async def heard(self, person: Person, said: Transcript) -> None:
        """Store that a voice note of this person was transcribed, with its duration and cost but not its words."""
        await self._database.execute(
            _HEAR,
            {
                "person_platform": person.platform,
                "person_id": person.id,
                "person_name": person.name,
                "model": said.model,
                "seconds": said.seconds,
                "cost": said.cost,
                "created": self._clock(),
            },
        )

    async def grouped(
        self, by: UsageBy, begin: float, end: float, zone: ZoneInfo, people: Collection[Person] | None = None
    ) -> tuple[UsageRow, ...]:
        """Return the totals of each group: days in order, other groups by tokens, the most first. Empty groups are
        left out.

        `zone` is the time zone in which days begin.
        """
        key = _KEYS[by](zone)
        labels: dict[str, str] = {}
        sums: dict[str, UsageTotals] = {}
        now = self._clock()
        values = _values(begin, end, people)
        parts = [(row, key(row), _spoken(row)) for row in await self._database.fetch(_VOICES, values)]
        for row in await self._database.fetch(_TASKS, values):
            used = _totals(row, now)
            split = _split(by, row, used) if by in {UsageBy.ROLE, UsageBy.MODEL} else {key(row): used}
            parts += [(row, name, part) for name, part in split.items()]
        for row, name, used in parts:
            labels[name] = (row["person_name"] or row["person_id"]) if by is UsageBy.PERSON else name
            sums[name] = sums.get(name, UsageTotals()) + used
        found = [UsageRow(name, labels[name], totals) for name, totals in sums.items()]
        if by is UsageBy.DAY:
            return tuple(sorted(found, key=lambda row: row.key))
        return tuple(sorted(found, key=lambda row: (_rank(row.totals), row.label, row.key)))


def _values(
    begin: float,
    end: float,
    people: Collection[Person] | None,
    before: str | None = None,
    without: str | None = None,
) -> Parameters:
    return {
        "begin": begin,
        "end": end,
        "people": accounts_text(people),
        "before": None if before is None else int(before),
        "without": None if without is None else int(without),
    }


def _spoken(row: Row) -> UsageTotals:
    return UsageTotals(voice=VoiceTotals(1, row["seconds"], row["cost"]))


def _totals(row: Row, now: float) -> UsageTotals:
    tokens = usage_of(row["usage"])
    began = row["started"]
    seconds = 0.0 if began is None else max(0.0, (now if row["ended"] is None else row["ended"]) - began)
    return UsageTotals(1, row["steps"], seconds, tokens, int(_lacks_price(tokens)))


def _lacks_price(tokens: Usage) -> bool:
    return any(share.cost is None and share.tokens for share in tokens.shares)


def _split(by: UsageBy, row: Row, used: UsageTotals) -> dict[str, UsageTotals]:
    """Return what one task used, by role or model. Usage without a model counts for the task's acting model."""

    def key(share: Share) -> str:
        return share.role if by is UsageBy.ROLE else share.model or str(row["model"])

    shares = used.tokens.shares or (Share("", ""),)
    names = list(dict.fromkeys(map(key, shares)))
    if len(names) == 1:
        return {names[0]: used}
    acting = key(next((share for share in shares if share.role in {"", "vision"}), shares[0]))
    split = {}
    for name in names:
        tokens = sum((_usage_of_share(share, used.tokens) for share in shares if key(share) == name), Usage())
        part = UsageTotals(1, tokens=tokens, unpriced=int(_lacks_price(tokens)))
        split[name] = replace(part, steps=used.steps, seconds=used.seconds) if name == acting else part
    return split


def _usage_of_share(share: Share, whole: Usage) -> Usage:
    usage = Usage(share.input, share.output, share.cached, 0, share.calls, whole.estimated, share.cost)
    if share.role == "guard":
        usage = usage.read_by_guard(whole.guard_seconds)
    return replace(usage, booked=(share,)) if share.role else usage


def _rank(totals: UsageTotals) -> tuple[int, int]:
    return -(totals.tokens.input + totals.tokens.output), -totals.tasks


_Key = Callable[[Row], str]
_KEYS: Mapping[UsageBy, Callable[[ZoneInfo], _Key]] = {
    UsageBy.ROLE: lambda _zone: lambda _row: "",
    UsageBy.PERSON: lambda _zone: lambda row: f"{row['person_platform']}:{row['person_id']}",
    UsageBy.PHONE: lambda _zone: lambda row: str(row["phone"]),
    UsageBy.MODEL: lambda _zone: lambda row: str(row["model"]),
    UsageBy.DAY: lambda zone: lambda row: day_of(row["created"], zone).isoformat(),
}
