"""What the store needs of a database beyond the SQL that all have in common: a port with an implementation for each,
and the parts of statements that each writes in its own way.

Besides them statements use two functions that each database has by these names: `folded(text)`, as `str.casefold`, and
`instr(text, part)`, the place of the part from 1 on, 0 where it does not occur.
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
"""A statement of SQLAlchemy's."""


class Engine(Protocol):
    """A kind of database, with what its SQL does differently."""

    def text(self, statement: Statement) -> str:
        """The SQL text of a statement, with named parameters. It is made once per statement, as the store's are
        module constants.
        """
        ...

    def schema(self) -> str:
        """The script that creates the whole schema in an empty database, including the word index of facts."""
        ...

    def any_of(self, words: Collection[str]) -> str:
        """The parameter of `FactsWith` that matches any of these words; without words nothing matches."""
        ...

    def forget_words(self) -> Sequence[str]:
        """The statements that remove all traces of deleted facts from the word index."""
        ...


class Listed(FunctionElement[str]):
    """The elements of a JSON list, as rows with one column: `value`."""

    inherit_cache = True


class JsonField(FunctionElement[str]):
    """A field of a column with a JSON object, as text; NULL where it has none."""

    inherit_cache = True
    type: TypeEngine[str] = Text()

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        super().__init__(column)
        self.field = name


class JsonPart(JsonField):
    """A field of a column with a JSON object, as JSON."""

    inherit_cache = True


class FactsWith(FunctionElement[int]):
    """The ids of the facts in which a word occurs that is asked for in a parameter (`Engine.any_of`), as a query."""

    inherit_cache = True


class LiteralCompiler(SQLCompiler):
    """Writes constants into the statement's text, so that partial indexes can be used; named parameters stay open."""

    def visit_bindparam(self, bindparam: BindParameter[Any], *args: Any, **options: Any) -> str:  # noqa: ANN401
        """Write a parameter without a name as a literal."""
        if not bindparam.required:
            options["literal_binds"] = True
        return str(super().visit_bindparam(bindparam, *args, **options))  # type: ignore[no-untyped-call]  # SQLAlchemy's


def tables_script(dialect: Dialect) -> Iterator[str]:
    """The statements that make all tables, each followed by those of its indexes."""
    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
        yield from sorted(str(CreateIndex(index).compile(dialect=dialect)) for index in table.indexes)


def given(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether the column has the value that is handed over under its name."""
    return column == bindparam(column.key)


def listed(parameter: str) -> TableValuedAlias:
    """The elements of the JSON list that is handed over under this name, as a table."""
    return Listed(bindparam(parameter, type_=Text())).table_valued("value")


def is_listed(value: ColumnElement[Any], parameter: str) -> ColumnElement[bool]:
    """Whether a value is in the JSON list that is handed over under this name."""
    element = listed(parameter).c.value
    return value.in_(select(element if isinstance(value.type, String) else cast(element, value.type)))


def is_of(table: FromClause, parameter: str) -> ColumnElement[bool]:
    """Whether a row is of a person with one of the accounts in a list (`accounts_text`)."""
    account = listed(parameter).c.value
    return tuple_(table.c.person_platform, table.c.person_id).in_(
        select(JsonField(account, "platform"), JsonField(account, "id"))
    )


def accounts_text(accounts: Collection[Person]) -> str:
    """Return accounts as the JSON text that statements take as a parameter."""
    return json.dumps([{"platform": account.platform, "id": account.id} for account in accounts])


def has_words(fact: ColumnElement[int], parameter: str) -> ColumnElement[bool]:
    """Whether the fact with this id is among those of `FactsWith`."""
    return fact.op("IN", is_comparison=True)(FactsWith(bindparam(parameter, type_=Text())))


def insert(table: Table, columns: Collection[str]) -> Insert:
    """An insert with one parameter per column. What happens on a conflict is set with SQLAlchemy's `on_conflict_…`
    methods.
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
