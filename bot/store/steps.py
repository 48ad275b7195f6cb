"""The table of the steps of tasks, which are shown in cards, threads and replays."""

from __future__ import annotations

import json
from typing import Final

from sqlalchemy import bindparam, or_, select

from agent.effect_facts import effects_data, effects_of
from agent.recorded_skills.step_record import StepRecord
from agent.run import RunId
from bot.domain.task import StepRow
from bot.store.connection import Database, Parameters, Row, Transaction
from bot.store.engine import insert
from bot.store.json_columns import json_text, usage_of, usage_text
from bot.store.tables.metadata import Number
from bot.store.tables.tasks import steps, tasks

_ADD: Final = (
    insert(steps, [column.key for column in steps.c if not column.primary_key])
    .on_conflict_do_nothing()
    .returning(steps.c.number)
)
_TASK: Final = bindparam("task", type_=Number)
# By tasks alone: with `steps.task` in place of their id SQLite reads all steps that there are.
_FOUND: Final = (
    select(steps, tasks.c.parent, tasks.c.phone_name)
    .join(tasks)
    .where(or_(tasks.c.id == _TASK, tasks.c.parent == _TASK))
)
_OF: Final = _FOUND.order_by(steps.c.number).offset(bindparam("after"))
_LAST: Final = _FOUND.order_by(steps.c.number.desc()).limit(1)


class Steps:
    """The table of steps. A step is one round of an agent on a phone: look at the screen, decide, act."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, transaction: Transaction, row: StepRow) -> bool:
        """Store a step. Returns False and changes nothing if it is stored already, which happens after a restart."""
        mark_x, mark_y = row.mark or (None, None)
        values: Parameters = {
            "task": int(row.part or row.task),
            "run": str(row.run),
            "subtask": row.subtask,
            "step": row.step,
            "max_steps": row.max_steps,
            "summary": row.summary,
            "thought": row.thought,
            "action": json_text(row.action),
            "effects": json_text(effects_data(row.effect)),
            "app": row.app,
            "app_name": row.app_name,
            "frame": row.frame,
            "mark_x": mark_x,
            "mark_y": mark_y,
            "record": row.record.model_dump_json(exclude_defaults=True),
            "usage": usage_text(row.usage),
            "seconds": row.seconds,
            "at": row.at,
        }
        return bool(await transaction.fetch(_ADD, values))

    async def of(self, task: str, *, after: int = 0) -> tuple[StepRow, ...]:
        """Return the steps of a task in order, without the first `after`; for a task on several phones, the steps of
        all its parts.
        """
        rows = await self._database.fetch(_OF, {"task": int(task), "after": after})
        return tuple(map(_step, rows))

    async def last(self, task: str) -> StepRow | None:
        """Return the latest step of a task; None before the first."""
        rows = await self._database.fetch(_LAST, {"task": int(task)})
        return _step(rows[0]) if rows else None


def _step(row: Row) -> StepRow:
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
