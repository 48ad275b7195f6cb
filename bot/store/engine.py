"""What the store needs of a database beyond common SQL: the port `Engine`, and SQL elements that each database
compiles in its own way.

Statements also use two functions that each database provides: `folded(text)`, like `str.casefold`, and `instr(text,
part)`, the position of the part from 1 on, 0 where it does not occur.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    FromClause,
    FunctionElement,
    Select,
    String,
    Table,
    TableValuedAlias,
    Text,
    UpdateBase,
    bindparam,
    cast,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import Insert
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from bot.domain.address import Person
from bot.store.tables import metadata

Statement = Select[Any] | UpdateBase
"""An SQLAlchemy statement."""


class Engine(Protocol):
    """The SQL dialect of one kind of database: what it does differently from the others."""

    def text(self, statement: Statement) -> str:
        """Return the SQL text of a statement, with named parameters. It is compiled once per statement and cached, as
        the store's statements are module constants.
        """
        ...

    def schema(self) -> str:
        """Return the SQL script that creates the whole schema in an empty database, including the word index of facts
        if this engine has one.
        """
        ...

    def any_of(self, words: Collection[str]) -> str:
        """Return the value of the parameter of `FactsWith` (the search for facts by words) that matches any of these
        words. Without words it matches nothing.
        """
        ...

    def forget_words(self) -> Sequence[str]:
        """Return the statements that remove all traces of deleted facts from the word index."""
        ...


class Listed(FunctionElement[str]):
    """SQL element: the elements of a JSON list, as rows with one column, `value`."""

    inherit_cache = True


class JsonField(FunctionElement[str]):
    """SQL element: a field of a JSON object in a column, as text; NULL if the object has no such field."""

    inherit_cache = True
    type: TypeEngine[str] = Text()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        super().__init__(column)
        self.field = name


class JsonPart(JsonField):
    """SQL element: a field of a JSON object in a column, as JSON; NULL if the object has no such field."""

    inherit_cache = True


class FactsWith(FunctionElement[int]):
    """SQL element: a query for the ids of the facts that contain one of the words in a parameter, which
    `Engine.any_of` makes.
    """

    inherit_cache = True


class LiteralCompiler(SQLCompiler):
    """Compiles constants into the SQL text, so that the database can use partial indexes; named parameters stay
    parameters.
    """

    def visit_bindparam(self, bindparam: BindParameter[Any], *args: Any, **options: Any) -> str:  # noqa: ANN401
        """Compile a parameter; one that was made from a constant becomes a literal."""
        if not bindparam.required:
            options["literal_binds"] = True
        return str(super().visit_bindparam(bindparam, *args, **options))  # type: ignore[no-untyped-call]  # SQLAlchemy's


def tables_script(dialect: Dialect) -> Iterator[str]:
    """Yield the statements that create all tables, each followed by the statements that create its indexes."""
    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        yield from sorted(str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes)


def given(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition `column = :column`: the column equals the parameter of the same name."""
    return column == bindparam(column.key)


def listed(parameter: str) -> TableValuedAlias:
    """Return the elements of the JSON list in this parameter as a table with one column, `value`."""
    return Listed(bindparam(parameter, type_=Text())).table_valued("value")


def is_listed(value: ColumnElement[Any], parameter: str) -> ColumnElement[bool]:
    """Return the condition that a value is in the JSON list in this parameter."""
    element = listed(parameter).c.value
    return value.in_(select(element if isinstance(value.type, String) else cast(element, value.type)))


def is_of(table: FromClause, parameter: str) -> ColumnElement[bool]:
    """Return the condition that a row's person has one of the accounts in this parameter (see `accounts_text`)."""
    account = listed(parameter).c.value
    return tuple_(table.c.person_platform, table.c.person_id).in_(
        select(JsonField(account, "platform"), JsonField(account, "id"))
    )


def accounts_text(accounts: Collection[Person]) -> str:
    """Return accounts as JSON text, the parameter of `is_of`."""
    return json.dumps([{"platform": account.platform, "id": account.id} for account in accounts])


def has_words(fact: ColumnElement[int], parameter: str) -> ColumnElement[bool]:
    """Return the condition that the fact with this id contains one of the words in this parameter, which
    `Engine.any_of` makes.
    """
    return fact.op("IN", is_comparison=True)(FactsWith(bindparam(parameter, type_=Text())))


def insert(table: Table, columns: Collection[str]) -> Insert:
    """Return an insert with one parameter per column, named after it. Add SQLAlchemy's `on_conflict_…` methods to
    handle conflicts.
    """
    return Insert(table).values({column: bindparam(column) for column in columns})


def upsert(table: Table, columns: Collection[str]) -> Insert:
    """Return an insert that replaces the columns of an existing row with the same primary key."""
    statement = insert(table, columns)
    key = set(table.primary_key.columns.keys())
    return statement.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={column: statement.excluded[column] for column in columns if column not in key},
    )
