"""The steps of a task, for the card, the thread and the replay."""

from __future__ import annotations

import json
import sqlite3

from agent.effect_facts import effects_data, effects_of
from agent.recorded_skills.step_record import StepRecord
from agent.run_id import RunId
from bot.domain.task import StepRow
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text, usage_of, usage_text


class Steps:
    """The table of steps."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, transaction: Transaction, row: StepRow) -> bool:
        """Keep a step. False when it was told before (after a restart): the first telling stays."""
        mark = row.mark or (None, None)
        added = await transaction.fetch(
            "INSERT INTO steps (task, run, subtask, step, max_steps, summary, thought, action, effects, app,"
            " app_name, frame, mark_x, mark_y, usage, seconds, at, record)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING RETURNING 1",
            (
                int(row.part or row.task),
                str(row.run),
                row.subtask,
                row.step,
                row.max_steps,
                row.summary,
                row.thought,
                json_text(row.action),
                json_text(effects_data(row.effect)),
                row.app,
                row.app_name,
                row.frame,
                *mark,
                usage_text(row.usage),
                row.seconds,
                row.at,
                row.record.model_dump_json(exclude_defaults=True),
            ),
        )
        return bool(added)

    async def of(self, task: str, *, after: int = 0) -> tuple[StepRow, ...]:
        """The steps of a task, in order, but for the first `after`; of one for several phones those of all of them, as
        they were done.
        """
        return await self._found("number LIMIT -1 OFFSET ?2", int(task), after)

    async def last(self, task: str) -> StepRow | None:
        """The last of them, None before the first."""
        return next(iter(await self._found("number DESC LIMIT ?2", int(task), 1)), None)

    async def _found(self, order: str, task: int, number: int) -> tuple[StepRow, ...]:
        rows = await self._database.fetch(
            "SELECT steps.*, tasks.parent, tasks.phone_name FROM steps JOIN tasks ON tasks.id = steps.task"  # noqa: S608 - two fixed orders
            # By tasks alone: with `steps.task = ?1` in its place SQLite reads all steps that there are.
            f" WHERE tasks.id = ?1 OR tasks.parent = ?1 ORDER BY {order}",
            (task, number),
        )
        return tuple(_step(row) for row in rows)


def _step(row: sqlite3.Row) -> StepRow:
    part = row["parent"] is not None
    return StepRow(
        task=str(row["parent"] if part else row["task"]),
        run=RunId.parse(row["run"]),
        subtask=row["subtask"],
        step=row["step"],
        max_steps=row["max_steps"],
        summary=row["summary"],
        thought=row["thought"],
        action=json.loads(row["action"]),
        effect=effects_of(json.loads(row["effects"])),
        app=row["app"],
        app_name=row["app_name"],
        frame=row["frame"],
        mark=None if row["mark_x"] is None else (row["mark_x"], row["mark_y"]),
        usage=usage_of(row["usage"]),
        seconds=row["seconds"],
        at=row["at"],
        part=str(row["task"]) if part else "",
        phone_name=row["phone_name"] if part else "",
        record=StepRecord.model_validate_json(row["record"]),
    )
