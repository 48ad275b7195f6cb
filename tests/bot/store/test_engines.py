"""The tables and statements of the store are for PostgreSQL too, which reads them without another definition."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import Select, UpdateBase
from sqlalchemy.dialects.postgresql.psycopg import PGCompiler_psycopg, PGDialect_psycopg
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql.visitors import iterate

import bot.store
from bot.store.engine import FactsWith, JsonField, Listed, Statement
from bot.store.sqlite.dialect import SQLITE
from bot.store.tables import metadata


class _Compiler(PGCompiler_psycopg):
    """PostgreSQL's, for inserts that are SQLite's by their class."""

    def _on_conflict_target(self, clause: Any, **options: Any) -> str:
        clause.constraint_target = None
        return str(super()._on_conflict_target(clause, **options))  # type: ignore[no-untyped-call]  # SQLAlchemy's


POSTGRESQL = PGDialect_psycopg()  # type: ignore[no-untyped-call]  # the same
POSTGRESQL.statement_compiler = _Compiler


def statements() -> Iterator[tuple[str, Statement]]:
    """Every statement that is a constant of a module of the store, with its name."""
    for module in pkgutil.iter_modules(bot.store.__path__, "bot.store."):
        for name, constant in vars(importlib.import_module(module.name)).items():
            if name.startswith("_"):
                yield from ((f"{module.name}.{name}", each) for each in found_in(constant))


def found_in(constant: object) -> Iterator[Statement]:
    if isinstance(constant, Select | UpdateBase):
        yield constant
    elif isinstance(constant, tuple):
        for each in constant:
            yield from found_in(each)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as opened:
        opened.create_function("folded", 1, str.casefold, deterministic=True)
        opened.executescript(SQLITE.schema())
        yield opened


@pytest.mark.parametrize("statement", [pytest.param(each, id=name) for name, each in statements()])
def test_a_statement_is_one_for_both(database: sqlite3.Connection, statement: Statement) -> None:
    """Only what is the port's has to be written for PostgreSQL in its own way."""
    if not any(isinstance(each, Listed | JsonField | FactsWith) for each in iterate(statement)):
        assert str(statement.compile(dialect=POSTGRESQL))
    text = SQLITE.text(statement)
    database.execute(f"EXPLAIN {text}", dict.fromkeys(re.findall(r":(\w+)", text)))


def test_tables_and_indexes_are_defined_for_both() -> None:
    for table in metadata.sorted_tables:
        assert "STRICT" not in str(CreateTable(table).compile(dialect=POSTGRESQL))
        for index in table.indexes:
            assert str(CreateIndex(index).compile(dialect=POSTGRESQL))
