"""The table of schedules, triggers and webhooks that start tasks: what to do, when it is next due, and what has
started it.
"""

from __future__ import annotations

import asyncio
from typing import Final

from sqlalchemy import bindparam, delete, func, select, update

from agent.questions import StandingYes
from bot.domain.address import Person
from bot.domain.schedule import Plan, Schedule
from bot.domain.task import OverTriggerLimit
from bot.domain.trigger import TaskTrigger
from bot.domain.watch import WatchState
from bot.store.codec import Codec, row_number
from bot.store.database import Database, Parameters, Row, Transaction, Value, given, insert
from bot.store.errors import StoreConflict
from bot.store.tables.tasks import schedules, trigger_marks

_PLAN: Final = Codec(Plan, schedules, lean={"draft"})


def _standing(row: Row) -> StandingYes | None:
    """Return a schedule's standing approval. It is stored without the schedule's number, which it gets here."""
    kept = row["standing"]
    return (
        None if kept is None else StandingYes.model_validate_json(kept).model_copy(update={"schedule": str(row["id"])})
    )


_SCHEDULE: Final = Codec(Schedule, schedules, own={"plan.standing": _standing})

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
"""Seconds for which marks are kept: a hundred times as long as a notification can start a task."""
_MARKED: Final = select(trigger_marks.c.mark).where(given(trigger_marks.c.schedule), given(trigger_marks.c.mark))
_MARK: Final = insert(trigger_marks, trigger_marks.c.keys())
_BEGUN_SINCE: Final = select(func.count()).where(
    given(trigger_marks.c.schedule),
    trigger_marks.c.begins,
    trigger_marks.c.at > bindparam("since"),
    # Tasks started at a time in the future (the clock was set back since) do not count for this hour.
    trigger_marks.c.at <= bindparam("now"),
)
_FORGET_MARKS: Final = delete(trigger_marks).where(
    given(trigger_marks.c.schedule), trigger_marks.c.at < bindparam("before")
)
_REMOVE: Final = delete(schedules).where(_THAT).returning(schedules.c.id)


class Schedules:
    """The table of schedules: tasks that are given at set times, by a phone's notification (trigger), or by an HTTP
    call (hook).
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.trigger_begun = asyncio.Event()
        """Set whenever a trigger may have become active, to wake up whoever waits for the first one."""
        self.adding = asyncio.Lock()
        """Held by the caller of `add` from the time when it counts the existing schedules."""

    async def add(self, plan: Plan, *, now: float, due: float) -> Schedule:
        """Store a plan as a schedule, first due at `due` (Unix seconds), and return it. If the same event (message)
        created one before, return that one.

        A watch (a schedule that reads one value) is paused until its person has seen how it was understood and resumes
        it. Raises StoreConflict if another schedule with the same HTTP address exists.
        """
        values: Parameters = {**_PLAN.values(plan), "paused": plan.watch is not None, "created": now, "due": due}

        async def work(transaction: Transaction) -> Schedule:
            rows = await transaction.fetch(_ADD, values) or await transaction.fetch(_OF_EVENT, values)
            if not rows:
                raise StoreConflict(f"{plan.words} is taken")
            return _SCHEDULE.read(rows[0])

        made = await self._database.write(work)
        self.trigger_begun.set()
        return made

    async def get(self, schedule: str) -> Schedule | None:
        """Return the schedule with this number; None if there is none."""
        number = row_number(schedule)
        rows = [] if number is None else await self._database.fetch(_GET, {"id": number})
        return _SCHEDULE.first(rows)

    async def all(self, person: Person | None = None) -> tuple[Schedule, ...]:
        """Return all schedules, or those of one account, in the order in which they are due; paused ones come last."""
        if person is None:
            return _SCHEDULE.read_all(await self._database.fetch(_ALL))
        whose: Parameters = {"person_platform": person.platform, "person_id": person.id}
        return _SCHEDULE.read_all(await self._database.fetch(_OF_PERSON, whose))

    async def readings(self, transaction: Transaction, schedule: str) -> WatchState | None:
        """Return the stored readings of a watch (a schedule that reads one value); None if it no longer exists."""
        rows = await transaction.fetch(_READINGS, {"id": int(schedule)})
        return WatchState.model_validate_json(rows[0]["readings"]) if rows else None

    async def remember(self, transaction: Transaction, schedule: str, readings: WatchState) -> None:
        """Store the readings of a watch (a schedule that reads one value)."""
        await transaction.fetch(_REMEMBER, {"id": int(schedule), "readings": readings.model_dump_json()})

    async def due(self, now: float) -> tuple[Schedule, ...]:
        """Return the schedules that are due at `now` (Unix seconds), the longest due first."""
        return _SCHEDULE.read_all(await self._database.fetch(_DUE, {"now": now}))

    async def triggers(self) -> tuple[Schedule, ...]:
        """Return the schedules that are started by a phone's notification, without paused ones."""
        return _SCHEDULE.read_all(await self._database.fetch(_TRIGGERS))

    async def hooks(self) -> tuple[Schedule, ...]:
        """Return the schedules that are started by an HTTP call, including paused ones."""
        return _SCHEDULE.read_all(await self._database.fetch(_HOOKS))

    async def is_marked(self, schedule: str, mark: str) -> bool:
        """Return whether a trigger has handled the notification with this mark."""
        return bool(await self._database.fetch(_MARKED, {"schedule": int(schedule), "mark": mark}))

    async def mark(self, transaction: Transaction, trigger: TaskTrigger, *, now: float, begins: bool) -> None:
        """Record that a trigger has handled a notification; `begins` says whether it starts a task.

        Raises OverTriggerLimit if it would start a task but has started as many within the last hour as it may, and
        StoreConflict if it has handled this notification before.
        """
        schedule = int(trigger.schedule)
        rows = await transaction.fetch(_BEGUN_SINCE, {"schedule": schedule, "since": now - HOUR, "now": now})
        if begins and rows[0][0] >= trigger.per_hour:
            raise OverTriggerLimit(trigger.per_hour)
        await transaction.fetch(_FORGET_MARKS, {"schedule": schedule, "before": now - KEPT})
        await transaction.fetch(_MARK, {"schedule": schedule, "mark": trigger.mark, "at": now, "begins": begins})

    async def first_due(self) -> float | None:
        """Return the earliest time at which an active schedule is due, in Unix seconds; None if there is none."""
        due: float | None = (await self._database.fetch(_FIRST_DUE))[0][0]
        return due

    async def begun(self, schedule: Schedule, task: str) -> None:
        """Record that the schedule has started this task, and reset the number of skipped runs."""
        await self._database.execute(_BEGUN, {"id": int(schedule.id), "task": int(task)})

    async def skipped(self, schedule: Schedule) -> None:
        """Record that a run was skipped, because the one before it had not ended."""
        await self._database.execute(_SKIPPED, {"id": int(schedule.id)})

    async def advance(self, schedule: Schedule, due: float | None) -> None:
        """Set the schedule's next due time after it was handled; with None delete it, because it is over.

        Does nothing if its due time was changed meanwhile, for instance by a pause and resume.
        """
        values: dict[str, Value] = {"id": int(schedule.id), "was": schedule.due, "due": due}
        await self._database.execute(_OVER if due is None else _ADVANCE, values)

    async def pause(self, schedule: str) -> None:
        """Pause a schedule, so that it starts nothing until it is resumed."""
        await self._database.execute(_PAUSE, {"id": int(schedule)})

    async def resume(self, schedule: str, due: float) -> None:
        """Resume a schedule; it is next due at `due` (Unix seconds)."""
        await self._database.execute(_RESUME, {"id": int(schedule), "due": due})
        self.trigger_begun.set()

    async def revoke(self, schedule: str) -> None:
        """Delete the standing approval of a schedule: the messages that it may send without asking."""
        await self._database.execute(_REVOKE, {"id": int(schedule)})

    async def remove(self, schedule: str) -> bool:
        """Delete a schedule. Returns False if there was none."""
        return bool(await self._database.execute(_REMOVE, {"id": int(schedule)}))
