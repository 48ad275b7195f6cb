"""One SQLite file: one connection that writes, one transaction at a time, and one that reads what is committed."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import aiosqlite

from bot.store.errors import StoreCorrupt, StoreError
from bot.store.schema import migrate

logger = logging.getLogger(__name__)

BUSY_TIMEOUT_MS = 15_000
"""How long a statement waits for another process (a backup, a shell) that holds the file; 5 s was too short."""

Value = str | int | float | bytes | None
Result = TypeVar("Result")


class Source(Protocol):
    """Where statements can be run: the database itself for reading, or an open transaction."""

    async def fetch(self, sql: str, values: tuple[Value, ...] = ()) -> list[sqlite3.Row]:
        """Run one statement and return all its rows."""
        ...


class Transaction:
    """An open transaction. What is run in it is committed together, or not at all."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def fetch(self, sql: str, values: tuple[Value, ...] = ()) -> list[sqlite3.Row]:
        """Run one statement and return all its rows. Raises sqlite3.IntegrityError when a constraint forbids it."""
        return list(await self._connection.execute_fetchall(sql, values))


class Database:
    """The open file. Statements are always fetched to the end in one call, so that a cancelled caller leaves no
    statement open (which would lock everybody else out).
    """

    def __init__(self, path: Path, writer: aiosqlite.Connection, reader: aiosqlite.Connection) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._turn = asyncio.Lock()
        self._writes: set[asyncio.Task[object]] = set()

    @classmethod
    async def open(cls, path: Path) -> Database:
        """Open the file, make it when it is new, and bring its schema up to date.

        Raises StoreCorrupt, StoreTooNew or StoreError; the file is then as it was.
        """
        writer = await _connect(path)
        try:
            with _explained(path):
                # Looked at before anything is written: a damaged file is left alone.
                await _check(writer, path)
                await writer.execute_fetchall("PRAGMA journal_mode = WAL")
                # FULL: a journalled action must survive a power cut, not only the end of the process.
                await writer.execute_fetchall("PRAGMA synchronous = FULL")
                await writer.execute_fetchall("PRAGMA foreign_keys = ON")
                await migrate(writer, path)
            reader = await _connect(path)
        except BaseException:
            await writer.close()
            raise
        await reader.execute_fetchall("PRAGMA query_only = ON")
        return cls(path, writer, reader)

    async def close(self) -> None:
        """Finish what is being written and close the file."""
        while self._writes:
            await asyncio.wait(self._writes)
        await self._reader.close()
        await self._writer.close()

    async def fetch(self, sql: str, values: tuple[Value, ...] = ()) -> list[sqlite3.Row]:
        """Read what is committed. Raises StoreError."""
        with _explained(self._path):
            return list(await self._reader.execute_fetchall(sql, values))

    async def write(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run `work` in a transaction and return its result once that is on the disk.

        The transaction is a task of its own: cancelling the caller neither cuts it nor leaves it open.
        Raises StoreError, and whatever `work` raises; nothing is then written.
        """
        running = asyncio.create_task(self._transaction(work))
        self._writes.add(running)
        running.add_done_callback(self._writes.discard)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            running.add_done_callback(_log_failure)
            raise

    async def _transaction(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async with self._turn:
            try:
                with _explained(self._path):
                    await self._writer.execute_fetchall("BEGIN IMMEDIATE")
                    result = await work(Transaction(self._writer))
                    await self._writer.commit()
                    return result
            finally:
                # Nothing happens here after a commit; after any error or cancellation the file is free again.
                await self._writer.rollback()


async def _connect(path: Path) -> aiosqlite.Connection:
    try:
        # Tried out first: aiosqlite leaves a thread behind when SQLite cannot open the file.
        await asyncio.to_thread(_touch, path)
    except OSError as error:
        raise StoreError(
            f"The database {path} could not be opened ({error.strerror}). "
            "Check that the directory exists and is writable."
        ) from error
    connection = await aiosqlite.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1000)
    connection.row_factory = sqlite3.Row
    return connection


def _touch(path: Path) -> None:
    """Open the file for writing, and leave it as it is."""
    path.open("ab").close()


async def _check(connection: aiosqlite.Connection, path: Path) -> None:
    found = [str(row[0]) for row in await connection.execute_fetchall("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise _corrupt(path, found[0])


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences; a broken constraint is the caller's to understand."""
    try:
        yield
    except sqlite3.IntegrityError:
        raise
    except sqlite3.OperationalError as error:
        raise StoreError(
            f"The database {path} could not be used ({error}). Check disk space and file rights."
        ) from error
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, str(error)) from error


def _corrupt(path: Path, reason: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"The database {path} is damaged ({' '.join(reason.split())}). Nothing in it was changed. Restore a copy, or "
        "move it away together with its -wal and -shm files to start with an empty one."
    )


def _log_failure(task: asyncio.Task[Result]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("a transaction failed after its caller had gone", exc_info=error)
