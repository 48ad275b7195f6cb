"""The table of messages that people wrote while the service was not running."""

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
"""How long a person can still press the button that carries out a missed message. Our choice."""

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
    """The table of messages that arrived while the service was not running, in order of arrival.

    The service does not carry them out by itself: it lists them in one message per chat or thread, with a button for
    each.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, late: Late, *, now: float) -> bool:
        """Store a missed message; return False if its event is stored already. Also delete messages older than
        `KEEP_SECONDS`.
        """

        async def work(transaction: Transaction) -> bool:
            await transaction.fetch(_FORGET_OLD, {"oldest": now - KEEP_SECONDS})
            return bool(await transaction.fetch(_ADD, _LATE.values(late)))

        return await self._database.write(work)

    async def get(self, missed: str) -> Missed | None:
        """Return the missed message with this id; None if there is none, or if `missed` is not a number."""
        number = row_number(missed)
        return None if number is None else _MISSED.first(await self._database.fetch(_GET, {"id": number}))

    async def unlisted(self) -> tuple[Address, ...]:
        """Return the places (chats or threads) that have missed messages not yet shown to people."""
        return tuple(address_of(row["place_address"]) for row in await self._database.fetch(_UNLISTED))

    async def to_list(self, place: Address) -> tuple[Missed, ...]:
        """Return the missed messages of this place that are not yet shown to people, in order of arrival."""
        return _MISSED.read_all(await self._database.fetch(_TO_LIST, {"place": address_text(place)}))

    async def listed_in(self, message: MessageRef) -> tuple[Missed, ...]:
        """Return the missed messages that this message of the service lists."""
        return _MISSED.read_all(await self._database.fetch(_LISTED_IN, {"message": message_text(message)}))

    async def list_in(self, missed: tuple[Missed, ...], message: MessageRef) -> None:
        """Record that the service's message `message` lists these missed messages."""
        await self._each(_LIST, missed, message=message_text(message))

    async def forget(self, missed: tuple[Missed, ...]) -> None:
        """Delete these missed messages, because there is no place left where they could be shown."""
        await self._each(_FORGET, missed)

    async def claim(self, missed: str) -> bool:
        """Mark a missed message as being carried out. Returns False if another press of its button came first, or if it
        is no longer stored.
        """
        return bool(await self._database.execute(_CLAIM, {"id": int(missed)}))

    async def release(self, missed: str) -> None:
        """Undo `claim`: the message was not carried out, so its button can be pressed again."""
        await self._database.execute(_RELEASE, {"id": int(missed)})

    async def _each(self, statement: Statement, missed: tuple[Missed, ...], **values: Value) -> None:
        async def work(transaction: Transaction) -> None:
            for one in missed:
                await transaction.fetch(statement, {"id": int(one.id), **values})

        await self._database.write(work)
