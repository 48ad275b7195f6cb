"""The server: where it is, how it is connected to, and who owns the record in it.

The record is one service's at a time, and a service acts only while it is sure of it, in three steps:

1. The owner holds an advisory lock, which belongs to its connection. Each second it says something on that connection;
   where it says nothing for SILENT_S, because it stands still or was cut off, the server ends the connection by itself
   (`idle_session_timeout`), and with it the lock. A statement that it was at ends within STATEMENT_S.
2. After an answer of the server the owner counts on the record for SURE_S, by its own clock, from the moment at which
   it had asked. Who gets the lock waits that long before it does anything: what the former owner was sure of is over
   then, however its connection ended. An owner that has ended properly says so, and is not waited for.
3. The new owner writes down that the record is its own, and ends what connections the former one still has. Whoever
   connects anew asks for the lock, and whether the record is still its own: so a former owner writes nothing any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from secrets import token_hex
from typing import Any, Final

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

from bot.store.connection import Row
from bot.store.errors import StoreAway, StoreError, StoreLost, StoreOwned
from bot.texts import words

CONNECT_S: Final = 5
"""How long one attempt to reach the server takes."""
PROCESS: Final = f"opengui-{token_hex(8)}"
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
BEAT_S: Final = 0.75
"""How often the owner says something."""
SILENT_S: Final = 3
"""How long it may say nothing."""
SURE_S: Final = 3.0
"""How long after an answer nobody else begins to act."""
STATEMENT_S: Final = 5
"""How long one of its statements may take: the server does not notice meanwhile that nobody waits for it any more."""
OWNER_SETTINGS: Final = {
    "statement_timeout": f"{STATEMENT_S}s",
    "idle_session_timeout": f"{SILENT_S}s",
    "idle_in_transaction_session_timeout": f"{SILENT_S}s",
    # An answer that is not taken: what is idle is counted from its end on.
    "tcp_user_timeout": f"{SILENT_S}s",
}
"""Of the session that owns the record."""
_OWNER: Final = 0x4F47
_OWN: Final = "SELECT pg_advisory_lock(%s, hashtext(current_schema()))"
"""A lock that belongs to the connection: the server lets go of it with that, however it ends."""
_ASKS_S: Final = 1
"""How long the lock is asked for: whoever waits for it has it the moment it is free."""
IS_OWN: Final = f"""SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = {_OWNER} AND objid::bigint = hashtext(current_schema())::bigint & 4294967295
    AND application_name = current_setting('application_name')"""  # noqa: S608 - a number
"""Asks whether another connection of this process owns the record."""

_PASSING: Final = ("08", "25006", "25P03", "28", "3D000", "40", "53", "55P03", "57", "58")
"""Beginnings of SQLSTATE for what may be otherwise a moment later: connection, read-only, a transaction whose process
stood still, password, no such database (one that is being restored), others in the way, no room, locks, a server that
starts or ends, its disk
(https://www.postgresql.org/docs/current/errcodes-appendix.html).
"""

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
        """The names of the columns."""
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

        Raises psycopg.Error, StoreOwned while another one owns the record, and StoreLost when it is no more
        that of `owner`, which has owned it before.
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
    def explained(self) -> Iterator[None]:
        """Turn the errors of PostgreSQL into sentences that people in a chat may read."""
        try:
            yield
        except psycopg.Error as error:
            # What the library says of a connection names the host and the user.
            reason = error.diag.message_primary or words("store.silent")
            raise _error(error, words("store.away", reason=reason), reason) from error

    @contextmanager
    def explained_in_full(self) -> Iterator[None]:
        """Turn the errors of PostgreSQL into sentences for the operator, who has to find out what is wrong."""
        try:
            yield
        except psycopg.Error as error:
            reason = error.diag.message_primary or words("store.silent")
            raise _error(error, words("store.unreached", name=self.name, reason=reason_of(error)), reason) from error


def _error(error: psycopg.Error, sentence: str, reason: str) -> StoreError:
    state = error.sqlstate or ("08000" if isinstance(error, psycopg.OperationalError) else "")
    return StoreAway(sentence, reason) if state.startswith(_PASSING) else StoreError(sentence)


def _set(connection: Connection, settings: Mapping[str, str]) -> None:
    connection.execute(
        sql.SQL("; ").join(
            sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)) for name, value in settings.items()
        )
    )


def _service_of(connection: Connection) -> str:
    """What the owner is called; "" while it makes the tables."""
    try:
        return str(connection.execute("SELECT service FROM opengui_schema").fetchall()[0][0])
    except errors.UndefinedTable:
        return ""


def reason_of(error: BaseException | None) -> str:
    """The words of an error on one line."""
    return " ".join(str(error).split())
