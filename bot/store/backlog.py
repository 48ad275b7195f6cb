"""The table of what was written while the service was away."""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, delete, func, select, update

from bot.domain.address import Address, MessageRef
from bot.domain.backlog import Late, Missed
from bot.store.codec import Codec
from bot.store.connection import Database, Transaction, Value
from bot.store.engine import Statement, given, insert
from bot.store.json_columns import address_of, address_text, message_text, row_number
from bot.store.tables.chats import missed

KEEP_SECONDS = 7 * 86400.0
"""How long something can still be pressed for; ours."""

_LATE: Final = Codec(Late, missed)
_MISSED: Final = Codec(Missed, missed)
_ADD: Final = insert(missed, _LATE.columns).on_conflict_do_nothing().returning(missed.c.id)
_FORGET_OLD: Final = delete(missed).where(missed.c.written < bindparam("oldest"))
_THAT: Final = given(missed.c.id)
_GET: Final = select(missed).where(_THAT)
_UNLISTED: Final = (
    select(missed.c.place_address)
    .where(missed.c.listed.is_(None))
    .group_by(missed.c.place_address)
    .order_by(func.min(missed.c.id))
)
_TO_LIST: Final = (
    select(missed).where(missed.c.listed.is_(None), missed.c.place_address == bindparam("place")).order_by(missed.c.id)
)
_LISTED_IN: Final = select(missed).where(missed.c.listed == bindparam("message")).order_by(missed.c.id)
_LIST: Final = update(missed).where(_THAT).values(listed=bindparam("message"))
_FORGET: Final = delete(missed).where(_THAT)
_CLAIM: Final = update(missed).where(_THAT, ~missed.c.done).values(done=True).returning(missed.c.id)
_RELEASE: Final = update(missed).where(_THAT).values(done=False)


class MissedTable:
    """The missed messages, in order of arrival."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, late: Late, *, now: float) -> bool:
        """Store a missed message, and remove those that are too old. False if its event is stored already."""

        async def work(transaction: Transaction) -> bool:
            await transaction.fetch(_FORGET_OLD, {"oldest": now - KEEP_SECONDS})
            return bool(await transaction.fetch(_ADD, _LATE.values(late)))

        return await self._database.write(work)

    async def get(self, missed: str) -> Missed | None:
        """The missed message with this number; None if there is none."""
        number = row_number(missed)
        return None if number is None else _MISSED.first(await self._database.fetch(_GET, {"id": number}))

    async def unlisted(self) -> tuple[Address, ...]:
        """The places with messages that still have to be listed."""
        return tuple(address_of(row["place_address"]) for row in await self._database.fetch(_UNLISTED))

    async def to_list(self, place: Address) -> tuple[Missed, ...]:
        """The messages to list at this place."""
        return _MISSED.read_all(await self._database.fetch(_TO_LIST, {"place": address_text(place)}))

    async def listed_in(self, message: MessageRef) -> tuple[Missed, ...]:
        """The missed messages that this message lists."""
        return _MISSED.read_all(await self._database.fetch(_LISTED_IN, {"message": message_text(message)}))

    async def list_in(self, missed: tuple[Missed, ...], message: MessageRef) -> None:
        """Record that this message lists these missed messages."""
        await self._each(_LIST, missed, message=message_text(message))

    async def forget(self, missed: tuple[Missed, ...]) -> None:
        """Remove these missed messages, which have no place where they could be listed any more."""
        await self._each(_FORGET, missed)

    async def claim(self, missed: str) -> bool:
        """Mark a missed message as being carried out; False if another press was faster."""
        return bool(await self._database.execute(_CLAIM, {"id": int(missed)}))

    async def release(self, missed: str) -> None:
        """Mark a missed message as not carried out after all, so that it can be pressed for again."""
        await self._database.execute(_RELEASE, {"id": int(missed)})

    async def _each(self, statement: Statement, missed: tuple[Missed, ...], **values: Value) -> None:
        async def work(transaction: Transaction) -> None:
            for one in missed:
                await transaction.fetch(statement, {"id": int(one.id), **values})

        await self._database.write(work)
