"""One connection to the PostgreSQL server in a thread of its own. An owner's connection also keeps the database
owned.
"""

from __future__ import annotations

import asyncio
import json
import math
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from secrets import token_hex
from typing import Final, TypeVar

import psycopg
from psycopg import errors

from bot.domain.clock import seconds_since_boot
from bot.store.errors import StoreError, StoreLost
from bot.store.postgresql.server import BEAT_S, PROCESS, SURE_S, Connection, Server

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
        await self.run(say_something)  # the last answer is too long ago
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
                self._thread.submit(self._work, say_something).result()
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


def say_something(connection: Connection) -> None:
    """Run an empty statement, so that the server answers."""
    connection.execute("SELECT")


def _claim(connection: Connection, owner: str, files: str) -> None:
    """All on one connection: if it were lost, the former owner could have come back in between."""
    former = str(connection.execute(_FORMER).fetchall()[0][0])
    for _ in range(math.ceil(SURE_S / BEAT_S) if former else 0):
        time.sleep(BEAT_S)
        say_something(connection)
    name = former.partition(" ")[0]
    if name not in {"", PROCESS}:
        # Including its checkpoints, which are written on separate connections. Waits until each has ended.
        with suppress(errors.InsufficientPrivilege):
            connection.execute(_END, (name,))
    connection.execute(_CLAIM, (owner, socket.gethostname(), files))
