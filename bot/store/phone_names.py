"""What people call the phones. Implements `devices.pool.NameBook`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy import select

from bot.store.connection import Database, Parameters
from bot.store.engine import upsert
from bot.store.tables.phones import phone_names, usual_phone_names

_NAMES: Final = select(phone_names.c.phone, phone_names.c.name).order_by(phone_names.c.phone)
_KEEP: Final = upsert(phone_names, phone_names.c.keys())
_USUAL: Final = select(usual_phone_names).order_by(usual_phone_names.c.phone)
_KEEP_USUAL: Final = upsert(usual_phone_names, usual_phone_names.c.keys())


class PhoneNameTable:
    """The table of names."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def names(self) -> Mapping[str, str]:
        """Every name, by the phone's id."""
        return {row["phone"]: row["name"] for row in await self._database.fetch(_NAMES)}

    async def all(self) -> Mapping[str, str]:
        """What every phone is called that was ever attached, by its id."""
        return {**await self.usual(), **await self.names()}

    async def keep(self, phone_id: str, name: str) -> None:
        """The phone has this name from now on. Raises StoreConflict when another phone has it."""
        values: Parameters = {"phone": phone_id, "name": name, "folded": name.casefold(), "changed": self._clock()}
        await self._database.execute(_KEEP, values)

    async def usual(self) -> Mapping[str, str]:
        """What phones are called that have no given name, by their id."""
        return {row["phone"]: row["name"] for row in await self._database.fetch(_USUAL)}

    async def keep_usual(self, phone_id: str, name: str) -> None:
        """The phone is called so for as long as nobody gives it a name."""
        await self._database.execute(_KEEP_USUAL, {"phone": phone_id, "name": name})
