"""One SQLite file with one connection for writing, one transaction at a time, and one for reading committed data. A
connection runs several statements in one visit to its thread.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import aiosqlite

from bot.store.database import (
    Database,
    Engine,
    Row,
    Run,
    Source,
    Statement,
    Statements,
    Transaction,
    Values,
    to_its_end,
)
from bot.store.errors import StoreAway, StoreConflict, StoreCorrupt, StoreError
from bot.store.sqlite.schema import SQLITE, Migrations, migrate, migrations, shrink
from bot.store.waiting import Writable, probe_write, retry_while_away
from bot.texts import words
from devices.measuring import measured

logger = logging.getLogger(__name__)


Result = TypeVar("Result")

_ROWS_AT_ONCE = 64
"""What `aiosqlite.connect` takes for rows that are read one by one; here they never are."""


def sql_of(statement: str | Statement) -> str:
    """Return a statement as SQL text for SQLite."""
    return statement if isinstance(statement, str) else SQLITE.text(statement)


def run_on(connection: sqlite3.Connection) -> Run:
    """Return a function that runs statements on this connection. It raises StoreConflict when a constraint forbids
    one.
    """

    def run(statement: str | Statement, values: Values) -> list[Row]:
        try:
            return connection.execute(sql_of(statement), values).fetchall()
        except sqlite3.IntegrityError as error:
            raise StoreConflict(str(error)) from error

    return run


class Connection(aiosqlite.Connection):
    """aiosqlite's connection, extended by `run`, which runs a whole function in the connection's thread."""

    @classmethod
    async def open(cls, path: Path, *, timeout: float) -> Connection:
        """Open the file and return the connection. A locked file is waited for `timeout` seconds per statement.

        Transactions are begun and ended by statements, not automatically.
        """
        connection = cls(lambda: sqlite3.connect(path, timeout=timeout, isolation_level=None), _ROWS_AT_ONCE)
        await connection
        return connection

    async def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `work` with the sqlite3 connection, in its thread, and return the result. It runs to its end even if the
        caller is cancelled.
        """
        function = partial(copy_context().run, work, self._conn)
        done: Result = await self._execute(function)  # type: ignore[no-untyped-call]  # what aiosqlite does it all with
        return done


DATABASE_NAME = "opengui.sqlite3"
BUSY_TIMEOUT_MS = 15_000
"""How long a statement waits for another process (a backup, a shell) that locks the file; 5 s was too short."""
BUSY_AGAIN_MS: Final = 1_000
"""The same after a write has failed, so that writers do not queue up for minutes."""

_PASSING: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
    }
)
"""Errors that may pass: locks, a full disk, one that is being mounted again."""


class SQLiteDatabase(Database):
    """A database (`bot.store.database.Database`) in an SQLite file."""

    engine: Engine = SQLITE

    def __init__(self, path: Path, writer: Connection, reader: Connection) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._writable = Writable(path)

    @classmethod
    async def open(cls, path: Path, known: Migrations | None = None) -> SQLiteDatabase:
        """Open the file, creating it if needed, and migrate its schema with `known`, by default this program's
        migrations.

        Raises StoreCorrupt, StoreTooOld, StoreTooNew or StoreError; the file is then unchanged.
        """
        try:
            # Tried out first: aiosqlite leaves a thread behind when SQLite cannot open the file. Never again later: by
            # closing any handle of a file a process loses its locks on it (https://www.sqlite.org/howtocorrupt.html,
            # 2.2), and the next one that opens the database, a backup, takes the -wal away with all that comes after.
            await asyncio.to_thread(touched, path)
        except OSError as error:
            raise StoreError(words("store.unopened", path=path, reason=error.strerror)) from error
        writer = await _connect(path)
        try:
            with explained(path):
                # Checked before anything is written: a damaged file is left unchanged.
                await _check(writer, path)
                # FULL: a journalled action must survive a power cut, not only the end of the process.
                await writer.execute_fetchall("PRAGMA synchronous = FULL")
                await writer.execute_fetchall("PRAGMA foreign_keys = ON")
                await writer.run(partial(migrate, path=path, known=known or migrations()))
                await shrink(writer, path)
            reader = await _connect(path)
        except BaseException:
            await writer.close()
            raise
        await reader.execute_fetchall("PRAGMA query_only = ON")
        return cls(path, writer, reader)

    async def close(self) -> None:
        """Finish the write in progress and close the file."""
        await self._reader.close()
        await self._writer.close()

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:  # noqa: ARG002
        """Read committed data. `patience` is ignored: a file is not waited for. Raises StoreError."""
        with explained(self._path):
            return list[Row](await self._reader.execute_fetchall(sql_of(statement), values))

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:  # noqa: ARG002
        """Run several reads in one visit to SQLite's thread; see `Database.read`. `patience` is ignored."""
        with explained(self._path):
            return await self._reader.run(lambda connection: to_its_end(work(Statements(run_on(connection)))))

    @measured("store")
    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run `work` in a transaction and return its result after the commit; see `Database.write`. A failed
        transaction has written nothing.
        """
        return await retry_while_away(lambda: self._write(work), seconds=patience)

    async def erase(self, work: Callable[[Transaction], Awaitable[list[Result]]]) -> list[Result]:
        """Like `write`, for deletions: `work` returns what it deleted. Raises StoreError.

        The deleted data is overwritten in the file and in its write-ahead log, where it remains only while another
        connection reads an older state.
        """

        async def overwriting(transaction: Transaction) -> list[Result]:
            await transaction.fetch("PRAGMA secure_delete = ON")
            gone = await work(transaction)
            await transaction.fetch("PRAGMA secure_delete = OFF")
            return gone

        gone = await self.write(overwriting)
        if gone:
            with explained(self._path):
                await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
        return gone

    async def size(self) -> int:
        """Return how many bytes the file and its write-ahead log take on the disk."""
        return await asyncio.to_thread(size_of, self._path)

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment, in SQLite's words; "" if it works or was not tried yet."""
        return self._writable.trouble

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using the database: always true, as the data directory is
        locked.
        """
        return True

    async def answers(self) -> bool:
        """Return True: a file can always be asked, and problems with it are reported by each write."""
        return True

    async def probe(self) -> None:
        """If the last write failed, try a write again, so that `trouble` is up to date even if nobody else writes."""
        if self.trouble:
            with suppress(StoreError):
                await self._write(probe_write)

    async def _write(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        left = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await self._writer.run(lambda connection: self._transaction(connection, work, left, loop))
        except asyncio.CancelledError:
            left.set()
            raise

    def _transaction(
        self,
        connection: sqlite3.Connection,
        work: Callable[[Transaction], Awaitable[Result]],
        left: threading.Event,
        loop: asyncio.AbstractEventLoop,
    ) -> Result:
        changes = connection.total_changes
        transaction = Transaction(run_on(connection))
        try:
            with explained(self._path):
                connection.execute("BEGIN IMMEDIATE")
                result = to_its_end(work(transaction))
                connection.commit()
        except BaseException as error:
            connection.rollback()  # after any error the file is free again
            if isinstance(error, StoreAway):
                self._writable.failed(error)
                _hurry(connection, BUSY_AGAIN_MS)
            if left.is_set():
                logger.exception("A transaction failed after its caller was cancelled")
            raise
        if self.trouble and connection.total_changes != changes:
            self._writable.worked()
            _hurry(connection, BUSY_TIMEOUT_MS)
        for call in transaction.on_commit:
            # Before the caller continues, and also if it was cancelled.
            loop.call_soon_threadsafe(call)
        return result


async def _connect(path: Path) -> Connection:
    connection = await Connection.open(path, timeout=BUSY_TIMEOUT_MS / 1000)
    connection.row_factory = sqlite3.Row
    # SQLite's own lower() knows ASCII alone.
    await connection.create_function("folded", 1, str.casefold, deterministic=True)
    return connection


def _hurry(connection: sqlite3.Connection, milliseconds: int) -> None:
    connection.execute(f"PRAGMA busy_timeout = {milliseconds}")


def size_of(path: Path) -> int:
    """Return the size in bytes of a database file with its write-ahead log; 0 if there is none. Blocks."""
    size = 0
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    return size


def touched(path: Path) -> None:
    """Open the file for writing, and leave it as it is. Raises OSError."""
    path.open("ab").close()


async def _check(connection: aiosqlite.Connection, path: Path) -> None:
    found = [str(row[0]) for row in await connection.execute_fetchall("PRAGMA quick_check(1)")]
    if found != ["ok"]:
        raise _corrupt(path, found[0])


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Context manager that turns SQLite's errors into StoreAway, StoreError or StoreCorrupt with a sentence about
    `path`.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        # The low byte is the kind; the rest says where it happened (https://www.sqlite.org/rescode.html).
        kind = StoreAway if getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING else StoreError
        raise kind(words("store.unusable", path=path, reason=error)) from error
    except sqlite3.DatabaseError as error:
        raise _corrupt(path, str(error)) from error


def _corrupt(path: Path, reason: str) -> StoreCorrupt:
    return StoreCorrupt(words("store.damaged", path=path, reason=" ".join(reason.split())))
