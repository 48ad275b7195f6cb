"""The PostgreSQL dialect (the text of statements, the whole schema, and constructs that differ from other databases)
and the migration of a database to this program's schema.

The table `opengui_schema` marks the program's databases. Its only row contains the schema version, the id of the
process that owns the database, that service's name, its files that belong to the database, and the number of the
owner's last transaction.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import psycopg
from sqlalchemy.dialects.postgresql.psycopg import PGCompiler_psycopg, PGDialect_psycopg
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn

from bot.store.database import FactsWith, JsonField, JsonPart, Listed, LiteralCompiler, Statement, tables_script
from bot.store.errors import StoreTooNew, StoreTooOld
from bot.texts import words


class _Compiler(LiteralCompiler, PGCompiler_psycopg):
    pass


class _Dialect(PGDialect_psycopg):
    statement_compiler = _Compiler


_DIALECT: Final = _Dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy's


class PostgreSQL:
    """The SQL dialect (`bot.store.database.Engine`) of PostgreSQL."""

    @lru_cache(maxsize=1024)  # noqa: B019 - there is one
    def text(self, statement: Statement) -> str:
        """Return the SQL text of a statement, with named parameters."""
        return str(statement.compile(dialect=_DIALECT))

    @cache  # noqa: B019 - the same
    def schema(self) -> str:
        """Return the SQL script that creates the whole schema in an empty database."""
        return "".join(f"{statement};\n" for statement in (*_functions(), *tables_script(_DIALECT)))

    def any_of(self, words: Collection[str]) -> str:
        """Return the parameter of `FactsWith` that matches any of these words; see `Engine.any_of`."""
        return json.dumps([word.casefold() for word in words])

    def forget_words(self) -> Sequence[str]:
        """Return no statements: there is no word index of facts here. They are searched without one, as a person has
        few.
        """
        return ()


POSTGRESQL: Final = PostgreSQL()


def _functions() -> tuple[str, ...]:
    """The SQL functions `folded` and `instr`. PostgreSQL before 18 has no `casefold`; `lower` in ICU's root collation
    differs from Python's for few letters, which are replaced in the texts that contain them.
    """
    single: dict[str, str] = {}
    longer: dict[str, str] = {}
    # What `lower` makes of a capital sigma at the end of a word, and of letters that `casefold` turns into capitals.
    after = {"\u03c2": "\u03c3"}
    for letter in map(chr, range(0x80, sys.maxunicode + 1)):
        if (folded := letter.casefold()) != letter.lower():
            (single if len(folded) == 1 else longer)[letter] = folded
            if (small := folded.lower()) != folded and len(folded) == 1:
                after[small] = folded
    folded = f"translate(given, '{''.join(single)}', '{''.join(single.values())}')"
    for letter, letters in longer.items():
        folded = f"replace({folded}, '{letter}', '{letters}')"
    after_lower = f"""'{"".join(after)}', '{"".join(after.values())}'"""
    is_pure = "LANGUAGE sql IMMUTABLE PARALLEL SAFE"
    return (
        f"CREATE FUNCTION instr(given text, part text) RETURNS integer {is_pure} AS $$ SELECT strpos(given, part) $$",
        # A function that is too long to be inlined.
        f"""CREATE FUNCTION folded_rare(given text) RETURNS text {is_pure.replace("sql", "plpgsql")} AS $$
            BEGIN RETURN translate(lower({folded} COLLATE "und-x-icu"), {after_lower}); END $$""",
        # Not STRICT, so that it is inlined into statements; a call would take 20 times as long.
        f"""CREATE FUNCTION folded(given text) RETURNS text {is_pure} AS $$ SELECT CASE
            WHEN octet_length(given) = length(given) THEN lower(given COLLATE "C") COLLATE "und-x-icu"
            WHEN given ~ '[{"".join(single)}{"".join(longer)}]' THEN folded_rare(given)
            ELSE translate(lower(given COLLATE "und-x-icu"), {after_lower}) END $$""",
    )


@compiles(CreateColumn, "postgresql")
def _column(element: CreateColumn, compiler: Any, **options: Any) -> str:  # noqa: ANN401
    """Compare and sort texts by code point, as SQLite does, whatever the server's language."""
    return str(compiler.visit_create_column(element, **options)).replace(" TEXT", ' TEXT COLLATE "C"', 1)


@compiles(Listed, "postgresql")
def _listed(element: Listed, compiler: PGCompiler_psycopg, **options: Any) -> str:  # noqa: ANN401
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS json))"


@compiles(JsonField, "postgresql")
def _json_field(element: JsonField, compiler: PGCompiler_psycopg, **options: Any) -> str:  # noqa: ANN401
    return f"(CAST({compiler.process(element.clauses, **options)} AS json) ->> '{element.field}')"


@compiles(JsonPart, "postgresql")
def _json_part(element: JsonPart, compiler: PGCompiler_psycopg, **options: Any) -> str:  # noqa: ANN401
    return f"CAST(CAST({compiler.process(element.clauses, **options)} AS json) -> '{element.field}' AS text)"


@compiles(FactsWith, "postgresql")
def _facts_with(element: FactsWith, compiler: PGCompiler_psycopg, **options: Any) -> str:  # noqa: ANN401
    words = compiler.process(element.clauses, **options)
    return (
        "(SELECT known.id FROM facts AS known JOIN"  # noqa: S608 - a parameter
        f" json_array_elements_text(CAST({words} AS json)) AS word ON strpos(folded(known.text), word.value) > 0)"
    )


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
