"""Brings a database to the schema of this program: numbered SQL files, each applied in a transaction."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import aiosqlite

from bot.store.errors import StoreTooNew
from bot.texts import words

_NAME = re.compile(r"(\d{4})_\w+\.sql")


def migrations() -> tuple[tuple[int, str], ...]:
    """Every migration as (number, SQL), in order."""
    files = resources.files("bot.store.migrations").iterdir()
    found = [(int(match[1]), file.read_text("utf-8")) for file in files if (match := _NAME.fullmatch(file.name))]
    return tuple(sorted(found))


async def migrate(connection: aiosqlite.Connection, path: Path) -> None:
    """Apply what is missing. The version is kept in the file's `user_version`, changed in the same transaction.

    Raises StoreTooNew when the file is from a later program.
    """
    known = migrations()
    version = int(next(iter(await connection.execute_fetchall("PRAGMA user_version")))[0])
    if version > known[-1][0]:
        raise StoreTooNew(words("store.too_new", path=path, version=version, known=known[-1][0]))
    for number, script in known:
        if number > version:
            await _apply(connection, number, script)


async def _apply(connection: aiosqlite.Connection, number: int, script: str) -> None:
    await connection.execute_fetchall("BEGIN IMMEDIATE")
    try:
        # One by one: `executescript` would commit first and so take the transaction away.
        for statement in _statements(script):
            await connection.execute_fetchall(statement)
        await connection.execute_fetchall(f"PRAGMA user_version = {number}")
        await connection.commit()
    finally:
        await connection.rollback()


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
