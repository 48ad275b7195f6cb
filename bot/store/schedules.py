"""The table of schedules: what to repeat, when it is next due, and what has begun it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

from sqlalchemy import bindparam, delete, func, select, update

from bot.domain.address import Person
from bot.domain.schedule import Plan, Schedule
from bot.domain.task import OverTriggerLimit
from bot.domain.trigger import TaskTrigger
from bot.domain.watch import WatchState
from bot.store.codec import Codec
from bot.store.connection import Database, Parameters, Row, Transaction, Value
from bot.store.engine import given, insert
from bot.store.errors import StoreConflict
from bot.store.json_columns import row_number
from bot.store.tables.tasks import schedules, trigger_marks

_PLAN: Final = Codec(Plan, schedules, lean={"draft"})
_SCHEDULE: Final = Codec(Schedule, schedules, lean={"draft"})

_ADD: Final = (
    insert(schedules, (*_PLAN.columns, "paused", "created", "due")).on_conflict_do_nothing().returning(schedules)
)
_OF_EVENT: Final = select(schedules).where(given(schedules.c.place_address), given(schedules.c.event))
_THAT: Final = given(schedules.c.id)
_GET: Final = select(schedules).where(_THAT)
_ALL: Final = select(schedules).order_by(schedules.c.paused, schedules.c.due, schedules.c.id)
_OF_PERSON: Final = _ALL.where(given(schedules.c.person_platform), given(schedules.c.person_id))
_READINGS: Final = select(schedules.c.readings).where(_THAT)
_REMEMBER: Final = update(schedules).where(_THAT).values(readings=bindparam("readings"))
_DUE: Final = (
    select(schedules)
    .where(~schedules.c.paused, schedules.c.due <= bindparam("now"))
    .order_by(schedules.c.due, schedules.c.id)
)
_FIRST_DUE: Final = select(func.min(schedules.c.due)).where(~schedules.c.paused)
_BEGUN: Final = update(schedules).where(_THAT).values(task=bindparam("task"), skipped=0)
_SKIPPED: Final = update(schedules).where(_THAT).values(skipped=schedules.c.skipped + 1)
# One that was changed meanwhile (paused, resumed) keeps the time that it has now.
_WAS_DUE: Final = schedules.c.due == bindparam("was")
_OVER: Final = delete(schedules).where(_THAT, _WAS_DUE)
_ADVANCE: Final = update(schedules).where(_THAT, _WAS_DUE).values(due=bindparam("due"))
_PAUSE: Final = update(schedules).where(_THAT).values(paused=True)
_RESUME: Final = update(schedules).where(_THAT).values(paused=False, due=bindparam("due"), skipped=0)
_REVOKE: Final = update(schedules).where(_THAT).values(standing=None)
_TRIGGERS: Final = (
    select(schedules).where(~schedules.c.paused, schedules.c.trigger.is_not(None)).order_by(schedules.c.id)
)
_HOOKS: Final = select(schedules).where(schedules.c.hook.is_not(None)).order_by(schedules.c.id)
HOUR: Final = 3600.0
KEPT: Final = 7 * 86_400.0
"""Seconds that marks are kept: a hundred times as long as a notification can begin something."""
_MARKED: Final = select(trigger_marks.c.mark).where(given(trigger_marks.c.schedule), given(trigger_marks.c.mark))
_MARK: Final = insert(trigger_marks, trigger_marks.c.keys())
_BEGUN_SINCE: Final = select(func.count()).where(
    given(trigger_marks.c.schedule),
    trigger_marks.c.begins,
    trigger_marks.c.at > bindparam("since"),
    # What was begun at a time that is yet to come, by a clock that was set back since, is not of this hour.
    trigger_marks.c.at <= bindparam("now"),
)
_FORGET_MARKS: Final = delete(trigger_marks).where(
    given(trigger_marks.c.schedule), trigger_marks.c.at < bindparam("before")
)
_REMOVE: Final = delete(schedules).where(_THAT).returning(schedules.c.id)


class Schedules:
    """The table of schedules."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.trigger_begun = asyncio.Event()
        """Set whenever a trigger begins to be looked for, for whoever waits for the first one."""
        self.adding = asyncio.Lock()
        """Held by who looks at how many there are before another one is added."""

    async def add(self, plan: Plan, *, now: float, due: float) -> Schedule:
        """Keep a plan; the same event gives the schedule that it gave before. A watch is paused until its person has
        seen what was understood and resumes it. Raises StoreConflict where another hook has the address.
        """
        values: Parameters = {**_PLAN.values(plan), "paused": plan.watch is not None, "created": now, "due": due}

        async def work(transaction: Transaction) -> Schedule:
            rows = await transaction.fetch(_ADD, values) or await transaction.fetch(_OF_EVENT, values)
            if not rows:
                raise StoreConflict(f"{plan.words} is taken")
            return _schedule(rows[0])

        made = await self._database.write(work)
        self.trigger_begun.set()
        return made

    async def get(self, schedule: str) -> Schedule | None:
        """The schedule with this number, None when there is none."""
        number = row_number(schedule)
        rows = [] if number is None else await self._database.fetch(_GET, {"id": number})
        return _schedule(rows[0]) if rows else None

    async def all(self, person: Person | None = None) -> tuple[Schedule, ...]:
        """All, or one person's; those that are due first come first, paused ones last."""
        if person is None:
            rows = await self._database.fetch(_ALL)
        else:
            rows = await self._database.fetch(_OF_PERSON, {"person_platform": person.platform, "person_id": person.id})
        return tuple(map(_schedule, rows))

    async def readings(self, transaction: Transaction, schedule: str) -> WatchState | None:
        """What a watch remembers of its readings; None when it is not there any more."""
        rows = await transaction.fetch(_READINGS, {"id": int(schedule)})
        return WatchState.model_validate_json(rows[0]["readings"]) if rows else None

    async def remember(self, transaction: Transaction, schedule: str, readings: WatchState) -> None:
        """Store what the watch remembers of its readings."""
        await transaction.fetch(_REMEMBER, {"id": int(schedule), "readings": readings.model_dump_json()})

    async def due(self, now: float) -> tuple[Schedule, ...]:
        """The schedules that are due."""
        return tuple(map(_schedule, await self._database.fetch(_DUE, {"now": now})))

    async def triggers(self) -> tuple[Schedule, ...]:
        """The triggers that are not paused."""
        return tuple(map(_schedule, await self._database.fetch(_TRIGGERS)))

    async def hooks(self) -> tuple[Schedule, ...]:
        """The inbound webhooks, including paused ones."""
        return tuple(map(_schedule, await self._database.fetch(_HOOKS)))

    async def is_marked(self, schedule: str, mark: str) -> bool:
        """Whether a trigger has dealt with the notification of this mark."""
        return bool(await self._database.fetch(_MARKED, {"schedule": int(schedule), "mark": mark}))

    async def mark(self, transaction: Transaction, trigger: TaskTrigger, *, now: float, begins: bool) -> None:
        """Keep that a trigger has dealt with a notification, which `begins` a task or does not. Raises
        OverTriggerLimit where it may begin no more within the hour.
        """
        schedule = int(trigger.schedule)
        rows = await transaction.fetch(_BEGUN_SINCE, {"schedule": schedule, "since": now - HOUR, "now": now})
        if begins and rows[0][0] >= trigger.per_hour:
            raise OverTriggerLimit(trigger.per_hour)
        await transaction.fetch(_FORGET_MARKS, {"schedule": schedule, "before": now - KEPT})
        await transaction.fetch(_MARK, {"schedule": schedule, "mark": trigger.mark, "at": now, "begins": begins})

    async def first_due(self) -> float | None:
        """The first time at which something is due."""
        due: float | None = (await self._database.fetch(_FIRST_DUE))[0][0]
        return due

    async def begun(self, schedule: Schedule, task: str) -> None:
        """Record that a run was begun as this task."""
        await self._database.execute(_BEGUN, {"id": int(schedule.id), "task": int(task)})

    async def skipped(self, schedule: Schedule) -> None:
        """Record that a run was skipped."""
        await self._database.execute(_SKIPPED, {"id": int(schedule.id)})

    async def advance(self, schedule: Schedule, due: float | None) -> None:
        """What was due is dealt with; the next time is `due`. With None the schedule is over and goes."""
        values: dict[str, Value] = {"id": int(schedule.id), "was": schedule.due, "due": due}
        await self._database.execute(_OVER if due is None else _ADVANCE, values)

    async def pause(self, schedule: str) -> None:
        """Pause a schedule: it is not due until it is resumed."""
        await self._database.execute(_PAUSE, {"id": int(schedule)})

    async def resume(self, schedule: str, due: float) -> None:
        """Resume a schedule: it is due again, from then on."""
        await self._database.execute(_RESUME, {"id": int(schedule), "due": due})
        self.trigger_begun.set()

    async def revoke(self, schedule: str) -> None:
        """Withdraw the standing approval of a schedule."""
        await self._database.execute(_REVOKE, {"id": int(schedule)})

    async def remove(self, schedule: str) -> bool:
        """Remove a schedule; False when it was not there."""
        return bool(await self._database.execute(_REMOVE, {"id": int(schedule)}))


def _schedule(row: Row) -> Schedule:
    """What is allowed ahead is kept without the number of the schedule, which there was none of yet."""
    schedule = _SCHEDULE.read(row)
    if schedule.plan.standing is None:
        return schedule
    standing = schedule.plan.standing.model_copy(update={"schedule": schedule.id})
    return replace(schedule, plan=replace(schedule.plan, standing=standing))
