"""Deletes old rows in small batches. A process killed in between leaves each task complete or removed as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Table,
    Text,
    bindparam,
    cast,
    delete,
    exists,
    func,
    select,
    tuple_,
    update,
)

from bot.store.codec import json_text
from bot.store.database import Row, Statement, TableAccess, Transaction, given, listed
from bot.store.tables.chats import cards, hand_pictures, missed, outbox, questions
from bot.store.tables.metadata import Number, Time
from bot.store.tables.people import console_messages, forgettings
from bot.store.tables.tasks import actions, leases, steps, task_events, tasks, tickets, tool_calls

BATCH: Final = 500
"""Most rows per table that one transaction deletes where they belong to no task; it takes some milliseconds."""

_TASK: Final = bindparam("task", type_=Number)
_FIRST_RUN: Final = cast(_TASK, Text) + "-"
_AFTER_RUNS: Final = cast(_TASK, Text) + "."
"""Runs are called "<task>-<number>"; "." is the character behind "-"."""
_OF_TASK: Final[Sequence[Statement]] = (
    delete(task_events).where(task_events.c.task == _TASK),
    delete(steps).where(steps.c.task == _TASK),
    delete(questions).where(questions.c.task == _TASK),
    delete(outbox).where(outbox.c.task == _TASK),
    delete(cards).where(cards.c.task == _TASK),
    delete(actions).where(actions.c.run >= _FIRST_RUN, actions.c.run < _AFTER_RUNS),
    delete(tickets).where(tickets.c.run >= _FIRST_RUN, tickets.c.run < _AFTER_RUNS),
    delete(tool_calls).where(tool_calls.c.task == cast(_TASK, Text)),
    update(tasks).where(tasks.c.id == _TASK).values(pruned=2, data=None, todos="[]"),
)
"""Delete a task's rows except its own one, which is emptied: usage, audit, schedules and task lists need it."""

_IS_PRUNABLE: Final = (tasks.c.state == "ended") & (tasks.c.pruned < 2)
"""Worded exactly like the condition of the index `tasks_prunable`."""
_FORGOTTEN: Final = exists().where(
    forgettings.c.person == tasks.c.person_platform + ":" + tasks.c.person_id, forgettings.c.at >= tasks.c.created
)
"""Whether a task's person has had something forgotten since it began."""
_BEFORE: Final = bindparam("before", type_=Time)
_LIMIT: Final = bindparam("limit", type_=Number)
_WITH_CHECKPOINTS: Final = (
    select(tasks.c.id)
    .where(_IS_PRUNABLE, tasks.c.pruned < 1, (tasks.c.ended < _BEFORE) | _FORGOTTEN)
    .order_by(tasks.c.ended)
    .limit(_LIMIT)
)
_PART: Final = tasks.alias("part")
_TELLER: Final = tasks.alias("teller")
_IS_TELLING: Final = (
    exists()
    .select_from(outbox.join(_TELLER, _TELLER.c.id == outbox.c.task))
    .where((_TELLER.c.id == tasks.c.id) | (_TELLER.c.parent == tasks.c.id), outbox.c.state.in_(("pending", "sending")))
)
_OLD_TASKS: Final = (
    select(tasks.c.id)
    .where(
        _IS_PRUNABLE,
        tasks.c.pruned == 1,
        tasks.c.ended < _BEFORE,
        tasks.c.parent.is_(None),
        ~exists().where(_PART.c.parent == tasks.c.id, _PART.c.pruned != 1),
        ~_IS_TELLING,
    )
    .order_by(tasks.c.ended)
    .limit(_LIMIT)
)
_FORGOT_CHECKPOINTS: Final = update(tasks).where(given(tasks.c.id), tasks.c.pruned == 0).values(pruned=1)
_WITH_PARTS: Final = select(tasks.c.id).where((tasks.c.id == _TASK) | (tasks.c.parent == _TASK))
_FORGET_MENTIONS: Final[Sequence[Statement]] = (
    delete(tool_calls)
    .where(
        tool_calls.c.id.in_(
            select(tool_calls.c.id)
            .join(tasks, tool_calls.c.task == cast(tasks.c.id, Text))
            .where(_IS_PRUNABLE, _FORGOTTEN)
            .limit(_LIMIT)
        )
    )
    .returning(tool_calls.c.id),
    delete(task_events)
    .where(
        tuple_(task_events.c.task, task_events.c.number).in_(
            select(task_events.c.task, task_events.c.number)
            .join(tasks)
            .where(_IS_PRUNABLE, _FORGOTTEN, task_events.c.kind.in_(("planned", "tool call", "tool result")))
            .limit(_LIMIT)
        )
    )
    .returning(task_events.c.number),
)
_ASKED: Final = listed("tasks")
_WITHOUT_RECORD: Final = select(_ASKED.c.value.label("id")).where(
    ~exists().where(tasks.c.id == cast(_ASKED.c.value, Number), tasks.c.pruned < 2)
)


def _some(table: Table, *conditions: ColumnElement[bool]) -> Statement:
    """Return a statement that deletes at most `:limit` rows that meet the conditions, and returns their keys."""
    key = tuple_(*table.primary_key)
    return (
        delete(table)
        .where(key.in_(select(*table.primary_key).where(*conditions).limit(_LIMIT)))
        .returning(*table.primary_key)
    )


_LATER: Final = leases.alias("later")
_LATEST: Final = console_messages.alias("latest")
_OLD: Final[Sequence[Statement]] = (
    # The last lease of each phone is not deleted, because the next one must have a higher number.
    _some(
        leases,
        leases.c.released < _BEFORE,
        exists().where(_LATER.c.phone == leases.c.phone, _LATER.c.fence > leases.c.fence),
    ),
    # The last revision is not deleted, as the next must be higher. Messages of unfinished tasks may still change.
    _some(
        console_messages,
        console_messages.c.sent < _BEFORE,
        console_messages.c.revision < select(func.max(_LATEST.c.revision)).scalar_subquery(),
        console_messages.c.sent
        < select(func.coalesce(func.min(tasks.c.created), _BEFORE)).where(tasks.c.state != "ended").scalar_subquery(),
    ),
    # Touches of phones that no task worked on: their runs are called "hand-…".
    _some(actions, actions.c.run >= "hand-", actions.c.run < "hand.", actions.c.begun < _BEFORE),
    _some(hand_pictures, hand_pictures.c.sent < _BEFORE),
    _some(missed, missed.c.written < _BEFORE),
)


class Pruning(TableAccess):
    """Deletes data by age. A task on several phones is deleted together with its parts (one per phone)."""

    async def with_checkpoints(self, before: float, limit: int) -> tuple[str, ...]:
        """Return ended tasks whose checkpoints can be deleted, at most `limit`, the oldest first.

        These ended before the Unix time `before`, or their person had facts forgotten since they were accepted.
        """
        return await self._ids(_WITH_CHECKPOINTS, before, limit)

    async def forgot_checkpoints(self, task: str) -> None:
        """Record that a task's checkpoints are deleted."""
        await self._database.execute(_FORGOT_CHECKPOINTS, {"id": int(task)})

    async def old_tasks(self, before: float, limit: int) -> tuple[str, ...]:
        """Return at most `limit` tasks that can be deleted with `forget`, the oldest first.

        They ended before the Unix time `before`, the checkpoints of them and their parts are deleted, and none of their
        messages waits to be sent.
        """
        return await self._ids(_OLD_TASKS, before, limit)

    async def forget(self, task: str) -> None:
        """Delete the steps, messages, events and the like of the task and its parts in one transaction. The rows of the
        tasks themselves remain, without their results and plans.
        """

        async def work(transaction: Transaction) -> None:
            for row in await transaction.fetch(_WITH_PARTS, {"task": int(task)}):
                for statement in _OF_TASK:
                    await transaction.fetch(statement, {"task": row["id"]})

        await self._database.write(work)

    async def forget_calls(self) -> int:
        """Delete up to `BATCH` tool calls, and as many events about calls or plans, that may mention forgotten facts.
        Returns how many rows.

        They belong to ended tasks whose person had facts forgotten since the task was accepted. The deleted rows are
        also overwritten in the database file where it supports that.
        """

        async def work(transaction: Transaction) -> list[Row]:
            gone = [await transaction.fetch(statement, {"limit": BATCH}) for statement in _FORGET_MENTIONS]
            return [row for rows in gone for row in rows]

        return len(await self._database.erase(work))

    async def without_record(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Return those of these tasks that do not exist or whose data was deleted."""
        rows = await self._database.fetch(_WITHOUT_RECORD, {"tasks": json_text(list(tasks))})
        return tuple(str(row["id"]) for row in rows)

    async def batch(self, before: float) -> int:
        """Delete up to `BATCH` rows per table that are older than the Unix time `before`. Returns how many; 0 when none
        is left.

        The tables: leases (except each phone's last), console messages (except those that may still change, and the
        latest change), inputs made by hand, chat messages that show them, and missed messages.
        """

        async def work(transaction: Transaction) -> int:
            return sum(
                [len(await transaction.fetch(statement, {"before": before, "limit": BATCH})) for statement in _OLD]
            )

        return await self._database.write(work)

    async def _ids(self, statement: Statement, before: float, limit: int) -> tuple[str, ...]:
        rows = await self._database.fetch(statement, {"before": before, "limit": limit})
        return tuple(str(row["id"]) for row in rows)
