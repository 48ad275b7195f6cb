"""The SQLite dialect: the text of statements, the whole schema, and constructs that differ from other databases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from sqlalchemy.dialects.sqlite.base import SQLiteCompiler, SQLiteDialect
from sqlalchemy.ext.compiler import compiles

from bot.store.engine import FactsWith, JsonField, JsonPart, Listed, LiteralCompiler, Statement, tables_script

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
    """The SQL dialect (`bot.store.engine.Engine`) of SQLite."""

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
        """Return the value of the parameter of `FactsWith` that matches any of these words. Without words it matches
        nothing.
        """
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
