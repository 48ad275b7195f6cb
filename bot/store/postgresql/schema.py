"""Migrates a PostgreSQL database to this program's schema.

The table `opengui_schema` marks the program's databases. Its only row contains the schema version, the id of the
process that owns the database, that service's name, its files that belong to the database, and the number of the
owner's last transaction.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from bot.store.errors import StoreTooNew, StoreTooOld
from bot.store.postgresql.dialect import POSTGRESQL
from bot.texts import words

Migrations = tuple[tuple[int, str], ...]
"""Migrations in order, as (number, SQL). The first creates the whole schema."""

_LOCK: Final = 0x4F477569
"""Number of the advisory lock that protects changes to the schema ("OGui")."""
_TABLES: Final = """SELECT count(*), count(*) FILTER (WHERE relname = 'opengui_schema')
    FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
    AND relname NOT LIKE 'checkpoint%'"""

_OURS: Final = """CREATE TABLE opengui_schema (
    version integer NOT NULL, owner text NOT NULL, service text NOT NULL, files text NOT NULL, written bigint NOT NULL);
    INSERT INTO opengui_schema VALUES (0, '', '', '[]', 0)"""


def migrations() -> Migrations:
    """Return this program's migrations; the first is generated from the definitions of the tables."""
    return ((1, POSTGRESQL.schema()),)


def require_version(connection: psycopg.Connection[Any], name: str) -> None:
    """Check that the schema has the newest version that this program knows.

    Raises StoreTooNew for any other version, and psycopg.Error if the database does not have this program's schema.
    """
    version = int(connection.execute("SELECT version FROM opengui_schema").fetchall()[0][0])
    if version != (newest := migrations()[-1][0]):
        raise StoreTooNew(words("store.too_new", path=name, version=version, known=newest))


def migrate(connection: psycopg.Connection[Any], name: str, known: Migrations) -> None:
    """Apply those of the migrations `known` that are missing, all or none, in one transaction.

    `name` is what error messages call the database. Raises StoreTooOld if the schema contains another program's
    tables, StoreTooNew if it is from a later version, and psycopg.Error; the database is then unchanged.
    """
    newest = known[-1][0]
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0")  # a table of millions of rows may be rewritten
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        tables, ours = connection.execute(_TABLES).fetchall()[0]
        if tables and not ours:
            raise StoreTooOld(words("store.foreign_tables", name=name))
        version = 0
        if ours:
            version = int(connection.execute("SELECT version FROM opengui_schema").fetchall()[0][0])
        if version > newest:
            raise StoreTooNew(words("store.too_new", path=name, version=version, known=newest))
        if version == newest:
            return
        for number, script in known:
            if number > version:
                connection.execute(script.encode())
        if not ours:
            connection.execute(_OURS)
        connection.execute("UPDATE opengui_schema SET version = %s", (newest,))
