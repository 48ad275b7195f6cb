"""What SQLAlchemy does not have for every database: parts of statements that each writes in its own way.

How they are written stands in the database's own module (`bot.store.sqlite`). Besides them statements use two functions
that each database has by these names: `folded(text)`, as `str.casefold`, and `instr(text, part)`, the place of the part
from 1 on, 0 where it does not occur.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import BinaryExpression, ColumnElement, FunctionElement, Table, Text, bindparam
from sqlalchemy.dialects.sqlite import Insert
from sqlalchemy.sql.type_api import TypeEngine


class Listed(FunctionElement[str]):
    """The texts or numbers of a parameter that is a JSON list, as a query with one column."""

    inherit_cache = True


class JsonField(FunctionElement[str]):
    """A field of a column with a JSON object, as text; NULL where it has none. The path is of names, with dots."""

    inherit_cache = True
    type: TypeEngine[str] = Text()

    def __init__(self, column: ColumnElement[Any], path: str) -> None:
        super().__init__(column)
        self.path = path


class FactsWith(FunctionElement[int]):
    """The ids of the facts in which a word of a parameter occurs, as a query with one column. `any_of` of the
    database's module makes the parameter.
    """

    inherit_cache = True


def is_in(value: ColumnElement[Any], query: FunctionElement[Any]) -> BinaryExpression[bool]:
    """Whether a value is among those of such a query."""
    return value.op("IN", is_comparison=True)(query)


def is_listed(value: ColumnElement[Any], parameter: str) -> BinaryExpression[bool]:
    """Whether a value is in the JSON list that is handed over under this name."""
    return is_in(value, Listed(bindparam(parameter, type_=Text())))


def insert(table: Table, columns: Collection[str]) -> Insert:
    """An insert with a parameter for each of these columns. What it does at a conflict it is told by `on_conflict_…`,
    which PostgreSQL's has by the same names.
    """
    return Insert(table).values({column: bindparam(column) for column in columns})


def upsert(table: Table, columns: Collection[str]) -> Insert:
    """An insert that takes the place of the row with the same primary key."""
    statement = insert(table, columns)
    key = set(table.primary_key.columns.keys())
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={column: statement.excluded[column] for column in columns if column not in key},
    )
