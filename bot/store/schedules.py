"""The schedules: what is to be done again, and when it is due next."""

from __future__ import annotations

import sqlite3
from typing import Final

from pydantic import TypeAdapter

from agent.standing_yes import StandingYes
from bot.domain.address import Person, Place
from bot.domain.schedule import Plan, Rule, RuleKind, Schedule
from bot.domain.task_request import TaskDraft
from bot.domain.watch import WatchState
from bot.store.connection import Transaction, Value
from bot.store.database import Database
from bot.store.json_columns import address_of, address_text, readings_of, row_number, watch_of, watch_text

_DRAFTS: Final = TypeAdapter(TaskDraft)


class Schedules:
    """The table of schedules."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, plan: Plan, *, now: float, due: float) -> Schedule:
        """Keep a plan; the same event gives the schedule that it gave before. A watch is paused until its person has
        seen what was understood and resumes it.
        """

        async def work(transaction: Transaction) -> Schedule:
            origin = address_text(plan.place.address)
            rows = await transaction.fetch(
                "INSERT INTO schedules (person_platform, person_id, person_name, person_language, origin, private,"
                " event, kind, rule, zone, words, draft, standing, watch, paused, created, due)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING *",
                (
                    plan.person.platform,
                    plan.person.id,
                    plan.person.name,
                    plan.person.language,
                    origin,
                    int(plan.place.private),
                    plan.event,
                    plan.rule.kind.value,
                    plan.rule.text,
                    plan.rule.zone,
                    plan.words,
                    _DRAFTS.dump_json(plan.draft, exclude_defaults=True).decode(),
                    "" if plan.standing is None else plan.standing.model_dump_json(),
                    watch_text(plan.watch),
                    int(plan.watch is not None),
                    now,
                    due,
                ),
            )
            return _schedule(
                rows[0]
                if rows
                else (
                    await transaction.fetch(
                        "SELECT * FROM schedules WHERE origin = ? AND event = ?", (origin, plan.event)
                    )
                )[0]
            )

        return await self._database.write(work)

    async def get(self, schedule: str) -> Schedule | None:
        """The schedule with this number, None when there is none."""
        number = row_number(schedule)
        if number is None:
            return None
        found = await self._all("SELECT * FROM schedules WHERE id = ?", number)
        return found[0] if found else None

    async def all(self, person: Person | None = None) -> tuple[Schedule, ...]:
        """All, or one person's; those that are due first come first, paused ones last."""
        if person is None:
            return await self._all("SELECT * FROM schedules ORDER BY paused, due, id")
        return await self._all(
            "SELECT * FROM schedules WHERE person_platform = ? AND person_id = ? ORDER BY paused, due, id",
            person.platform,
            person.id,
        )

    async def readings(self, transaction: Transaction, schedule: str) -> WatchState | None:
        """What a watch remembers of its readings; None when it is not there any more."""
        rows = await transaction.fetch("SELECT readings FROM schedules WHERE id = ?", (int(schedule),))
        return readings_of(rows[0]["readings"]) if rows else None

    async def remember(self, transaction: Transaction, schedule: str, readings: WatchState) -> None:
        """From now on the watch remembers this."""
        await transaction.fetch("UPDATE schedules SET readings = ? WHERE id = ?", (watch_text(readings), int(schedule)))

    async def due(self, now: float) -> tuple[Schedule, ...]:
        """The schedules whose time has come."""
        return await self._all("SELECT * FROM schedules WHERE paused = 0 AND due <= ? ORDER BY due, id", now)

    async def first_due(self) -> float | None:
        """The first time at which something is due."""
        rows = await self._database.fetch("SELECT MIN(due) FROM schedules WHERE paused = 0")
        return None if rows[0][0] is None else float(rows[0][0])

    async def begun(self, schedule: Schedule, task: str) -> None:
        """A run was begun as this task."""
        await self._change("UPDATE schedules SET task = ?, skipped = 0 WHERE id = ?", int(task), int(schedule.id))

    async def skipped(self, schedule: Schedule) -> None:
        """A run was left out."""
        await self._change("UPDATE schedules SET skipped = skipped + 1 WHERE id = ?", int(schedule.id))

    async def advance(self, schedule: Schedule, due: float | None) -> None:
        """What was due is dealt with; the next time is `due`. With None the schedule is over and goes."""
        # One that was changed meanwhile (paused, resumed) keeps the time that it has now.
        if due is None:
            await self._change("DELETE FROM schedules WHERE id = ? AND due = ?", int(schedule.id), schedule.due)
        else:
            await self._change(
                "UPDATE schedules SET due = ? WHERE id = ? AND due = ?", due, int(schedule.id), schedule.due
            )

    async def pause(self, schedule: str) -> None:
        """Pause a schedule: it is not due until it is resumed."""
        await self._change("UPDATE schedules SET paused = 1 WHERE id = ?", int(schedule))

    async def resume(self, schedule: str, due: float) -> None:
        """Resume a schedule: it is due again, from then on."""
        await self._change("UPDATE schedules SET paused = 0, due = ?, skipped = 0 WHERE id = ?", due, int(schedule))

    async def revoke(self, schedule: str) -> None:
        """Nothing of it is allowed ahead any more."""
        await self._change("UPDATE schedules SET standing = '' WHERE id = ?", int(schedule))

    async def remove(self, schedule: str) -> bool:
        """Remove a schedule; False when it was not there."""
        return await self._change("DELETE FROM schedules WHERE id = ? RETURNING 1", int(schedule))

    async def _all(self, sql: str, *values: Value) -> tuple[Schedule, ...]:
        return tuple(_schedule(row) for row in await self._database.fetch(sql, values))

    async def _change(self, sql: str, *values: Value) -> bool:
        async def work(transaction: Transaction) -> bool:
            return bool(await transaction.fetch(sql, values))

        return await self._database.write(work)


def _standing(row: sqlite3.Row) -> StandingYes | None:
    if not row["standing"]:
        return None
    return StandingYes.model_validate_json(row["standing"]).model_copy(update={"schedule": str(row["id"])})


def _schedule(row: sqlite3.Row) -> Schedule:
    return Schedule(
        id=str(row["id"]),
        plan=Plan(
            person=Person(row["person_platform"], row["person_id"], row["person_name"], row["person_language"]),
            place=Place(address_of(row["origin"]), private=bool(row["private"])),
            event=row["event"],
            rule=Rule(RuleKind(row["kind"]), row["rule"], row["zone"]),
            words=row["words"],
            draft=_DRAFTS.validate_json(row["draft"]),
            standing=_standing(row),
            watch=watch_of(row["watch"]),
        ),
        created=row["created"],
        due=row["due"],
        paused=bool(row["paused"]),
        task="" if row["task"] is None else str(row["task"]),
        skipped=row["skipped"],
        readings=readings_of(row["readings"]),
    )
