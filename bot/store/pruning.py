"""Removing what is old from the tables, a little at a time. A kill in between leaves whole tasks or removed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text

BATCH: Final = 500
"""Rows that one transaction removes at most where they belong to no task: it takes some milliseconds."""

_OF_TASK: Final = (
    "DELETE FROM task_events WHERE task = ?1",
    "DELETE FROM steps WHERE task = ?1",
    "DELETE FROM questions WHERE task = ?1",
    "DELETE FROM outbox WHERE task = ?1",
    "DELETE FROM cards WHERE task = ?1",
    # Runs are called "<task>-<number>"; "." is the character behind "-".
    "DELETE FROM actions WHERE run >= ?1 || '-' AND run < ?1 || '.'",
    "DELETE FROM tickets WHERE run >= ?1 || '-' AND run < ?1 || '.'",
    "DELETE FROM tool_calls WHERE task = CAST(?1 AS TEXT)",
    "UPDATE tasks SET pruned = 2, data = NULL, todos = '[]' WHERE id = ?1",
)
"""What a task leaves behind beside its own row. That row stays: usage, audit, schedules and `tasks` read it."""

_LEASES: Final = (
    "DELETE FROM leases WHERE (phone, fence) IN (SELECT phone, fence FROM leases AS old WHERE released < ?1"
    # The last one of each phone stays: the next must have a higher number, for ever.
    " AND fence < (SELECT MAX(fence) FROM leases WHERE phone = old.phone) LIMIT ?2) RETURNING 1"
)
_CONSOLE: Final = (
    "DELETE FROM console_messages WHERE id IN (SELECT id FROM console_messages WHERE sent < ?1"
    # The last revision stays: the next must be higher. What a living task has shown may still be changed.
    " AND revision < (SELECT MAX(revision) FROM console_messages)"
    " AND sent < (SELECT COALESCE(MIN(created), ?1) FROM tasks WHERE state <> 'ended') LIMIT ?2) RETURNING 1"
)
_FORGOTTEN_CALLS: Final = (
    "DELETE FROM tool_calls WHERE id IN (SELECT tool_calls.id FROM forgettings"
    " JOIN tasks ON forgettings.person = person_platform || ':' || person_id AND forgettings.at >= tasks.created"
    " JOIN tool_calls ON tool_calls.task = CAST(tasks.id AS TEXT)"
    " WHERE tasks.state = 'ended' AND pruned < 2 LIMIT ?) RETURNING 1"
)
_FORGOTTEN_IN_LOGS: Final = (
    "DELETE FROM task_events WHERE (task, number) IN (SELECT task_events.task, number FROM forgettings"
    " JOIN tasks ON forgettings.person = person_platform || ':' || person_id AND forgettings.at >= tasks.created"
    " JOIN task_events ON task_events.task = tasks.id"
    " WHERE tasks.state = 'ended' AND pruned < 2 AND kind IN ('planned', 'tool call', 'tool result') LIMIT ?)"
    " RETURNING 1"
)
_BY_HAND: Final = (
    # Touches of phones that no task worked on: their runs are called "hand-…".
    "DELETE FROM actions WHERE (run, subtask, step, part) IN (SELECT run, subtask, step, part FROM actions"
    " WHERE run >= 'hand-' AND run < 'hand.' AND begun < ?1 LIMIT ?2) RETURNING 1"
)
_MISSED: Final = "DELETE FROM missed WHERE id IN (SELECT id FROM missed WHERE written < ?1 LIMIT ?2) RETURNING 1"


_HAND_PICTURES: Final = (
    "DELETE FROM hand_pictures WHERE (place, message) IN"
    " (SELECT place, message FROM hand_pictures WHERE sent < ?1 LIMIT ?2) RETURNING 1"
)
_OLD: Final = (_LEASES, _CONSOLE, _BY_HAND, _HAND_PICTURES, _MISSED)


class Pruning:
    """Removes by age. Tasks for several phones go as one: the task with all its parts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def with_checkpoints(self, before: float, limit: int) -> tuple[str, ...]:
        """Tasks that ended before that time and whose checkpoints were not removed yet, the oldest first; and those
        whose person has had something forgotten since they began.
        """
        return await self._ids(
            # An index of a part of the rows is used when that part is named as in the index: `pruned < 2`.
            "SELECT id FROM tasks WHERE state = 'ended' AND pruned < 2 AND pruned < 1 AND (ended < ?1"
            " OR EXISTS (SELECT 1 FROM forgettings WHERE person = person_platform || ':' || person_id"
            " AND at >= tasks.created)) ORDER BY ended LIMIT ?2",
            before,
            limit,
        )

    async def forgot_checkpoints(self, task: str) -> None:
        """Mark a task whose checkpoints are gone."""
        await self._database.write(
            lambda transaction: transaction.fetch(
                "UPDATE tasks SET pruned = 1 WHERE id = ? AND pruned = 0", (int(task),)
            )
        )

    async def old_tasks(self, before: float, limit: int) -> tuple[str, ...]:
        """Tasks that ended before that time, with all that was to be told told, and are kept whole yet."""
        return await self._ids(
            "SELECT id FROM tasks WHERE state = 'ended' AND pruned < 2 AND pruned = 1 AND ended < ?1"
            " AND parent IS NULL"
            " AND NOT EXISTS (SELECT 1 FROM tasks AS part WHERE part.parent = tasks.id AND part.pruned <> 1)"
            " AND NOT EXISTS (SELECT 1 FROM outbox JOIN tasks AS teller ON teller.id = outbox.task"
            " WHERE (teller.id = tasks.id OR teller.parent = tasks.id) AND outbox.state IN ('pending', 'sending'))"
            " ORDER BY ended LIMIT ?2",
            before,
            limit,
        )

    async def forget(self, task: str) -> None:
        """Remove what the task and its parts left behind, in one transaction."""

        async def work(transaction: Transaction) -> None:
            for row in await transaction.fetch("SELECT id FROM tasks WHERE id = ?1 OR parent = ?1", (int(task),)):
                for statement in _OF_TASK:
                    await transaction.fetch(statement, (row["id"],))

        await self._database.write(work)

    async def forget_calls(self) -> int:
        """Remove up to BATCH calls of tools, and as many events that tell of calls or plans, of ended tasks whose
        person has had something forgotten since they began: it may stand in them. Returns how many; what is removed is
        overwritten in the file.
        """

        async def work(transaction: Transaction) -> int:
            await transaction.fetch("PRAGMA secure_delete = ON")
            gone = await transaction.fetch(_FORGOTTEN_CALLS, (BATCH,))
            gone += await transaction.fetch(_FORGOTTEN_IN_LOGS, (BATCH,))
            await transaction.fetch("PRAGMA secure_delete = OFF")
            return len(gone)

        gone = await self._database.write(work)
        if gone:
            await self._database.empty_log()
        return gone

    async def without_record(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Those of these tasks that are not known, or whose record was removed."""
        rows = await self._database.fetch(
            "SELECT value AS id FROM json_each(?) WHERE NOT EXISTS"
            " (SELECT 1 FROM tasks WHERE tasks.id = CAST(value AS INTEGER) AND pruned < 2)",
            (json_text(list(tasks)),),
        )
        return tuple(str(row["id"]) for row in rows)

    async def batch(self, before: float) -> int:
        """Remove up to BATCH rows each of old leases, messages of the console, touches by hand and missed commands.

        Returns how many; 0 when nothing is left to remove.
        """

        async def work(transaction: Transaction) -> int:
            return sum([len(await transaction.fetch(sql, (before, BATCH))) for sql in _OLD])

        return await self._database.write(work)

    async def _ids(self, sql: str, before: float, limit: int) -> tuple[str, ...]:
        return tuple(str(row["id"]) for row in await self._database.fetch(sql, (before, limit)))
