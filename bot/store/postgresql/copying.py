"""Copies the store and the checkpoints between SQLite files and PostgreSQL, to move them and for backups."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import psycopg
from langchain_core.runnables import RunnableConfig
from psycopg import sql
from sqlalchemy import Boolean, Column, Select, Table, select

from bot.store.checkpoints import Checkpoints
from bot.store.database import insert
from bot.store.errors import StoreError
from bot.store.postgresql.checkpoints import CHECKPOINT_TABLES, open_checkpoints
from bot.store.postgresql.database import PostgresDatabase, without_nul
from bot.store.postgresql.schema import POSTGRESQL, require_version
from bot.store.postgresql.server import Server
from bot.store.sqlite import schema as sqlite_schema
from bot.store.sqlite.checkpoints import open_checkpoints as open_in_files
from bot.store.sqlite.database import DATABASE_NAME, explained
from bot.store.sqlite.schema import SQLITE
from bot.store.tables import metadata
from bot.texts import words

AT_ONCE: Final = 1000
"""Rows in memory at a time."""

Counts = Mapping[str, int]
"""The number of rows per table, and of threads that have a checkpoint."""
THREADS: Final = "checkpoints"


async def copy_in(folder: Path, url: str, *, replaces: bool = False) -> Counts:
    """Copy the SQLite files in `folder` to the PostgreSQL database at this address, and return the number of rows per
    table.

    The database must be empty unless `replaces` is set, and no service may use it meanwhile. The store's rows are
    copied in one transaction, in which existing rows are deleted; the checkpoints are copied after it. Raises
    StoreError.
    """
    server = Server(url)
    database = await PostgresDatabase.open(url, owns=True)
    try:
        with server.explained(in_full=True):
            there = await asyncio.to_thread(_rows_in_server, server)
        if any(there.values()) and not replaces:
            raise StoreError(words("store.not_empty", name=server.name))
        async with open_in_files(folder) as source, open_checkpoints(url, owns=True) as target:
            with server.explained(in_full=True), explained(folder / DATABASE_NAME):
                rows = await asyncio.to_thread(_fill_server, folder / DATABASE_NAME, server)
            return {**rows, THREADS: await _copy_threads(source, target)}
    finally:
        await database.close()


async def copy_out(url: str, folder: Path) -> Counts:
    """Copy the PostgreSQL database at this address, as of one moment, to new SQLite files in `folder`. Returns the
    number of rows per table. Raises StoreError.

    The checkpoints are copied first: as after a crash, the store may then be slightly newer than they are.
    """
    server = Server(url)
    async with open_checkpoints(url) as source, open_in_files(folder) as target:
        threads = await _copy_threads(source, target)
    with server.explained(in_full=True), explained(folder / DATABASE_NAME):
        rows = await asyncio.to_thread(_fill_file, server, folder / DATABASE_NAME)
    return {**rows, THREADS: threads}


async def _copy_threads(source: Checkpoints, target: Checkpoints) -> int:
    """Copy the last checkpoint of each thread with its pending writes; return the number of threads."""
    done: set[tuple[str, str]] = set()
    async for each in source.alist(None):
        which = each.config["configurable"]
        thread = (str(which["thread_id"]), str(which["checkpoint_ns"]))
        if thread in done:
            continue
        done.add(thread)
        before: RunnableConfig = {"configurable": {"thread_id": thread[0], "checkpoint_ns": thread[1]}}
        after = await target.aput(before, each.checkpoint, each.metadata, each.checkpoint["channel_versions"])
        writes: dict[str, list[tuple[str, Any]]] = {}
        for task, channel, value in each.pending_writes or ():
            writes.setdefault(task, []).append((channel, value))
        for task, of_task in writes.items():
            await target.aput_writes(after, of_task, task)
    return len(done)


def _rows_in_server(server: Server) -> dict[str, int]:
    with server.connect() as connection:
        return {
            table.name: connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table.name))
            ).fetchall()[0][0]
            for table in metadata.sorted_tables
        }


def _fill_server(file: Path, server: Server) -> dict[str, int]:
    address = f"{file.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as source, server.connect() as target:
        target.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        with target.transaction():
            emptied = [table.name for table in metadata.sorted_tables] + list(CHECKPOINT_TABLES)
            target.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(map(sql.Identifier, emptied))))
            counts = {table.name: _fill_table(source, table, target) for table in metadata.sorted_tables}
            for table, last in source.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
                column = next(iter(metadata.tables[table].primary_key.columns)).name
                target.execute("SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (table, column, last))
    return counts


def _fill_table(source: sqlite3.Connection, table: Table, target: psycopg.Connection[Any]) -> int:
    columns = sql.SQL(", ").join(sql.Identifier(column.name) for column in table.columns)
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), columns)
    count = 0
    with target.cursor() as cursor, cursor.copy(statement) as copy:
        for row in source.execute(SQLITE.text(_all(table))):
            copy.write_row([_value(value, column) for value, column in zip(row, table.columns, strict=True)])
            count += 1
    return count


def _all(table: Table) -> Select[Any]:
    return select(table).order_by(*table.primary_key)


def _value(value: Any, column: Column[Any]) -> Any:  # noqa: ANN401 - what the column holds
    """Convert a value from SQLite for PostgreSQL."""
    if isinstance(column.type, Boolean) and value is not None:
        return bool(value)
    return without_nul(value)


def _fill_file(server: Server, file: Path) -> dict[str, int]:
    """Copy all rows of the database, as they are at one moment, to a new file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as target, server.connect(read_only=True) as source:
        sqlite_schema.migrate(target, file, sqlite_schema.migrations())
        source.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        source.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        require_version(source, server.name)
        target.execute("BEGIN IMMEDIATE")
        counts: dict[str, int] = {}
        for table in metadata.sorted_tables:
            into = SQLITE.text(insert(table, table.columns.keys()))
            counts[table.name] = 0
            with source.cursor("rows") as cursor:
                cursor.execute(POSTGRESQL.text(_all(table)).encode())
                while rows := cursor.fetchmany(AT_ONCE):
                    target.executemany(into, [dict(zip(table.columns.keys(), row, strict=True)) for row in rows])
                    counts[table.name] += len(rows)
            _count_on(source, table, target)
        target.execute("COMMIT")
        target.execute("PRAGMA journal_mode = DELETE")
    return counts


def _count_on(source: psycopg.Connection[Any], table: Table, target: sqlite3.Connection) -> None:
    """Continue the sequence, so that an id is never used again even if its row was deleted."""
    if not table.dialect_options["sqlite"]["autoincrement"]:
        return
    column = next(iter(table.primary_key.columns)).name
    sequence = source.execute("SELECT pg_get_serial_sequence(%s, %s)", (table.name, column)).fetchall()[0][0]
    schema, name = str(sequence).split(".")
    last = source.execute(
        "SELECT last_value FROM pg_sequences WHERE schemaname = %s AND sequencename = %s", (schema, name)
    ).fetchall()[0][0]
    if last is not None:
        target.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
        target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table.name, last))
