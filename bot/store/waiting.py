"""Retries writes while the disk is full, another program locks the database, or the server is unreachable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Final, TypeVar

from sqlalchemy import bindparam, delete

from bot.store.database import Parameters, Transaction, insert
from bot.store.errors import StoreAway
from bot.store.tables.people import refusals

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 600.0
"""Seconds for which work on a phone waits while nothing can be stored; then it ends, which is reported once
possible.
"""
FIRST_PAUSE_S: Final = 0.2
LONGEST_PAUSE_S: Final = 5.0
"""Maximum seconds between two attempts; the pause doubles each time."""

Result = TypeVar("Result")


class Writable:
    """Tracks whether a database can be written. A change is logged in one line, however many attempts there are."""

    def __init__(self, name: object) -> None:
        self._name = name
        self.trouble = ""
        """Why writing fails now, without addresses and user names; "" if it works or was not tried yet."""

    def failed(self, away: StoreAway) -> None:
        """Record that a write failed, and log the system's own message if the previous one had succeeded."""
        cause = " ".join(str(away.__cause__ or away).split())
        if not self.trouble:
            logger.error("Nothing can be written to %s (%s). Writes wait until it works again.", self._name, cause)
        self.trouble = away.reason or cause

    def worked(self) -> None:
        """Record that a write succeeded."""
        if self.trouble:
            logger.info("%s can be written to again.", self._name)
        self.trouble = ""


async def retry_while_away(attempt: Callable[[], Awaitable[Result]], *, seconds: float) -> Result:
    """Repeat `attempt` while it raises StoreAway, and return its result. After `seconds` the last error is raised."""
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + seconds, FIRST_PAUSE_S
    while True:
        try:
            return await attempt()
        except StoreAway:
            if loop.time() >= until:
                raise
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE_S, pause * 2)


class PatientWrites:
    """Retries writes to a database while it is unavailable.

    `explained` returns a context manager that turns the database's errors into StoreError and its subclasses.
    """

    def __init__(self, name: object, explained: Callable[[], AbstractContextManager[None]]) -> None:
        self._writable = Writable(name)
        self._explained = explained

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment; "" if it works or was not tried yet."""
        return self._writable.trouble

    async def retry(self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Repeat the write while the database is unavailable, for `PATIENCE_S` at most, and return its result. Raises
        StoreError.
        """
        return await retry_while_away(lambda: self.once(write), seconds=PATIENCE_S)

    async def once(self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Run the write once, without waiting, and return its result. Raises StoreAway if it may work later, else
        StoreError.
        """
        try:
            with self._explained():
                kept = await write()
        except StoreAway as away:
            self._writable.failed(away)
            raise
        self._writable.worked()
        return kept


async def probe_write(transaction: Transaction) -> None:
    """Insert a row of 64 KB and delete it in this transaction, to check that there is room on the disk."""
    probe: Parameters = {"platform": "", "kind": "probe", "day": "0" * 65_536, "count": 0}
    await transaction.fetch(_PROBE, probe)
    await transaction.fetch(_PROBED, probe)


_PROBE: Final = insert(refusals, refusals.c.keys())
_PROBED: Final = delete(refusals).where(
    refusals.c.platform == bindparam("platform"), refusals.c.kind == bindparam("kind")
)
