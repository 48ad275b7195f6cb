"""A PostgreSQL database with one connection for writing, one transaction at a time, and one for reading."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

import psycopg
from psycopg import errors

from bot.store.database import (
    Database,
    Engine,
    Row,
    Run,
    Source,
    Statement,
    Statements,
    Transaction,
    Value,
    Values,
    to_its_end,
)
from bot.store.errors import StoreAway, StoreConflict, StoreError, StoreLost, StoreOwned, StoreUnsure
from bot.store.postgresql.schema import POSTGRESQL, Migrations, migrate, migrations
from bot.store.postgresql.server import Connection, Line, Server, ping, reason_of
from bot.store.waiting import Writable, probe_write, retry_while_away
from bot.texts import words
from devices.measuring import measured

logger = logging.getLogger(__name__)

LOST: Final = 75
"""Exit code of a process that has lost its record and may be started again (EX_TEMPFAIL in sysexits.h)."""
AGAIN: Final = 20
"""How often a transaction that conflicts with another is attempted."""
LONGEST_BREATH_S: Final = 0.25
"""Longest pause between two attempts; it is random, so that the same transactions do not collide again."""

_BEGIN: Final = "BEGIN ISOLATION LEVEL SERIALIZABLE"
_NUMBER: Final = "UPDATE opengui_schema SET written = written + 1 RETURNING written"
_NUL_IN_JSON: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

Result = TypeVar("Result")


class PostgresDatabase(Database):
    """A database (`bot.store.database.Database`) on a PostgreSQL server. Transactions are serializable, as in
    SQLite.
    """

    engine: Engine = POSTGRESQL

    def __init__(self, server: Server, *, owns: bool = False, when_lost: Callable[[], None] | None = None) -> None:
        self._server = server
        self._owns = owns
        self._when_lost = when_lost or end_process
        self._writer = Line(server, "writes", owns=owns)
        self._reader = Line(server, "reads", read_only=True)
        self._writable = Writable(server.name)
        self._unsettled: _CommitOutcome[Any] | None = None
        """The transaction during whose COMMIT the owner's connection was lost; used only in the connection's thread."""

    @classmethod
    async def open(
        cls,
        url: str,
        known: Migrations | None = None,
        *,
        owns: bool = False,
        files: Sequence[str] = (),
        when_lost: Callable[[], None] | None = None,
        stand_by: Callable[[str], None] | None = None,
        patience: float = 0.0,
    ) -> PostgresDatabase:
        """Connect to the database and migrate its schema with `known`, by default this program's migrations.

        - `owns`: Become the only service that works with the database; required for a process that acts on it.
        - `files`: Names of the files in the data directory that belong to it.
        - `when_lost`: Called if another process takes the database while this one is cut off; by default it ends the
          process.
        - `stand_by`: If given, another owner is waited for without limit, and this is called repeatedly with its name.
        - `patience`: Seconds to wait for an unreachable server or, without `stand_by`, another owner.

        Raises StoreTooOld, StoreTooNew or StoreError; the database is then unchanged.
        """
        server = Server(url)
        database = cls(server, owns=owns, when_lost=when_lost)

        async def prepare() -> StoreOwned | None:
            """Return the error if another owner is being waited for."""
            try:
                with server.explained(in_full=True):
                    await database._writer.run(
                        lambda connection: migrate(connection, server.name, known or migrations())
                    )
                    if owns:
                        await database._writer.claim(files, database._when_lost)
            except StoreOwned as owned:
                if stand_by is None:
                    raise
                return owned
            except StoreAway as away:
                database._writable.failed(away)
                raise
            database._writable.worked()
            return None

        try:
            while (owned := await retry_while_away(prepare, seconds=patience)) is not None and stand_by is not None:
                stand_by(owned.service)
            if stand_by is not None:
                logger.info("The record in %s is this service's from now on.", server.name)
        except BaseException:
            await database.close()
            raise
        return database

    async def close(self) -> None:
        """Finish the write in progress and close the database."""
        await self._reader.close()
        await self._writer.close()

    async def fetch(self, statement: str | Statement, values: Values = (), *, patience: float = 0.0) -> list[Row]:
        """Read committed data. Waits up to `patience` seconds for an unreachable server. Raises StoreError."""
        return await self.read(lambda source: source.fetch(statement, values), patience=patience)

    async def read(self, work: Callable[[Source], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run several reads in one visit to the connection's thread; see `Database.read`."""
        return await retry_while_away(lambda: self._read(work), seconds=patience)

    async def _read(self, work: Callable[[Source], Awaitable[Result]]) -> Result:
        with self._server.explained():
            return await self._reader.run(lambda connection: to_its_end(work(Statements(run_on(connection)))))

    @measured("store")
    async def write(self, work: Callable[[Transaction], Awaitable[Result]], *, patience: float = 0.0) -> Result:
        """Run `work` in a transaction and return its result after the commit; see `Database.write`.

        Raises StoreUnsure if the connection was lost during the commit and its outcome is still unknown, another
        StoreError, or what `work` raises.
        """
        fate: _CommitOutcome[Result] = _CommitOutcome()
        try:
            return await retry_while_away(lambda: self._write(work, fate), seconds=patience)
        except StoreAway as away:
            if fate.is_committed is None:
                raise StoreUnsure(words("store.unsure", reason=away.reason), away.reason) from away
            raise

    async def erase(self, work: Callable[[Transaction], Awaitable[list[Result]]]) -> list[Result]:
        """Like `write`, for deletions: `work` returns what it deleted.

        The server keeps the deleted data until it vacuums, and in its write-ahead log as long as it keeps that.
        """
        return await self.write(work)

    async def size(self) -> int:
        """Return the size of the database on the disk in bytes, including the checkpoints."""
        return int((await self.fetch("SELECT pg_database_size(current_database())"))[0][0])

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment, in the server's words; "" if it works or was not tried yet."""
        return self._writable.trouble

    @property
    def is_ours(self) -> bool:
        """Whether it is certain that no other service is using the database now. Always true if this process does not
        own it.
        """
        return not self._owns or self._writer.is_sure

    async def answers(self) -> bool:
        """Return whether the server answers now and the database still belongs to this service."""
        try:
            with self._server.explained():
                await self._writer.run(ping)
        except StoreError:
            return False
        return self.is_ours

    async def probe(self) -> None:
        """If the last write failed, try a write again, so that `trouble` is up to date even if nobody else writes."""
        if self.trouble:
            with suppress(StoreError):
                await self._write(probe_write, _CommitOutcome())

    async def _write(self, work: Callable[[Transaction], Awaitable[Result]], outcome: _CommitOutcome[Result]) -> Result:
        left = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            with self._server.explained():
                done = await self._writer.run(
                    lambda connection: self._transaction(connection, work, outcome, left, loop)
                )
        except asyncio.CancelledError:
            left.set()
            raise
        except StoreLost:
            self._when_lost()
            raise
        except StoreAway as away:
            self._writable.failed(away)
            raise
        self._writable.worked()
        return done

    def _transaction(
        self,
        connection: Connection,
        work: Callable[[Transaction], Awaitable[Result]],
        outcome: _CommitOutcome[Result],
        left: threading.Event,
        loop: asyncio.AbstractEventLoop,
    ) -> Result:
        try:
            if self._unsettled is not None:
                # Before another transaction takes the next number.
                self._unsettled.settle(connection, loop)
                self._unsettled = None
            if outcome.is_committed is None:
                away = StoreError(words("store.unsure", reason="the connection was lost at a COMMIT"))
                raise away  # noqa: TRY301 - who has gone is told in the log
            if not outcome.is_committed:
                self._commit(connection, work, outcome)
                outcome.ends(loop, is_committed=True)
        except BaseException:
            if left.is_set():
                logger.exception("A transaction failed after its caller was cancelled")
            raise
        return outcome.result

    def _commit(
        self, connection: Connection, work: Callable[[Transaction], Awaitable[Result]], outcome: _CommitOutcome[Result]
    ) -> None:
        """Do the work in a transaction, repeatedly while it conflicts with others."""
        for attempt in range(1, AGAIN + 1):
            transaction = Transaction(run_on(connection))
            number = 0
            try:
                if self._owns:
                    begun = connection.execute(f"{_BEGIN}; {_NUMBER}".encode())
                    begun.nextset()
                    number = int(begun.fetchall()[0][0])
                else:
                    connection.execute(_BEGIN)
                result = to_its_end(work(transaction))
                outcome.begins(number, result, transaction.on_commit)
                connection.execute("COMMIT")
            except (errors.SerializationFailure, errors.DeadlockDetected):
                outcome.is_committed = False
                connection.rollback()
                if attempt == AGAIN:
                    raise
                time.sleep(random.uniform(0.0, min(LONGEST_BREATH_S, 0.001 * 2**attempt)))  # noqa: S311 - no secret
            except BaseException:
                if not connection.closed:
                    outcome.is_committed = False
                    connection.rollback()
                elif outcome.is_committed is None and number:
                    self._unsettled = outcome
                raise
            else:
                return


class _CommitOutcome(Generic[Result]):
    """The outcome of a transaction, even if the connection was lost during its COMMIT.

    Each transaction of an owner writes its number into the database, so the number shows later whether it was
    committed, whatever happened to the server. By the time a new connection owns the database, the old one's
    transaction has ended, because the server has released its lock.
    """

    def __init__(self) -> None:
        self._number = 0
        self._results: list[Result] = []
        self._on_commit: Sequence[Callable[[], None]] = ()
        self.is_committed: bool | None = False
        """None from COMMIT until its answer: if that is lost, the outcome is unknown."""

    @property
    def result(self) -> Result:
        """The result of the work."""
        return self._results[0]

    def begins(self, number: int, result: Result, on_commit: Sequence[Callable[[], None]]) -> None:
        """Note that the transaction with this number (0: none) is about to be committed."""
        self._number, self._results, self._on_commit, self.is_committed = number, [result], on_commit, None

    def settle(self, connection: Connection, loop: asyncio.AbstractEventLoop) -> None:
        """Check whether it was committed, on the next connection and before any other transaction."""
        written = connection.execute("SELECT written FROM opengui_schema").fetchall()[0][0]
        self.ends(loop, is_committed=written == self._number)

    def ends(self, loop: asyncio.AbstractEventLoop, *, is_committed: bool) -> None:
        """Note whether it was committed, and notify listeners before the caller continues, even if the caller has
        gone.
        """
        self.is_committed = is_committed
        for call in self._on_commit if is_committed else ():
            loop.call_soon_threadsafe(call)


def run_on(connection: Connection) -> Run:
    """Return a function that runs statements on this connection. It raises StoreConflict for a violated constraint."""

    def run(statement: str | Statement, values: Values) -> list[Row]:
        text = statement if isinstance(statement, str) else POSTGRESQL.text(statement)
        try:
            cursor = connection.execute(text.encode(), _without_nul(values))
        except psycopg.IntegrityError as error:
            raise StoreConflict(reason_of(error)) from error
        return cursor.fetchall() if cursor.description else []

    return run


def _without_nul(values: Values) -> Values:
    if isinstance(values, Mapping):
        return {name: without_nul(value) for name, value in values.items()}
    return tuple(map(without_nul, values))


def end_process() -> None:
    """End this process at once with exit code `LOST`, because another one has taken over the database and this one's
    data is outdated.
    """
    logger.critical("Another service has taken over the record. This one exits, so that nothing is done twice.")
    logging.shutdown()
    os._exit(LOST)


def without_nul(value: Value) -> Value:
    """Return the value with NUL characters replaced, also in JSON's escaped form, because PostgreSQL texts cannot
    contain them.
    """
    if not isinstance(value, str):
        return value
    return _NUL_IN_JSON.sub(r"\1\\ufffd", value.replace("\0", "\ufffd"))
