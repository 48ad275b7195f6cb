"""The table of settings that admins changed while the service ran. It never contains secrets."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import delete, select

from bot.domain.address import Person
from bot.store.codec import Codec
from bot.store.database import TimedTableAccess, Transaction, given, upsert
from bot.store.errors import StoreError, StoreTooOld
from bot.store.sqlite.database import sql_of
from bot.store.sqlite.schema import IS_OURS
from bot.store.tables.people import settings
from bot.texts import words


@dataclass(frozen=True, slots=True)
class Change:
    """A setting as an admin changed it: the value as typed, by whom, and when (Unix seconds)."""

    name: str
    value: str
    by: Person
    at: float


_CHANGE: Final = Codec(Change, settings)
_ALL: Final = select(settings).order_by(settings.c.name)
_KEEP: Final = upsert(settings, _CHANGE.columns)
_FORGET: Final = delete(settings).where(given(settings.c.name))


class Changes(TimedTableAccess):
    """The table of changed settings."""

    async def all(self) -> tuple[Change, ...]:
        """Return all changed settings, sorted by name."""
        return _CHANGE.read_all(await self._database.fetch(_ALL))

    async def keep(self, transaction: Transaction, name: str, value: str, by: Person) -> None:
        """Store the value of a setting, replacing the one that was set before."""
        await transaction.fetch(_KEEP, _CHANGE.values(Change(name, value, by, self._clock())))

    async def forget(self, transaction: Transaction, name: str) -> None:
        """Delete the changed value of a setting, so that the configured one applies again."""
        await transaction.fetch(_FORGET, {"name": name})


async def changes_in(path: Path) -> Mapping[str, Change]:
    """Return the changed settings in this SQLite file, by name; a service may be using it meanwhile. Empty if the file
    does not exist.

    Raises StoreTooOld when another program made the file, and StoreError when it cannot be read.
    """
    return await asyncio.to_thread(_read, path)


async def changes_at(url: str) -> Mapping[str, Change]:
    """Return the changed settings in this PostgreSQL database, by name. Raises StoreError."""
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - an extra
    from bot.store.postgresql.server import Server  # noqa: PLC0415 - the same

    database = PostgresDatabase(Server(url))
    try:
        known = await database.fetch("SELECT to_regclass('settings') IS NOT NULL")
        rows = await database.fetch(_ALL) if known[0][0] else []
        return {change.name: change for change in _CHANGE.read_all(rows)}
    finally:
        await database.close()


def _read(path: Path) -> Mapping[str, Change]:
    if not path.exists():
        return {}
    try:
        with closing(sqlite3.connect(f"file:{path.absolute()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            if not connection.execute(IS_OURS).fetchone()[0]:
                raise StoreTooOld(words("store.too_old", path=path))
            known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'settings'").fetchone()
            rows = connection.execute(sql_of(_ALL)).fetchall() if known else []
            return {change.name: change for change in _CHANGE.read_all(rows)}
    except sqlite3.Error as error:
        raise StoreError(words("store.unread", path=path, reason=error)) from error
