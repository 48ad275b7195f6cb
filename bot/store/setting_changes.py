"""Settings that admins have changed while the service ran. Secrets are not among them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bot.domain.address import Person
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.errors import StoreError, StoreTooOld
from bot.store.schema import IS_OURS
from bot.texts import words


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody has set: the value as it was typed, and when (Unix seconds)."""

    name: str
    value: str
    by: Person
    at: float


class Changes:
    """The table of changed settings."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def all(self) -> tuple[Change, ...]:
        """Everything that was set, by name."""
        return tuple(_change(row) for row in await self._database.fetch(_ALL))

    async def keep(self, transaction: Transaction, name: str, value: str, by: Person) -> None:
        """Keep a value in the place of the one that was set before."""
        await transaction.fetch(
            "INSERT INTO settings (name, value, person_platform, person_id, person_name, at) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET value = excluded.value, person_platform = excluded.person_platform,"
            " person_id = excluded.person_id, person_name = excluded.person_name, at = excluded.at",
            (name, value, by.platform, by.id, by.name, self._clock()),
        )

    async def forget(self, transaction: Transaction, name: str) -> None:
        """Nothing is set for it any more."""
        await transaction.fetch("DELETE FROM settings WHERE name = ?", (name,))


async def changes_in(path: Path) -> Mapping[str, Change]:
    """What was set, read beside a service that may be running on the database. Nothing while there is no database.

    Raises StoreTooOld when another program made it, and StoreError when it cannot be read.
    """
    return await asyncio.to_thread(_read, path)


_ALL = "SELECT * FROM settings ORDER BY name"


def _read(path: Path) -> Mapping[str, Change]:
    if not path.exists():
        return {}
    try:
        with closing(sqlite3.connect(f"file:{path.absolute()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            if not connection.execute(IS_OURS).fetchone()[0]:
                raise StoreTooOld(words("store.too_old", path=path))
            known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'settings'").fetchone()
            return {row["name"]: _change(row) for row in connection.execute(_ALL)} if known else {}
    except sqlite3.Error as error:
        raise StoreError(words("store.unread", path=path, reason=error)) from error


def _change(row: sqlite3.Row) -> Change:
    person = Person(row["person_platform"], row["person_id"], row["person_name"])
    return Change(row["name"], row["value"], person, row["at"])
