"""Brings a database to the schema of this program, and gives the room of removed rows back to the disk at the start."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import aiosqlite

from bot.store.errors import StoreTooNew, StoreTooOld
from bot.store.sqlite.dialect import SQLITE
from bot.texts import words

APPLICATION_ID: Final = 0x4F477569
"""What our databases have as SQLite's `application_id` ("OGui"), from the first release on: it tells them from those of
unreleased versions and of other programs (https://www.sqlite.org/pragma.html#pragma_application_id).
"""

IS_OURS: Final = (
    f"SELECT application_id = {APPLICATION_ID} OR NOT EXISTS (SELECT 1 FROM sqlite_schema)"  # noqa: S608 - a number
    " FROM pragma_application_id"
)
"""Asks whether a database is one of ours, or empty still."""

Migrations = tuple[tuple[int, str], ...]
"""Each as (number, SQL), in order. The first makes the whole schema; each of the others changes the one before it.

They are run here and not by Alembic: all that are missing are one transaction with the version, so that a killed
process leaves one schema or the next, and the version is in the file itself, where backups and their restoring read it.
"""


def migrations() -> Migrations:
    """Those of this program. The first is made of the tables as they are defined.

    Before a table is changed for a second one, what `Engine.schema` gives is kept as a file, which is the first from
    then on: a new database goes the way of those that are there, and both are the same.
    """
    return ((1, SQLITE.schema()),)


def migrate(connection: sqlite3.Connection, path: Path, known: Migrations) -> None:
    """Apply what is missing of `known`, all of it or nothing. The version is kept in the file's `user_version`.

    Raises StoreTooOld or StoreTooNew when the file is from another program than this one and the releases before
    it; it is then as it was.
    """
    if not connection.execute(IS_OURS).fetchone()[0]:
        raise StoreTooOld(words("store.too_old", path=path))
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    newest = known[-1][0]
    if version > newest:
        raise StoreTooNew(words("store.too_new", path=path, version=version, known=newest))
    # It stays in the file, so only once that is known to be ours; first, because readers cannot roll back a killed
    # transaction of another mode.
    connection.execute("PRAGMA journal_mode = WAL")
    if version == newest:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, script in known:
            if number > version:
                # One by one: `executescript` would commit first and so take the transaction away.
                for statement in _statements(script):
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.rollback()


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


logger = logging.getLogger(__name__)

MUCH: Final = 64 * 1024 * 1024
"""Bytes. New rows take the room of removed ones, so a little of it does no harm."""


async def shrink(connection: aiosqlite.Connection, path: Path, *, much: int = MUCH) -> None:
    """VACUUM when over half of the file and more than `much` bytes are free.

    Only at the start: it locks the file, takes about a second for 100 MB, and needs as much room once more on the disk.
    `auto_vacuum` instead would make every removal slower, and cannot be switched on for a file that is there already.
    """
    free, pages, size = [
        int(next(iter(await connection.execute_fetchall(f"PRAGMA {name}")))[0])
        for name in ("freelist_count", "page_count", "page_size")
    ]
    if free * 2 <= pages or free * size <= much:
        return
    try:
        await connection.execute_fetchall("VACUUM")
    except sqlite3.OperationalError as error:
        logger.warning("%s has %.0f MB of unused space but could not be compacted: %s", path, free * size / 1e6, error)
    else:
        logger.info("%s was made smaller by %.0f MB.", path, free * size / 1e6)
