"""The table of texts, with their files, that are a task only once their writer has pressed for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, select

from agent.files import GivenFile
from bot.domain.address import MessageRef, Person, Place
from bot.store.codec import Codec
from bot.store.connection import Database, Transaction
from bot.store.engine import given, insert
from bot.store.tables.chats import offers

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


_OFFER: Final = Codec(Offer, offers)
_ADD: Final = insert(offers, _OFFER.columns)
_GET: Final = select(offers).where(given(offers.c.id), offers.c.made >= bindparam("oldest"))
_TAKE: Final = delete(offers).where(given(offers.c.id)).returning(offers.c.id)
_FORGET_OLD: Final = delete(offers).where(offers.c.made < bindparam("oldest"))
_FORGET_MOST: Final = delete(offers).where(
    offers.c.number.not_in(select(offers.c.number).order_by(offers.c.made.desc(), offers.c.number.desc()).limit(KEPT))
)


class Offers:
    """Texts that wait for a press."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, offer: Offer) -> None:
        """Keep it, or keep it again; what is too old or too much is forgotten."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(_FORGET_OLD, {"oldest": offer.made - KEEP_SECONDS})
            await transaction.fetch(_ADD, _OFFER.values(offer))
            await transaction.fetch(_FORGET_MOST)

        await self._database.write(work)

    async def get(self, offer: str, *, now: float) -> Offer | None:
        """Return the offer with this id, None if there is none (any more)."""
        return _OFFER.first(await self._database.fetch(_GET, {"id": offer, "oldest": now - KEEP_SECONDS}))

    async def take(self, offer: str) -> bool:
        """Remove an offer because it is being carried out; False if another press was faster."""
        return bool(await self._database.execute(_TAKE, {"id": offer}))

    async def forget_old(self, *, now: float) -> None:
        """Remove the offers that are too old to be pressed for."""
        await self._database.execute(_FORGET_OLD, {"oldest": now - KEEP_SECONDS})
