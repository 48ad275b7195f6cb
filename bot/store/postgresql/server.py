"""The PostgreSQL server: its address, connections to it, each in a thread of its own, and which service owns the
database.

One service at a time owns the database, and acts only while it is certain of that:

1. The owner holds an advisory lock, which belongs to its connection, and queries the server on that connection about
   every second. If it is silent for `SILENT_S`, because it hangs or was cut off, the server ends the connection
   (`idle_session_timeout`) and with it the lock. A statement in progress ends within `STATEMENT_S`.
2. After an answer, the owner counts on owning the database for `SURE_S`, by its own clock, from the moment of the
   query. A new holder of the lock waits that long before it acts, so that by then the former owner has stopped,
   however its connection ended. An owner that ends properly records that, and is not waited for.
3. The new owner records its ownership and ends the former one's remaining connections. Every new connection asks for
   the lock and checks who owns the database, so a former owner can no longer write.
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from secrets import token_hex
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from bot.domain.clock import seconds_since_boot
from bot.store.database import Row
from bot.store.errors import StoreAway, StoreError, StoreLost, StoreOwned
from bot.texts import words

CONNECT_S: Final = 5
"""Seconds that one attempt to reach the server takes."""
PROCESS: Final = f"opengui-{token_hex(8)}"
"""The unique name of all sessions of this process."""
CLIENT: Final[Mapping[str, Any]] = {
    "connect_timeout": CONNECT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # For data that is not acknowledged; by default Linux retries for a quarter of an hour.
    "tcp_user_timeout": 15_000,
}
"""How this side detects a dead connection (https://www.postgresql.org/docs/current/libpq-connect.html)."""
SETTINGS: Final = {
    "application_name": PROCESS,
    "client_encoding": "UTF8",
    "statement_timeout": "30s",
    "lock_timeout": "15s",
    "idle_in_transaction_session_timeout": "15s",
    # With these the server detects a dead connection within half a minute.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
"""Settings of each session: no endless waits, and nobody waits for the transaction of a process that hangs."""
BEAT_S: Final = 0.75
"""Seconds between the owner's queries."""
SILENT_S: Final = 3
"""Seconds of silence after which the server ends the owner's connection."""
SURE_S: Final = 3.0
"""Seconds after an answer during which no other process begins to act on the database."""
STATEMENT_S: Final = 5
"""Seconds for one of the owner's statements, during which the server does not notice that the client has gone."""
OWNER_SETTINGS: Final = {
    "statement_timeout": f"{STATEMENT_S}s",
    "idle_session_timeout": f"{SILENT_S}s",
    "idle_in_transaction_session_timeout": f"{SILENT_S}s",
    # For an answer that is not received, because idle time only counts from its end.
    "tcp_user_timeout": f"{SILENT_S}s",
}
"""Settings of the session that owns the database."""
_OWNER: Final = 0x4F47
_OWN: Final = "SELECT pg_advisory_lock(%s, hashtext(current_schema()))"
"""An advisory lock of the connection, which the server releases when that ends, however it ends."""
_ASKS_S: Final = 1
"""Seconds to wait for the lock; a waiter gets it the moment it is free."""
IS_OWN: Final = f"""SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = {_OWNER} AND objid::bigint = hashtext(current_schema())::bigint & 4294967295
    AND application_name = current_setting('application_name')"""  # noqa: S608 - a number
"""Query whether another connection of this process owns the database."""

_PASSING: Final = ("08", "25006", "25P03", "28", "3D000", "40", "53", "55P03", "57", "58")
"""Prefixes of SQLSTATE for errors that may pass: connection, read-only, a hanging transaction, password, a missing
database (one being restored), conflicts, lack of resources, locks, a server that starts or stops, its disk
(https://www.postgresql.org/docs/current/errcodes-appendix.html).
"""

Connection = psycopg.Connection[Row]


class NamedRow:
    """A row whose columns can be read by name or position (`bot.store.database.Row`)."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: dict[str, int], values: Sequence[Any]) -> None:
        self._places = places
        self._values = values

    def __getitem__(self, column: int | str) -> Any:  # noqa: ANN401 - what the column holds
        return self._values[column if isinstance(column, int) else self._places[column]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def keys(self) -> Iterable[str]:
        """Return the names of the columns."""
        return self._places.keys()


def named_rows(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
    """Return the function that makes `NamedRow`s from the values of this cursor's result (a psycopg row factory)."""
    places = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: NamedRow(places, values)


class Server:
    """The address of a PostgreSQL database, and how to connect to it."""

    def __init__(self, url: str) -> None:
        """Raise StoreError if the address is not valid for PostgreSQL."""
        try:
            parts = conninfo_to_dict(url)
        except psycopg.Error:
            # The original error would repeat the address with the password.
            raise StoreError(words("store.address")) from None
        ports = str(parts.get("port") or "").replace(",", "")
        where = f"{parts.get('host') or ''}{parts.get('dbname') or ''}"
        if (ports and not ports.isdecimal()) or "@" in where or "/" in str(parts.get("dbname") or ""):
            # An unescaped character in the password, which made half of it part of the address.
            raise StoreError(words("store.address"))
        self._url = url
        self.name = f"postgresql://{parts.get('host') or 'localhost'}/{parts.get('dbname') or parts.get('user') or ''}"
        """The server and the database, without the user."""

    def connect(self, *, read_only: bool = False, owns: bool = False, owner: str = "") -> Connection:
        """Open a connection that commits each statement. Blocks for at most `CONNECT_S` per address of the server, and
        with `owns` a second longer.

        With `owns` the connection owns the database exclusively while it lasts. `owner` is the ownership id of an
        earlier connection of this process, which must still be the recorded one.

        Raises psycopg.Error, StoreOwned while another process owns the database, StoreLost if it no longer belongs to
        `owner`, and another StoreError if there is no schema to own.
        """
        connection = psycopg.connect(self._url, autocommit=True, row_factory=named_rows, **CLIENT)
        try:
            wanted = SETTINGS | ({"default_transaction_read_only": "on"} if read_only else {})
            _set(connection, wanted | {"lock_timeout": f"{_ASKS_S}s"} if owns else wanted)
            if owner:
                self._require_owner(connection, owner)
            if owns:
                self._take(connection)
                _set(connection, {"lock_timeout": SETTINGS["lock_timeout"], **OWNER_SETTINGS})
            if owner:
                self._require_owner(connection, owner)
        except BaseException:
            connection.close()
            raise
        return connection

    def _take(self, connection: Connection) -> None:
        try:
            is_own = connection.execute(_OWN, (_OWNER,)).fetchall()[0][0]
        except errors.LockNotAvailable:
            raise StoreOwned(words("store.owned", name=self.name), _service_of(connection)) from None
        if is_own is None:
            raise StoreError(words("store.no_schema", name=self.name))

    def _require_owner(self, connection: Connection, owner: str) -> None:
        if connection.execute("SELECT owner FROM opengui_schema").fetchall()[0][0] != owner:
            raise StoreLost(words("store.lost"))

    @contextmanager
    def explained(self, *, in_full: bool = False) -> Iterator[None]:
        """Context manager that turns PostgreSQL's errors into StoreAway or StoreError, with a sentence that may be
        shown in a chat; with `in_full`, with a detailed one for the operator.
        """
        try:
            yield
        except psycopg.Error as error:
            # The library's own messages about a connection contain the host and the user.
            reason = error.diag.message_primary or words("store.silent")
            full = words("store.unreached", name=self.name, reason=reason_of(error))
            sentence = full if in_full else words("store.away", reason=reason)
            state = error.sqlstate or ("08000" if isinstance(error, psycopg.OperationalError) else "")
            away = StoreAway(sentence, reason) if state.startswith(_PASSING) else StoreError(sentence)
            raise away from error


def _set(connection: Connection, settings: Mapping[str, str]) -> None:
    connection.execute(
        sql.SQL("; ").join(
            sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in settings.items()
        )
    )


def _service_of(connection: Connection) -> str:
    """Return the owner's name; "" while it creates the tables."""
    try:
        return str(connection.execute("SELECT service FROM opengui_schema").fetchall()[0][0])
    except errors.UndefinedTable:
        return ""


def reason_of(error: BaseException | None) -> str:
    """Return the text of an error on one line."""
    return " ".join(str(error).split())


_CLAIM: Final = "UPDATE opengui_schema SET owner = %s, service = %s, files = %s"
_LEAVE: Final = "UPDATE opengui_schema SET owner = '', service = ''"
_FORMER: Final = "SELECT owner FROM opengui_schema"
_END: Final = """SELECT pg_terminate_backend(pid, 500) FROM pg_stat_activity
    WHERE application_name = %s AND datname = current_database()"""

Result = TypeVar("Result")


class Line:
    """A connection to the server that is opened again when it is lost."""

    def __init__(self, server: Server, name: str, *, read_only: bool = False, owns: bool = False) -> None:
        self._server = server
        self._read_only = read_only
        self._owns = owns
        self._owner = ""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"postgresql-{name}")
        self._connection: Connection | None = None
        self._sure_until = 0.0
        self._ending = threading.Event()

    @property
    def is_sure(self) -> bool:
        """Whether the server answered recently enough to be certain that no other process acts on the database."""
        return seconds_since_boot() < self._sure_until

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` with the connection, in its thread, and return the result.

        Cancelling the caller does not interrupt it. If the connection was lost, `work` is run again with a new one.
        Raises what `work` raises, and psycopg.Error or StoreError if the server cannot be reached.
        """
        done = asyncio.get_running_loop().run_in_executor(self._thread, copy_context().run, self._work, work)
        done.add_done_callback(lambda done: done.cancelled() or done.exception())  # also if its caller has gone
        return await asyncio.shield(done)

    async def claim(self, files: Sequence[str], when_lost: Callable[[], None]) -> None:
        """Take ownership of the database, once no former owner acts on it any more, and keep it in a background
        thread.

        `files` are names of this service's files that belong to the database. `when_lost` is called if another process
        takes it later. Raises psycopg.Error, and StoreError like `Server.connect`.
        """
        owner = f"{PROCESS} {token_hex(8)}"
        await self.run(lambda connection: _claim(connection, owner, json.dumps([*files])))
        self._owner = owner
        await self.run(ping)  # the last answer is too long ago
        threading.Thread(target=self._beat, args=(when_lost,), name="postgresql-beat", daemon=True).start()

    async def close(self) -> None:
        """Close the connection after its current work, and give up ownership. Safe to call twice."""
        if self._ending.is_set():
            return
        self._ending.set()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown(wait=False)

    def _work(self, work: Callable[[Connection], Result]) -> Result:
        try:
            return self._asked(work)
        except psycopg.Error:
            if self._connection is None or not self._connection.closed:
                raise
            # The connection was cut, by a restart of the server or by a device that drops idle connections.
            return self._asked(work)

    def _asked(self, work: Callable[[Connection], Result]) -> Result:
        connection = self._connected()
        asked = seconds_since_boot()
        done = work(connection)
        self._sure_until = asked + SURE_S
        return done

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._server.connect(read_only=self._read_only, owns=self._owns, owner=self._owner)
        return self._connection

    def _beat(self, when_lost: Callable[[], None]) -> None:
        """Query the server regularly, in a thread because the event loop may be delayed."""
        while not self._ending.wait(BEAT_S):
            try:
                self._thread.submit(self._work, ping).result()
            except StoreLost:
                when_lost()
            except (psycopg.Error, StoreError):
                pass  # the next user of the connection gets the error
            except RuntimeError:
                return  # it was closed in the meantime

    def _drop(self) -> None:
        if self._connection is not None:
            if self._owner and not self._connection.closed:
                with suppress(psycopg.Error):
                    self._connection.execute(_LEAVE)  # so that the next owner need not wait
            self._connection.close()
            self._connection = None


def ping(connection: Connection) -> None:
    """Run an empty statement, so that the server answers."""
    connection.execute("SELECT")


def _claim(connection: Connection, owner: str, files: str) -> None:
    """All on one connection: if it were lost, the former owner could have come back in between."""
    former = str(connection.execute(_FORMER).fetchall()[0][0])
    for _ in range(math.ceil(SURE_S / BEAT_S) if former else 0):
        time.sleep(BEAT_S)
        ping(connection)
    name = former.partition(" ")[0]
    if name not in {"", PROCESS}:
        # Including its checkpoints, which are written on separate connections. Waits until each has ended.
        with suppress(errors.InsufficientPrivilege):
            connection.execute(_END, (name,))
    connection.execute(_CLAIM, (owner, socket.gethostname(), files))
