"""The table of texts, with their files, that are a task only once their writer has pressed for it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from agent.files import GivenFile
from bot.domain.address import MessageRef, Person, Place
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import address_of, address_text, files_of, files_text

KEEP_SECONDS: Final = 86400.0
"""How long an offer can be pressed for; ours."""
KEPT: Final = 256
"""Offers of everybody together; the oldest are forgotten first."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One text of one person. `made` is Unix seconds."""

    id: str
    person: Person
    place: Place
    event: str
    """The platform's id of the message: it gives one task."""
    message: MessageRef | None
    text: str
    files: tuple[GivenFile, ...]
    made: float


class Offers:
    """What waits for a press."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, offer: Offer) -> None:
        """Keep it, or keep it again; what is too old or too much is forgotten."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM offers WHERE made < ?", (offer.made - KEEP_SECONDS,))
            await transaction.fetch(
                "INSERT INTO offers (id, person_platform, person_id, person_name, person_language, place, private,"
                " event, message, text, files, made) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    offer.id,
                    offer.person.platform,
                    offer.person.id,
                    offer.person.name,
                    offer.person.language,
                    address_text(offer.place.address),
                    int(offer.place.private),
                    offer.event,
                    "" if offer.message is None else offer.message.message,
                    offer.text,
                    files_text(offer.files),
                    offer.made,
                ),
            )
            await transaction.fetch(
                "DELETE FROM offers WHERE id NOT IN (SELECT id FROM offers ORDER BY made DESC, rowid DESC LIMIT ?)",
                (KEPT,),
            )

        await self._database.write(work)

    async def get(self, offer: str, *, now: float) -> Offer | None:
        """The one with this id, None when there is none (any more)."""
        rows = await self._database.fetch(
            "SELECT * FROM offers WHERE id = ? AND made >= ?", (offer, now - KEEP_SECONDS)
        )
        return _offer(rows[0]) if rows else None

    async def take(self, offer: str) -> bool:
        """Forget an offer because it is being done; False when somebody was faster."""

        async def work(transaction: Transaction) -> bool:
            return bool(await transaction.fetch("DELETE FROM offers WHERE id = ? RETURNING 1", (offer,)))

        return await self._database.write(work)

    async def forget_old(self, *, now: float) -> None:
        """Nobody presses for these any more."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch("DELETE FROM offers WHERE made < ?", (now - KEEP_SECONDS,))

        await self._database.write(work)


def _offer(row: sqlite3.Row) -> Offer:
    place = Place(address_of(row["place"]), private=bool(row["private"]))
    return Offer(
        id=row["id"],
        person=Person(row["person_platform"], row["person_id"], row["person_name"], row["person_language"]),
        place=place,
        event=row["event"],
        message=MessageRef(place.address, row["message"]) if row["message"] else None,
        text=row["text"],
        files=files_of(row["files"]),
        made=row["made"],
    )
