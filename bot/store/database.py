"""The interfaces of a database as the store uses it: the engine with SQL elements that each database compiles in its
own way, rows, statement parameters, transactions, and the database itself.

Statements also use two functions that each database provides: `folded(text)`, like `str.casefold`, and `instr(text,
part)`, the position of the part from 1 on, 0 where it does not occur.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

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

    def schema(self) -> str:
        """Return the SQL script that creates the whole schema in an empty database, including the word index of facts
        if this engine has one.
        """

    def any_of(self, words: Collection[str]) -> str:
        """Return the value of the parameter of `FactsWith` (the search for facts by words) that matches any of these
        words. Without words it matches nothing.
        """

    def forget_words(self) -> Sequence[str]:
        """Return the statements that remove all traces of deleted facts from the word index."""


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


def accounts_text(accounts: Collection[Person] | None) -> str | None:
    """Return accounts as JSON text, the parameter of `is_of`; None for None."""
    return (
        None
        if accounts is None
        else json.dumps([{"platform": account.platform, "id": account.id} for account in accounts])
    )


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


Value = str | int | float | bytes | None
Parameters = dict[str, Value]
Values = tuple[Value, ...] | Mapping[str, Value]
"""The parameters of a statement: by position for SQL text, by name for SQLAlchemy statements."""
Result = TypeVar("Result")
WithValues = tuple[Statement, Values]
"""A statement with its parameters."""


class Row(Protocol):
    """A row of a result, whose columns can be read by name and by position."""

    def __getitem__(self, column: int | str, /) -> Any:  # noqa: ANN401 - what the column holds
        """The value of one column."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values in column order."""

    def keys(self) -> Iterable[str]:
        """Return the names of the columns."""


class Source(Protocol):
    """Something that runs statements: a database (for reading), an open read (see `Database.read`), or an open
    transaction.
    """

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """Run one statement and return all its rows. Raises StoreError, or StoreConflict if a constraint forbids the
        change.
        """


Run = Callable[[str | Statement, Values], list[Row]]
"""Runs one statement synchronously, in the thread of a connection, and returns all its rows."""


class Statements:
    """Runs statements on one connection, synchronously in its thread. Implements `Source`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """Run one statement and return all its rows. Raises StoreConflict if a constraint forbids the change, and the
        driver's own errors, which the database turns into StoreError for its caller.
        """
        return self._run(statement, values)


class Transaction(Statements):
    """An open transaction: its statements are committed together, or not at all."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.on_commit: list[Callable[[], None]] = []
        """Called in the event loop after a successful commit, and not at all otherwise. They must be quick."""


class Database(Protocol):
    """An open database. A statement's rows are always fetched completely in one call: a cancelled caller then leaves
    no statement open, which would lock out all other writers.
    """

    @property
    def engine(self) -> Engine:
        """The SQL dialect of this kind of database."""

    async def close(self) -> None:
        """Finish the write in progress and close the database."""

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Run one statement that reads committed data, and return its rows. Waits up to `patience` seconds for an
        unreachable server. Raises StoreError.
        """

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run several reads in one trip to the connection's thread and return the result of `work`, which may await
        nothing but statements. `patience` is as in `fetch`. Raises StoreError.
        """

    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run `work` in a transaction and return its result after the commit.

        `work` runs in the thread of the connection and may await nothing but the statements of the transaction.
        Cancelling the caller neither aborts the transaction nor leaves it open.

        For up to `patience` seconds, a full disk, a locked file or an unreachable server is waited for; `work` is then
        run again from the start. Raises StoreError, and whatever `work` raises; nothing is written then, except that
        this is unknown after StoreUnsure.
        """

    async def execute(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Run one statement as a transaction of its own and return its rows. `patience` and errors are as in
        `write`.
        """
        return await self.write(lambda transaction: transaction.fetch(statement, values), patience=patience)

    async def erase(self, work: Callable[[Transaction], Awaitable[list[Result]]]) -> list[Result]:
        """Like `write`, for deletions: `work` returns what it deleted, and as few traces of it as possible remain on
        the disk. Raises StoreError.
        """

    async def size(self) -> int:
        """Return how many bytes the database takes on the disk. Raises StoreError."""

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment, in the words of the database; "" if it works or was not tried yet."""

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using this database now. Irreversible actions outside require
        this.
        """

    async def answers(self) -> bool:
        """Return whether the database can be used now; never raises StoreError. The check is queued behind everything
        that the writing connection was asked to do before.
        """

    async def probe(self) -> None:
        """If the last write failed, try a write again, so that `trouble` is up to date even if nobody else writes."""


class TableAccess:
    """Base class for the access to tables of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database


class TimedTableAccess(TableAccess):
    """The same with a `clock`, which returns Unix seconds."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        super().__init__(database)
        self._clock = clock


def in_turn(*statements: WithValues) -> Callable[[Transaction], Awaitable[None]]:
    """Return work for `Database.write` that runs these statements with their parameters, in order."""

    async def work(transaction: Transaction) -> None:
        for statement, values in statements:
            await transaction.fetch(statement, values)

    return work


def to_its_end(work: Awaitable[Result]) -> Result:
    """Run a coroutine that awaits nothing but statements to completion in the current thread, and return its result.

    Raises what the coroutine raises, and RuntimeError if it awaits anything else, which would keep the database
    locked.
    """
    waiting = work.__await__()
    try:
        next(waiting)
    except StopIteration as done:
        result: Result = done.value
        return result
    waiting.close()
    raise RuntimeError("work in the store waits for nothing but its statements")
