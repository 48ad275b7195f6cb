"""A connection to SQLite on which a piece of work with several statements takes one way to its thread and back."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import aiosqlite

from bot.store.engine import Statement
from bot.store.sqlite import SQLITE

Value = str | int | float | bytes | None
Parameters = dict[str, Value]
Values = tuple[Value, ...] | Mapping[str, Value]
"""The parameters of a statement: in order for SQL that is written out, by name for SQLAlchemy's."""
Result = TypeVar("Result")

_ROWS_AT_ONCE = 64
"""What `aiosqlite.connect` takes for rows that are read one by one; here they never are."""


def sql_of(statement: str | Statement) -> str:
    """A statement as SQLite reads it."""
    return statement if isinstance(statement, str) else SQLITE.text(statement)


class Source(Protocol):
    """Where statements can be run: the database itself for reading, one of its reads, or an open transaction."""

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[sqlite3.Row]:
        """Run one statement and return all its rows."""
        ...


class Statements:
    """Runs statements at once, in the thread of the connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[sqlite3.Row]:
        """Run one statement and return all its rows. Raises sqlite3.IntegrityError when a constraint forbids it."""
        return self._connection.execute(sql_of(statement), values).fetchall()


class Transaction(Statements):
    """An open transaction. What is run in it is committed together, or not at all."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.on_commit: list[Callable[[], None]] = []
        """What is called in the event loop once it is all on the disk, and never where it is not; it must be quick."""


class Connection(aiosqlite.Connection):
    """aiosqlite's connection, which can also be given a whole piece of work."""

    @classmethod
    async def open(cls, path: Path, *, timeout: float) -> Connection:
        """Connect; a locked file is waited for `timeout` seconds. Transactions are begun and ended by statements."""
        connection = cls(lambda: sqlite3.connect(path, timeout=timeout, isolation_level=None), _ROWS_AT_ONCE)
        await connection
        return connection

    async def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """`work` with SQLite's own connection, in its thread. It is done to its end when the caller is cancelled."""
        function = partial(copy_context().run, work, self._conn)
        done: Result = await self._execute(function)  # type: ignore[no-untyped-call]  # what aiosqlite does it all with
        return done


def to_its_end(work: Awaitable[Result]) -> Result:
    """The result of what waits for nothing but statements, in the thread in which these are run.

    Raises what it raises, and RuntimeError when it waits for something else: the file would be locked meanwhile.
    """
    waiting = work.__await__()
    try:
        next(waiting)
    except StopIteration as done:
        result: Result = done.value
        return result
    waiting.close()
    raise RuntimeError("work in the store waits for nothing but its statements")
