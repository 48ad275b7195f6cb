"""The store's view of a database: rows, statement parameters, and open transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from bot.store.engine import Engine, Statement

Value = str | int | float | bytes | None
Parameters = dict[str, Value]
Values = tuple[Value, ...] | Mapping[str, Value]
"""The parameters of a statement: in order for SQL that is written out, by name for SQLAlchemy's."""
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
        """The names of the columns."""
        ...


class Source(Protocol):
    """Runs statements: the database (for reading), one of its reads, or an open transaction."""

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """Run one statement and return all its rows. Raises StoreError, or StoreConflict if a constraint forbids the
        change.
        """
        ...


Run = Callable[[str | Statement, Values], list[Row]]
"""Runs one statement at once, in the thread of a connection, and returns all its rows."""


class Statements:
    """Runs statements on one connection. Implements `Source`."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """Run one statement and return all its rows."""
        return self._run(statement, values)


class Transaction(Statements):
    """An open transaction: its statements are committed together, or not at all."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.on_commit: list[Callable[[], None]] = []
        """What is called in the event loop once it is all on the disk, and never where it is not; it must be quick."""


class Database(Protocol):
    """An open database. Statements are always fetched to the end in one call, so that a cancelled caller leaves no
    statement open, which would lock everybody else out.
    """

    @property
    def engine(self) -> Engine:
        """The kind of database."""
        ...

    async def close(self) -> None:
        """Finish the write in progress and close the database."""
        ...

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Read committed data. Waits up to `patience` seconds for an unavailable server. Raises StoreError."""
        ...

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run several reads in one trip to the connection's thread; `work` must await nothing else. Raises
        StoreError.
        """
        ...

    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run `work` in a transaction and return its result once that is on the disk. It waits for nothing but the
        statements of the transaction, and is run in the thread of the connection.

        Cancelling the caller neither cuts the transaction nor leaves it open.
        For `patience` seconds a full disk, a locked file or a server that is away is waited for; `work` is then run
        again from its beginning. Raises StoreError, and whatever `work` raises; nothing is then written.
        """
        ...

    async def execute(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Run one statement as a transaction of its own and return its rows: see `write`."""
        ...

    async def erase(self, work: Callable[[Transaction], Awaitable[list[Result]]]) -> list[Result]:
        """Like `write`, for `work` that returns what it removes; the engine leaves as little of that as it can on
        the disk. Raises StoreError.
        """
        ...

    async def size(self) -> int:
        """Bytes that the database takes on the disk. Raises StoreError."""
        ...

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment, in the engine's words; "" if it works, or was not tried."""
        ...

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using the record now. Irreversible actions outside require
        this.
        """
        ...

    async def answers(self) -> bool:
        """Whether the database can be used now; never raises StoreError. The answer comes after everything that the
        writing connection was asked before.
        """
        ...

    async def probe(self) -> None:
        """While writing fails, try whether it works again, since those who wait do not write."""
        ...


def to_its_end(work: Awaitable[Result]) -> Result:
    """Run a coroutine that awaits nothing but statements, in the thread in which these run, and return its result.

    Raises what it raises, and RuntimeError if it awaits something else, which would keep the database locked.
    """
    waiting = work.__await__()
    try:
        next(waiting)
    except StopIteration as done:
        result: Result = done.value
        return result
    waiting.close()
    raise RuntimeError("work in the store waits for nothing but its statements")
