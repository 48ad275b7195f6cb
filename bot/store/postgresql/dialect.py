"""The PostgreSQL dialect: the text of statements, the whole schema, and constructs that differ from other databases."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from sqlalchemy.dialects.postgresql.psycopg import PGCompiler_psycopg, PGDialect_psycopg
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn

from bot.store.engine import FactsWith, JsonField, JsonPart, Listed, LiteralCompiler, Statement, tables_script


class _Compiler(LiteralCompiler, PGCompiler_psycopg):
    pass


class _Dialect(PGDialect_psycopg):
    statement_compiler = _Compiler


_DIALECT: Final = _Dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy's


class PostgreSQL:
    """The SQL dialect (`bot.store.engine.Engine`) of PostgreSQL."""

    @lru_cache(maxsize=1024)  # noqa: B019 - there is one
    def text(self, statement: Statement) -> str:
        """Return the SQL text of a statement, with named parameters."""
        return str(statement.compile(dialect=_DIALECT))

    @cache  # noqa: B019 - the same
    def schema(self) -> str:
        """Return the SQL script that creates the whole schema in an empty database."""
        return "".join(f"{statement};\n" for statement in (*_functions(), *tables_script(_DIALECT)))

    def any_of(self, words: Collection[str]) -> str:
        """Return the value of the parameter of `FactsWith` that matches any of these words. Without words it matches
        nothing.
        """
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
