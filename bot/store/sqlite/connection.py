"""An SQLite connection that runs several statements in one visit to its thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TypeVar

import aiosqlite

from bot.store.connection import Row, Run, Values
from bot.store.engine import Statement
from bot.store.errors import StoreConflict
from bot.store.sqlite.dialect import SQLITE

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
