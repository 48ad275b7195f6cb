"""One database of PostgreSQL: a connection that writes, one transaction at a time, and one that reads."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from secrets import token_hex
from typing import Any, Final, Generic, TypeVar

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from bot.store.connection import Row, Run, Source, Statements, Transaction, Value, Values, to_its_end
from bot.store.engine import Engine, Statement
from bot.store.errors import StoreAway, StoreConflict, StoreError, StoreLost
from bot.store.postgresql.dialect import POSTGRESQL
from bot.store.postgresql.schema import Migrations, migrate, migrations
from bot.store.waiting import Writable, come_and_go, patiently
from bot.texts import words
from devices.measuring import measured

logger = logging.getLogger(__name__)

CONNECT_S: Final = 5
"""How long one attempt to reach the server takes."""
PROCESS: Final = f"opengui {token_hex(8)}"
"""The name of all sessions of this process, which no other process has."""
CLIENT: Final[Mapping[str, Any]] = {
    "connect_timeout": CONNECT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # What was sent and is not acknowledged: without it Linux tries again for a quarter of an hour.
    "tcp_user_timeout": 15_000,
}
"""How this side notices that nobody is at the other end (https://www.postgresql.org/docs/current/libpq-connect.html)."""
SETTINGS: Final = {
    "application_name": PROCESS,
    "client_encoding": "UTF8",
    "statement_timeout": "30s",
    "lock_timeout": "15s",
    "idle_in_transaction_session_timeout": "15s",
    # By which the server notices within half a minute that nobody is at the other end.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
"""Of each session: nothing waits for ever, and nobody waits for a transaction whose process stands still."""
LOST: Final = 75
"""EX_TEMPFAIL of sysexits.h: the exit code of a process that has lost its record. It may be started again."""
AGAIN: Final = 20
"""How often a transaction is begun again that another one came in the way of."""

_OWNER: Final = 0x4F47
_OWN: Final = "SELECT pg_try_advisory_lock(%s, hashtext(current_schema()))"
"""A lock that belongs to the connection: the server lets go of it with that, however it ends."""
IS_OWN: Final = f"""SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = {_OWNER} AND objid::bigint = hashtext(current_schema())::bigint & 4294967295
    AND application_name = current_setting('application_name')"""  # noqa: S608 - a number
"""Asks whether another connection of this process owns the record."""

_PASSING: Final = ("08", "25006", "25P03", "28", "3D000", "40", "53", "55P03", "57", "58")
"""Beginnings of SQLSTATE for what may be otherwise a moment later: connection, read-only, a transaction whose process
stood still, password, no such database (one that is being restored), others in the way, no room, locks, a server that
starts or ends, its disk
(https://www.postgresql.org/docs/current/errcodes-appendix.html).
"""

_NUL_IN_JSON: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

Result = TypeVar("Result")
Connection = psycopg.Connection[Row]


class NamedRow:
    """A row; implements `bot.store.connection.Row`."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: dict[str, int], values: Sequence[Any]) -> None:
        self._places = places
        self._values = values

    def __getitem__(self, column: int | str) -> Any:  # noqa: ANN401 - what the column holds
        return self._values[column if isinstance(column, int) else self._places[column]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def keys(self) -> Iterable[str]:
        """See Row."""
        return self._places.keys()


def named_rows(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
    """Makes the rows of a result; a row factory of psycopg's."""
    places = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: NamedRow(places, values)


class Server:
    """Where the database is, and how to get there."""

    def __init__(self, url: str) -> None:
        """Raises StoreError when the address is none of PostgreSQL's."""
        try:
            parts = conninfo_to_dict(url)
        except psycopg.Error:
            # Its words would repeat the address, with the password.
            raise StoreError(words("store.address")) from None
        ports = str(parts.get("port") or "").replace(",", "")
        where = f"{parts.get('host') or ''}{parts.get('dbname') or ''}"
        if (ports and not ports.isdecimal()) or "@" in where or "/" in str(parts.get("dbname") or ""):
            # A password with such a character in it, of which half has become a part of the address.
            raise StoreError(words("store.address"))
        self._url = url
        self.name = f"postgresql://{parts.get('host') or 'localhost'}/{parts.get('dbname') or parts.get('user') or ''}"
        """The server and the database, without who uses them."""

    def connect(self, *, read_only: bool = False, owns: bool = False, owner: str = "") -> Connection:
        """A new connection, which commits each statement by itself; one that `owns` the record has it alone for as long
        as it lasts. Blocks for CONNECT_S at most for each address of the server.

        Raises psycopg.Error, StoreAway while another one owns the record, and StoreLost when it is no more
        that of `owner`, which has owned it before.
        """
        connection = psycopg.connect(self._url, autocommit=True, row_factory=named_rows, **CLIENT)
        try:
            wanted = SETTINGS | ({"default_transaction_read_only": "on"} if read_only else {})
            connection.execute(
                sql.SQL("; ").join(
                    sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value))
                    for name, value in wanted.items()
                )
            )
            if owner:
                self._require_owner(connection, owner)
            if owns:
                self._take(connection)
            if owner:
                self._require_owner(connection, owner)
        except BaseException:
            connection.close()
            raise
        return connection

    def _take(self, connection: Connection) -> None:
        is_own = connection.execute(_OWN, (_OWNER,)).fetchall()[0][0]
        if is_own is None:
            raise StoreError(words("store.no_schema", name=self.name))
        if not is_own:
            raise StoreAway(words("store.owned", name=self.name))

    def _require_owner(self, connection: Connection, owner: str) -> None:
        if connection.execute("SELECT owner FROM opengui_schema").fetchall()[0][0] != owner:
            raise StoreLost(words("store.lost", name=self.name))

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the errors of PostgreSQL into sentences."""
        try:
            yield
        except psycopg.Error as error:
            state = error.sqlstate or ("08000" if isinstance(error, psycopg.OperationalError) else "")
            kind = StoreAway if state.startswith(_PASSING) else StoreError
            raise kind(words("store.away", name=self.name, reason=_reason(error))) from error


class Line:
    """One connection in a thread of its own, made anew when it was lost."""

    def __init__(self, server: Server, name: str, *, read_only: bool = False, owns: bool = False) -> None:
        self._server = server
        self._read_only = read_only
        self._owns = owns
        self._owner = ""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"postgresql-{name}")
        self._connection: Connection | None = None

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """`work` with the connection, in its thread. It is done to its end when the caller is cancelled, and again with
        a new connection when it was lost.

        Raises psycopg.Error, and what `work` raises.
        """
        done = asyncio.get_running_loop().run_in_executor(self._thread, copy_context().run, self._work, work)
        return await asyncio.shield(done)

    async def claim(self) -> None:
        """Write down whose record it is from now on. Raises psycopg.Error."""
        owner = token_hex(8)

        def work(connection: Connection) -> None:
            connection.execute("UPDATE opengui_schema SET owner = %s", (owner,))

        await self.run(work)
        self._owner = owner

    async def close(self) -> None:
        """Close it once all that it was given is done."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown(wait=False)

    def _work(self, work: Callable[[Connection], Result]) -> Result:
        try:
            return work(self._connected())
        except psycopg.Error:
            if self._connection is None or not self._connection.closed:
                raise
            # It was cut: the server was restarted, or something between here and there forgets those that are quiet.
            return work(self._connected())

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._server.connect(read_only=self._read_only, owns=self._owns, owner=self._owner)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PostgresDatabase:
    """Implements `bot.store.connection.Database` on a server. Transactions are serializable, as those of SQLite are."""

    engine: Engine = POSTGRESQL

    def __init__(self, server: Server, *, owns: bool = False, when_lost: Callable[[], None] | None = None) -> None:
        self._server = server
        self._when_lost = when_lost or end_process
        self._writer = Line(server, "writes", owns=owns)
        self._reader = Line(server, "reads", read_only=True)
        self._writable = Writable(server.name)

    @classmethod
    async def open(
        cls,
        url: str,
        known: Migrations | None = None,
        *,
        owns: bool = False,
        when_lost: Callable[[], None] | None = None,
        patience: float = 0.0,
    ) -> PostgresDatabase:
        """Connect, and bring the schema up to date by `known`, which is this program's own unless it is given. One that
        `owns` the record is the only one that does: whoever acts on it must. `when_lost` is called when another process
        has taken it while this one was cut off, and ends the process unless it is given. A server that is away, and a
        former owner, are waited for `patience` seconds.

        Raises StoreTooOld, StoreTooNew or StoreError; the database is then as it was.
        """
        server = Server(url)
        database = cls(server, owns=owns, when_lost=when_lost)

        async def prepare() -> None:
            try:
                with server.explained():
                    await database._writer.run(
                        lambda connection: migrate(connection, server.name, known or migrations())
                    )
                    if owns:
                        await database._writer.claim()
            except StoreAway as away:
                database._writable.failed(_reason(away.__cause__ or away))
                raise
            database._writable.worked()

        try:
            await patiently(prepare, seconds=patience)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """See Database."""
        await self._reader.close()
        await self._writer.close()

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """See Database."""
        return await self.read(lambda source: source.fetch(statement, values), patience=patience)

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """See Database."""
        return await patiently(lambda: self._read(work), seconds=patience)

    async def _read(self, work: Callable[[Source], Awaitable[Result]]) -> Result:
        with self._server.explained():
            return await self._reader.run(lambda connection: to_its_end(work(Statements(run_on(connection)))))

    @measured("store")
    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """See Database."""
        fate: _Fate[Result] = _Fate()
        return await patiently(lambda: self._write(work, fate), seconds=patience)

    async def execute(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """See Database."""
        return await self.write(lambda transaction: transaction.fetch(statement, values), patience=patience)

    async def erase(self, work: Callable[[Transaction], Awaitable[list[Result]]]) -> list[Result]:
        """See Database. The server keeps what is removed until it vacuums, and in its log as long as it keeps that."""
        return await self.write(work)

    async def size(self) -> int:
        """See Database. With the checkpoints, which lie in the same one."""
        return int((await self.fetch("SELECT pg_database_size(current_database())"))[0][0])

    @property
    def trouble(self) -> str:
        """See Database."""
        return self._writable.trouble

    async def probe(self) -> None:
        """See Database."""
        if self.trouble:
            with suppress(StoreError):
                await self._write(come_and_go, _Fate())

    async def _write(self, work: Callable[[Transaction], Awaitable[Result]], fate: _Fate[Result]) -> Result:
        left = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            with self._server.explained():
                done = await self._writer.run(lambda connection: self._transaction(connection, work, fate, left, loop))
        except asyncio.CancelledError:
            left.set()
            raise
        except StoreLost:
            self._when_lost()
            raise
        except StoreAway as away:
            self._writable.failed(_reason(away.__cause__ or away))
            raise
        self._writable.worked()
        return done

    def _transaction(
        self,
        connection: Connection,
        work: Callable[[Transaction], Awaitable[Result]],
        fate: _Fate[Result],
        left: threading.Event,
        loop: asyncio.AbstractEventLoop,
    ) -> Result:
        try:
            if not fate.is_committed(connection):
                self._commit(connection, work, fate)
        except BaseException:
            if left.is_set():
                logger.exception("a transaction failed after its caller had gone")
            raise
        for call in fate.on_commit:
            # Before the caller goes on, and also when it has gone.
            loop.call_soon_threadsafe(call)
        return fate.result

    def _commit(
        self, connection: Connection, work: Callable[[Transaction], Awaitable[Result]], fate: _Fate[Result]
    ) -> None:
        """Do the work, again and again while others come in its way."""
        for left in reversed(range(AGAIN)):
            transaction = Transaction(run_on(connection))
            try:
                begun = connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT pg_current_xact_id()::text")
                begun.nextset()
                number = str(begun.fetchall()[0][0])
                result = to_its_end(work(transaction))
                fate.begins(number, result, transaction.on_commit)
                connection.execute("COMMIT")
            except (errors.SerializationFailure, errors.DeadlockDetected):
                connection.rollback()
                if not left:
                    raise
            except BaseException:
                if not connection.closed:
                    connection.rollback()
                raise
            else:
                return


class _Fate(Generic[Result]):
    """What became of a transaction, also where the connection was lost while it was committed."""

    def __init__(self) -> None:
        self._number = ""
        self._results: list[Result] = []
        self.on_commit: Sequence[Callable[[], None]] = ()

    @property
    def result(self) -> Result:
        """What the work has given back."""
        return self._results[0]

    def begins(self, number: str, result: Result, on_commit: Sequence[Callable[[], None]]) -> None:
        """The transaction with this number is about to be committed."""
        self._number, self._results, self.on_commit = number, [result], on_commit

    def is_committed(self, connection: Connection) -> bool:
        """Whether one was committed. Raises StoreAway while the server is still at it."""
        if not self._number:
            return False
        try:
            status = connection.execute("SELECT pg_xact_status(%s::xid8)", (self._number,)).fetchall()[0][0]
        except errors.InvalidParameterValue:
            status = "aborted"  # the server has crashed, and gives the number to another one
        if status == "in progress":
            raise StoreAway(words("store.away", name="PostgreSQL", reason=status))
        if status != "committed":
            self._number = ""
        return bool(self._number)


def run_on(connection: Connection) -> Run:
    """What runs statements on this connection. It raises StoreConflict when a constraint forbids one."""

    def run(statement: str | Statement, values: Values) -> list[Row]:
        text = statement if isinstance(statement, str) else POSTGRESQL.text(statement)
        try:
            cursor = connection.execute(text.encode(), _without_nul(values))
        except psycopg.IntegrityError as error:
            raise StoreConflict(_reason(error)) from error
        return cursor.fetchall() if cursor.description else []

    return run


def _without_nul(values: Values) -> Values:
    if isinstance(values, Mapping):
        return {name: without_nul(value) for name, value in values.items()}
    return tuple(map(without_nul, values))


def end_process() -> None:
    """End at once: another one goes on with the record, and nothing of what this one knows is true any more."""
    logger.critical("Another service has taken over the record. This one ends, so that it does nothing twice.")
    logging.shutdown()
    os._exit(LOST)


def without_nul(value: Value) -> Value:
    """A value with the one character replaced that texts of PostgreSQL do not hold, also where JSON has written it."""
    if not isinstance(value, str):
        return value
    return _NUL_IN_JSON.sub(r"\1\\ufffd", value.replace("\0", "\ufffd"))


def _reason(error: BaseException | None) -> str:
    return " ".join(str(error).split())
