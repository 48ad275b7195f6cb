"""What people call the phones. Implements `devices.pool.NameBook`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.store.connection import Transaction
from bot.store.database import Database


class PhoneNameTable:
    """The table of names."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def names(self) -> Mapping[str, str]:
        """Every name, by the phone's id."""
        rows = await self._database.fetch("SELECT phone, name FROM phone_names ORDER BY phone")
        return {row["phone"]: row["name"] for row in rows}

    async def keep(self, phone_id: str, name: str) -> None:
        """The phone has this name from now on. Raises sqlite3.IntegrityError when another phone has it."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO phone_names (phone, name, folded, changed) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (phone) DO UPDATE SET name = excluded.name, folded = excluded.folded,"
                " changed = excluded.changed",
                (phone_id, name, name.casefold(), self._clock()),
            )

        await self._database.write(work)

    async def usual(self) -> Mapping[str, str]:
        """What phones are called that have no given name, by their id."""
        rows = await self._database.fetch("SELECT phone, name FROM usual_phone_names ORDER BY phone")
        return {row["phone"]: row["name"] for row in rows}

    async def keep_usual(self, phone_id: str, name: str) -> None:
        """The phone is called so for as long as nobody gives it a name."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO usual_phone_names (phone, name) VALUES (?, ?)"
                " ON CONFLICT (phone) DO UPDATE SET name = excluded.name",
                (phone_id, name),
            )

        await self._database.write(work)
