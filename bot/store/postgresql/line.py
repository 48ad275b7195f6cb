"""One connection to the server, in a thread of its own; that of an owner keeps the record its own."""

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
    """A connection that is made anew when it was lost."""

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
        """Whether the server has answered so lately that nobody else acts on the record."""
        return seconds_since_boot() < self._sure_until

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """`work` with the connection, in its thread. It is done to its end when the caller is cancelled, and again with
        a new connection when it was lost.

        Raises psycopg.Error, and what `work` raises.
        """
        done = asyncio.get_running_loop().run_in_executor(self._thread, copy_context().run, self._work, work)
        done.add_done_callback(lambda done: done.cancelled() or done.exception())  # also where its caller has gone
        return await asyncio.shield(done)

    async def claim(self, files: Sequence[str], when_lost: Callable[[], None]) -> None:
        """Write down whose record it is from now on, once no former owner acts on it any more, and which `files` belong
        to it. `when_lost` is called when it is another one's later. Raises psycopg.Error, and StoreError as
        `Server.connect`.
        """
        owner = f"{PROCESS} {token_hex(8)}"
        await self.run(lambda connection: _claim(connection, owner, json.dumps([*files])))
        self._owner = owner
        await self.run(say_something)  # what it was asked before is long ago
        threading.Thread(target=self._beat, args=(when_lost,), name="postgresql-beat", daemon=True).start()

    async def close(self) -> None:
        """Close it once all that it was given is done. Safe to call twice."""
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
            # It was cut: the server was restarted, or something between here and there forgets those that are quiet.
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
        """Say something again and again: in a thread, as the event loop may be held up by other things."""
        while not self._ending.wait(BEAT_S):
            try:
                self._thread.submit(self._work, say_something).result()
            except StoreLost:
                when_lost()
            except (psycopg.Error, StoreError):
                pass  # whoever needs it is told
            except RuntimeError:
                return  # it was closed meanwhile

    def _drop(self) -> None:
        if self._connection is not None:
            if self._owner and not self._connection.closed:
                with suppress(psycopg.Error):
                    self._connection.execute(_LEAVE)  # nobody needs to wait
            self._connection.close()
            self._connection = None


def say_something(connection: Connection) -> None:
    """Run an empty statement, so that the server answers."""
    connection.execute("SELECT")


def _claim(connection: Connection, owner: str, files: str) -> None:
    """All of it on one connection: where that is lost, the former owner may have been there again."""
    former = str(connection.execute(_FORMER).fetchall()[0][0])
    for _ in range(math.ceil(SURE_S / BEAT_S) if former else 0):
        time.sleep(BEAT_S)
        say_something(connection)
    name = former.partition(" ")[0]
    if name not in {"", PROCESS}:
        # With its checkpoints: they are written by connections of their own. Each is waited for until it has gone.
        with suppress(errors.InsufficientPrivilege):
            connection.execute(_END, (name,))
    connection.execute(_CLAIM, (owner, socket.gethostname(), files))
