"""Tables and statements are defined once, and each engine has its text of every one of them."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import Select, UpdateBase

import bot.store
from bot.store.database import Statement
from bot.store.postgresql.schema import POSTGRESQL
from bot.store.sqlite.schema import SQLITE
from bot.store.tables import metadata


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
    assert POSTGRESQL.text(statement)
    text = SQLITE.text(statement)
    database.execute(f"EXPLAIN {text}", dict.fromkeys(re.findall(r":(\w+)", text)))


def test_tables_and_indexes_are_defined_for_both() -> None:
    script = POSTGRESQL.schema()
    assert "STRICT," not in script
    assert ") STRICT" not in script
    for table in metadata.sorted_tables:
        assert f"CREATE TABLE {table.name} " in script
        for index in table.indexes:
            assert f"INDEX {index.name} " in script
