"""The table of offers: messages that become a task only when their writer presses a button."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, select

from agent.ports.stores import GivenFile
from bot.domain.address import MessageRef, Person, Place
from bot.store.codec import Codec
from bot.store.connection import Database, Transaction
from bot.store.engine import given, insert
from bot.store.tables.chats import offers

KEEP_SECONDS: Final = 86400.0
"""How long the button of an offer works. Our choice."""
KEPT: Final = 256
"""Most offers of all people together; the oldest are deleted first."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A person's message, with its files, that the service offers to do as a task.

    - `message`: The message on the platform, None if it has none.
    - `made`: When the offer was made, in Unix seconds.
    """

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
    """The table of offers that wait for their button to be pressed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, offer: Offer) -> None:
        """Store an offer. Also deletes offers older than `KEEP_SECONDS`, and the oldest beyond `KEPT`."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(_FORGET_OLD, {"oldest": offer.made - KEEP_SECONDS})
            await transaction.fetch(_ADD, _OFFER.values(offer))
            await transaction.fetch(_FORGET_MOST)

        await self._database.write(work)

    async def get(self, offer: str, *, now: float) -> Offer | None:
        """Return the offer with this id; None if there is none or it is too old."""
        return _OFFER.first(await self._database.fetch(_GET, {"id": offer, "oldest": now - KEEP_SECONDS}))

    async def take(self, offer: str) -> bool:
        """Delete an offer because it is being carried out. Returns False if another press of the button came first, or
        if the offer was deleted because of age or number.
        """
        return bool(await self._database.execute(_TAKE, {"id": offer}))

    async def forget_old(self, *, now: float) -> None:
        """Delete the offers whose button no longer works because of age."""
        await self._database.execute(_FORGET_OLD, {"oldest": now - KEEP_SECONDS})
