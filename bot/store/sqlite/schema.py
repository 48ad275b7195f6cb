"""The SQLite dialect (the text of statements, the whole schema, and constructs that differ from other databases) and
the migration of a database to this program's schema.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import aiosqlite
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler, SQLiteDialect
from sqlalchemy.ext.compiler import compiles

from bot.store.database import FactsWith, JsonField, JsonPart, Listed, LiteralCompiler, Statement, tables_script
from bot.store.errors import StoreTooNew, StoreTooOld
from bot.texts import words

logger = logging.getLogger(__name__)


_WORDS_OF_FACTS: Final = (
    # By three letters, so that Chinese is found; the texts themselves are in the table of facts alone.
    "CREATE VIRTUAL TABLE facts_words USING fts5 (text, content = 'facts', content_rowid = 'id', tokenize = 'trigram')",
    """CREATE TRIGGER facts_added AFTER INSERT ON facts BEGIN
        INSERT INTO facts_words (rowid, text) VALUES (new.id, new.text);
    END""",
    """CREATE TRIGGER facts_removed AFTER DELETE ON facts BEGIN
        INSERT INTO facts_words (facts_words, rowid, text) VALUES ('delete', old.id, old.text);
    END""",
)


class _Compiler(LiteralCompiler, SQLiteCompiler):
    pass


class _Dialect(SQLiteDialect):
    statement_compiler = _Compiler


_DIALECT: Final = _Dialect(paramstyle="named")


class SQLite:
    """The SQL dialect (`bot.store.database.Engine`) of SQLite."""

    @lru_cache(maxsize=1024)  # noqa: B019 - there is one
    def text(self, statement: Statement) -> str:
        """Return the SQL text of a statement, with named parameters."""
        return str(statement.compile(dialect=_DIALECT))

    @cache  # noqa: B019 - the same
    def schema(self) -> str:
        """Return the SQL script that creates the whole schema in an empty database, including the word index of
        facts.
        """
        return "".join(f"{statement};\n" for statement in (*tables_script(_DIALECT), *_WORDS_OF_FACTS))

    def any_of(self, words: Collection[str]) -> str:
        """Return the parameter of `FactsWith` that matches any of these words; see `Engine.any_of`."""
        return " OR ".join(f'"{word}"' for word in words) or '""'

    def forget_words(self) -> Sequence[str]:
        """Return the statements that remove all traces of deleted facts from the word index.

        Otherwise the index keeps the letters of deleted facts until SQLite happens to merge its parts.
        """
        return ("INSERT INTO facts_words (facts_words) VALUES ('optimize')",)


SQLITE: Final = SQLite()


@compiles(Listed, "sqlite")
def _listed(element: Listed, compiler: SQLiteCompiler, **options: Any) -> str:  # noqa: ANN401
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(JsonField, "sqlite")
def _json_field(element: JsonField, compiler: SQLiteCompiler, **options: Any) -> str:  # noqa: ANN401
    # ->> gives a number for a number.
    return f"CAST({compiler.process(element.clauses, **options)} ->> '$.{element.field}' AS TEXT)"


@compiles(JsonPart, "sqlite")
def _json_part(element: JsonPart, compiler: SQLiteCompiler, **options: Any) -> str:  # noqa: ANN401
    return f"({compiler.process(element.clauses, **options)} -> '$.{element.field}')"


@compiles(FactsWith, "sqlite")
def _facts_with(element: FactsWith, compiler: SQLiteCompiler, **options: Any) -> str:  # noqa: ANN401
    words = compiler.process(element.clauses, **options)
    return f"(SELECT rowid FROM facts_words WHERE facts_words MATCH {words})"  # noqa: S608 - a parameter


APPLICATION_ID: Final = 0x4F477569
"""SQLite's `application_id` of this program's databases ("OGui"), since the first release. It tells them from those of
unreleased versions and of other programs (https://www.sqlite.org/pragma.html#pragma_application_id).
"""

IS_OURS: Final = (
    f"SELECT application_id = {APPLICATION_ID} OR NOT EXISTS (SELECT 1 FROM sqlite_schema)"  # noqa: S608 - a number
    " FROM pragma_application_id"
)
"""Query whether a database is this program's, or still empty."""

Migrations = tuple[tuple[int, str], ...]
"""Migrations in order, as (number, SQL). The first creates the whole schema, each later one changes the one before.

They are run here and not by Alembic: all missing ones are one transaction with the version, so that a killed
process leaves one schema or the next, and the version is in the file itself, where backup and restore read it.
"""


def migrations() -> Migrations:
    """Return this program's migrations; the first is generated from the definitions of the tables.

    Before a table is changed for the second release, the output of `Engine.schema` must be saved as a file, which is
    the first migration from then on. New databases then take the same steps as existing ones, and end up the same.
    """
    return ((1, SQLITE.schema()),)


def migrate(connection: sqlite3.Connection, path: Path, known: Migrations) -> None:
    """Apply those of the migrations `known` that are missing, all or none. The version is stored in the file's
    `user_version`.

    Raises StoreTooOld or StoreTooNew when the file is from an unreleased version, another program or a later version;
    it is then unchanged.
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


MUCH: Final = 64 * 1024 * 1024
"""Bytes of unused space above which a file is compacted; new rows reuse the space, so a little does no harm."""


async def shrink(connection: aiosqlite.Connection, path: Path, *, much: int = MUCH) -> None:
    """Compact the file (VACUUM) if more than half of it and more than `much` bytes are unused. A failure is only
    logged.

    Only for the start of the service: it locks the file, takes about a second per 100 MB, and temporarily needs as
    much space again on the disk. `auto_vacuum` would slow down every deletion, and cannot be enabled for an existing
    file.
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
