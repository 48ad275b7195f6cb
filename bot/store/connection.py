"""What modules of the store see of a database: rows, the parameters of statements, and an open transaction."""

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
    """A row of a result, with its columns by their names and by their places."""

    def __getitem__(self, column: int | str, /) -> Any:  # noqa: ANN401 - what the column holds
        """The value of a column."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """The values in the order of the columns."""
        ...

    def keys(self) -> Iterable[str]:
        """The names of the columns."""
        ...


class Source(Protocol):
    """Where statements can be run: the database itself for reading, one of its reads, or an open transaction."""

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """Run one statement and return all its rows. Raises StoreError, and StoreConflict when a constraint forbids
        what it would write.
        """
        ...


Run = Callable[[str | Statement, Values], list[Row]]
"""Runs one statement at once, in the thread of a connection, and returns all its rows."""


class Statements:
    """Implements `Source` on one connection."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def fetch(self, statement: str | Statement, values: Values = ()) -> list[Row]:
        """See Source."""
        return self._run(statement, values)


class Transaction(Statements):
    """An open transaction. What is run in it is committed together, or not at all."""

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
        """What kind of database it is."""
        ...

    async def close(self) -> None:
        """Finish what is being written and close it."""
        ...

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Read what is committed. A server that is away is waited for `patience` seconds. Raises StoreError."""
        ...

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Several reads on one way to the connection's thread: `work` waits for nothing else. Raises StoreError."""
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
        """As `write`, for `work` that returns what it removes, of which as little as the engine can is left on the
        disk. Raises StoreError.
        """
        ...

    async def size(self) -> int:
        """How many bytes it takes on the disk. Raises StoreError."""
        ...

    @property
    def trouble(self) -> str:
        """Why nothing can be written now, in the engine's words; "" while it can, or nobody has tried."""
        ...

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service acts on it now. What is done outside, and cannot be taken back,
        is done only then.
        """
        ...

    async def probe(self) -> None:
        """While nothing can be written, look whether it can again: whoever waits does not write."""
        ...


def to_its_end(work: Awaitable[Result]) -> Result:
    """The result of what waits for nothing but statements, in the thread in which these are run.

    Raises what it raises, and RuntimeError when it waits for something else: the database would be locked meanwhile.
    """
    waiting = work.__await__()
    try:
        next(waiting)
    except StopIteration as done:
        result: Result = done.value
        return result
    waiting.close()
    raise RuntimeError("work in the store waits for nothing but its statements")
