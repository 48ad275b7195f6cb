"""LangGraph checkpoints in an SQLite file of their own, next to the store's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bot.store.checkpoints import PRUNE_EVERY, Checkpoints, is_pending, serializer, threads_of
from bot.store.errors import StoreCorrupt, StoreError, StoreTooOld
from bot.store.sqlite.database import explained, size_of, touched
from bot.store.sqlite.schema import APPLICATION_ID, IS_OURS, shrink
from bot.store.waiting import PatientWrites
from bot.texts import words

CHECKPOINTS_NAME = "checkpoints.sqlite3"
BUSY_MS = 15_000
"""Milliseconds to wait for another writer; the base class sets none, and a backup may lock the file for seconds."""


class SQLiteCheckpoints(AsyncSqliteSaver, Checkpoints):
    """LangGraph checkpoints in an SQLite file. The base class keeps all checkpoints of a thread; this one deletes old
    ones.

    Each call runs one statement that commits itself, because the switch to SQLite's thread and back takes longer than
    the statement.
    """

    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        super().__init__(connection, serde=serializer())
        self._path = path
        self._writes = PatientWrites(path, lambda: explained(path))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the last checkpoint of a thread; None if it has none. Raises StoreError."""
        with explained(self._path):
            return await super().aget_tuple(config)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save a node's writes if they contain an interrupt, answer or error. Plain output is skipped: the next
        checkpoint contains it a moment later.

        If the process dies within that moment, the node runs again, as if it had died before the node's end.
        """
        if not is_pending(writes):
            return
        which = config["configurable"]
        place = (str(which["thread_id"]), which["checkpoint_ns"], which["checkpoint_id"], task_id, task_path)
        rows = [
            (*place, WRITES_IDX_MAP.get(channel, index), channel, *self.serde.dumps_typed(value))
            for index, (channel, value) in enumerate(writes)
        ]
        # As AsyncSqliteSaver has it: a question that is asked again takes the place of the first.
        replaces = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        columns = "thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value"
        places = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * len(rows))
        await self._keep(
            f"INSERT OR {'REPLACE' if replaces else 'IGNORE'} INTO writes ({columns}) VALUES {places}",  # noqa: S608 - fixed words and marks
            values=[value for row in rows for value in row],
        )

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint and return the config that refers to it. Every `PRUNE_EVERY` steps the earlier ones are
        deleted.
        """
        del new_versions  # a checkpoint is kept whole
        which = config["configurable"]
        thread, namespace = str(which["thread_id"]), which["checkpoint_ns"]
        facts = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False).encode("utf-8", "ignore")
        row = (
            *(thread, namespace, checkpoint["id"], which.get("checkpoint_id")),
            *self.serde.dumps_typed(checkpoint),
            facts,
        )
        await self._keep(
            "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
            " type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
            values=row,
        )
        if metadata.get("step", 0) % PRUNE_EVERY == 0:
            # Identifiers begin with their time (UUID 6): text order is the order of time.
            where = "thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?"
            await self._keep(*_deletions("checkpoints", "writes", where), values=(thread, namespace, checkpoint["id"]))
        return {
            "configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint["id"]},
        }

    async def _keep(self, *statements: str, values: Sequence[Any]) -> None:
        """Run these statements, all with these values, again while the file cannot be written."""
        await self._writes.retry(lambda: self._run(*statements, values=values))

    async def _run(self, *statements: str, values: Sequence[Any] = ()) -> None:
        async with self.lock:
            for statement in statements:
                await self.conn.execute_fetchall(statement, values)

    async def size(self) -> int:
        """Return how many bytes the checkpoints take on the disk."""
        return await asyncio.to_thread(size_of, self._path)

    async def forget(self, task: str) -> None:
        """Delete the checkpoints of a task, of its runs and of its team members."""
        where = "thread_id = ?1 OR (thread_id >= ?2 AND thread_id < ?3) OR (thread_id >= ?4 AND thread_id < ?5)"
        await self._keep(*_deletions("writes", "checkpoints", where), values=threads_of(task))

    async def _try_out(self) -> None:
        """Insert a row of 64 KB and delete it, to check that there is room for a checkpoint."""
        await self._run(
            "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint)"
            " VALUES ('probe', '', '', zeroblob(65536))",
            "DELETE FROM checkpoints WHERE thread_id = 'probe'",
        )


def _deletions(first: str, then: str, where: str) -> tuple[str, str]:
    return f"DELETE FROM {first} WHERE {where}", f"DELETE FROM {then} WHERE {where}"  # noqa: S608 - fixed words


@asynccontextmanager
async def open_checkpoints(directory: Path) -> AsyncIterator[SQLiteCheckpoints]:
    """Context manager that yields the checkpoints in `directory`/checkpoints.sqlite3, creating the file if needed.

    Raises StoreCorrupt when the file is damaged or not an SQLite file, StoreTooOld when another program or a version
    before the first release made it, and StoreError when it cannot be used; it is then unchanged.
    """
    path = directory / CHECKPOINTS_NAME
    try:
        # Tried out first: aiosqlite leaves a thread behind when SQLite cannot open the file.
        await asyncio.to_thread(touched, path)
    except OSError as error:
        raise _unusable(path, str(error.strerror)) from error
    async with aiosqlite.connect(path, isolation_level=None) as connection:
        saver = SQLiteCheckpoints(connection, path)
        try:
            # Checked before anything is written: a damaged file is left unchanged.
            found = next(iter(await connection.execute_fetchall("PRAGMA quick_check(1)")))[0]
            if found != "ok":
                raise _damaged(path)
            if not next(iter(await connection.execute_fetchall(IS_OURS)))[0]:
                raise StoreTooOld(words("store.too_old", path=path))
            # Before the tables: a process that dies in between leaves an empty file.
            await connection.execute_fetchall(f"PRAGMA application_id = {APPLICATION_ID}")
            await saver.setup()
            await shrink(connection, path)
            await connection.execute_fetchall(f"PRAGMA busy_timeout={BUSY_MS}")
            await connection.execute_fetchall("PRAGMA synchronous=NORMAL")
        except aiosqlite.OperationalError as error:
            raise _unusable(path, str(error)) from error
        except aiosqlite.DatabaseError as error:
            raise _damaged(path) from error
        yield saver
        # A cancelled graph can leave its write open, which would lock out all others.
        async with saver.lock:
            await connection.commit()


def _unusable(path: Path, reason: str) -> StoreError:
    return StoreError(words("store.checkpoints", path=path, reason=reason))


def _damaged(path: Path) -> StoreCorrupt:
    return StoreCorrupt(words("store.checkpoints_damaged", path=path))
