"""The interfaces of a database as the store uses it: rows, statement parameters, transactions, and the database
itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from bot.store.engine import Engine, Statement

Value = str | int | float | bytes | None
Parameters = dict[str, Value]
Values = tuple[Value, ...] | Mapping[str, Value]
"""The parameters of a statement: by position for SQL text, by name for SQLAlchemy statements."""
Result = TypeVar("Result")


class Row(Protocol):
    """A row of a result, whose columns can be read by name and by position."""

    def __getitem__(self, column: int | str, /) -> Any:  # noqa: ANN401 - what the column holds
        """The value of one column."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values in column order."""
        ...

    def keys(self) -> Iterable[str]:
        """Return the names of the columns."""
        ...


class Source(Protocol):
    """Something that runs statements: a database (for reading), an open read (see `Database.read`), or an open
    transaction.
    """

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """Run one statement and return all its rows. Raises StoreError, or StoreConflict if a constraint forbids the
        change.
        """
        ...


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
        ...

    async def close(self) -> None:
        """Finish the write in progress and close the database."""
        ...

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Run one statement that reads committed data, and return its rows. Waits up to `patience` seconds for an
        unreachable server. Raises StoreError.
        """
        ...

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run several reads in one trip to the connection's thread and return the result of `work`, which may await
        nothing but statements. `patience` is as in `fetch`. Raises StoreError.
        """
        ...

    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run `work` in a transaction and return its result after the commit.

        `work` runs in the thread of the connection and may await nothing but the statements of the transaction.
        Cancelling the caller neither aborts the transaction nor leaves it open.

        For up to `patience` seconds, a full disk, a locked file or an unreachable server is waited for; `work` is then
        run again from the start. Raises StoreError, and whatever `work` raises; nothing is written then, except that
        this is unknown after StoreUnsure.
        """
        ...

    async def execute(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Run one statement as a transaction of its own and return its rows. `patience` and errors are as in
        `write`.
        """
        ...

    async def erase(self, work: Callable[[Transaction], Awaitable[list[Result]]]) -> list[Result]:
        """Like `write`, for deletions: `work` returns what it deleted, and as few traces of it as possible remain on
        the disk. Raises StoreError.
        """
        ...

    async def size(self) -> int:
        """Return how many bytes the database takes on the disk. Raises StoreError."""
        ...

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment, in the words of the database; "" if it works or was not tried yet."""
        ...

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using this database now. Irreversible actions outside require
        this.
        """
        ...

    async def answers(self) -> bool:
        """Return whether the database can be used now; never raises StoreError. The check is queued behind everything
        that the writing connection was asked to do before.
        """
        ...

    async def probe(self) -> None:
        """If the last write failed, try a write again, so that `trouble` is up to date even if nobody else writes."""
        ...


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
