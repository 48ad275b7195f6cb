"""The names of phones. Implements `devices.pool.NameBook`."""

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
    """The tables of phone names: names given by people, and default names (the model) for phones without one."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def names(self) -> Mapping[str, str]:
        """Return the names given by people, by phone id."""
        return {row["phone"]: row["name"] for row in await self._database.fetch(_NAMES)}

    async def all(self) -> Mapping[str, str]:
        """Return the name of every phone that was ever attached, by phone id: the given name, else the default one."""
        return {**await self.usual(), **await self.names()}

    async def keep(self, phone_id: str, name: str) -> None:
        """Store the name that a person gave to the phone. Raises StoreConflict when another phone has it, in whatever
        case.
        """
        values: Parameters = {"phone": phone_id, "name": name, "folded": name.casefold(), "changed": self._clock()}
        await self._database.execute(_KEEP, values)

    async def usual(self) -> Mapping[str, str]:
        """Return the default names of phones, by phone id."""
        return {row["phone"]: row["name"] for row in await self._database.fetch(_USUAL)}

    async def keep_usual(self, phone_id: str, name: str) -> None:
        """Store the phone's default name, which is used while nobody has given it another one."""
        await self._database.execute(_KEEP_USUAL, {"phone": phone_id, "name": name})
