"""The tables about chats: messages that people wrote while the service was not running, offers that become a task when
their writer presses a button, and chats whose id changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import ColumnElement, Integer, bindparam, delete, func, select, update

from agent.ports.stores import GivenFile
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.incoming import Late, Missed
from bot.store.codec import Codec, address_beginning, address_of, address_text, message_text, row_number
from bot.store.database import Parameters, Statement, TableAccess, Transaction, Value, given, in_turn, insert
from bot.store.tables.chats import cards, missed, moved_chats, offers, outbox, questions
from bot.store.tables.tasks import schedules, tasks

KEEP_MISSED_SECONDS = 7 * 86400.0
"""How long a person can still press the button that carries out a missed message. Our choice."""

_LATE: Final = Codec(Late, missed)
_MISSED: Final = Codec(Missed, missed)
_ADD_MISSED: Final = insert(missed, _LATE.columns).on_conflict_do_nothing().returning(missed.c.id)
_FORGET_OLD_MISSED: Final = delete(missed).where(missed.c.written < bindparam("oldest"))
_THAT: Final = given(missed.c.id)
_GET_MISSED: Final = select(missed).where(_THAT)
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
_FORGET_MISSED: Final = delete(missed).where(_THAT)
_CLAIM: Final = update(missed).where(_THAT, ~missed.c.done).values(done=True).returning(missed.c.id)
_RELEASE: Final = update(missed).where(_THAT).values(done=False)


class MissedTable(TableAccess):
    """The table of messages that arrived while the service was not running, in order of arrival.

    The service does not carry them out by itself: it lists them in one message per chat or thread, with a button for
    each.
    """

    async def add(self, late: Late, *, now: float) -> bool:
        """Store a missed message; return False if its event is stored already. Also delete messages older than
        `KEEP_SECONDS`.
        """

        async def work(transaction: Transaction) -> bool:
            await transaction.fetch(_FORGET_OLD_MISSED, {"oldest": now - KEEP_MISSED_SECONDS})
            return bool(await transaction.fetch(_ADD_MISSED, _LATE.values(late)))

        return await self._database.write(work)

    async def get(self, missed: str) -> Missed | None:
        """Return the missed message with this id; None if there is none, or if `missed` is not a number."""
        number = row_number(missed)
        return None if number is None else _MISSED.first(await self._database.fetch(_GET_MISSED, {"id": number}))

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
        await self._each(_FORGET_MISSED, missed)

    async def claim(self, missed: str) -> bool:
        """Mark a missed message as being carried out. Returns False if another press of its button came first, or if it
        is no longer stored.
        """
        return bool(await self._database.execute(_CLAIM, {"id": int(missed)}))

    async def release(self, missed: str) -> None:
        """Undo `claim`: the message was not carried out, so its button can be pressed again."""
        await self._database.execute(_RELEASE, {"id": int(missed)})

    async def _each(self, statement: Statement, missed: tuple[Missed, ...], **values: Value) -> None:
        await self._database.write(in_turn(*((statement, {"id": int(one.id), **values}) for one in missed)))


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
_ADD_OFFER: Final = insert(offers, _OFFER.columns)
_GET_OFFER: Final = select(offers).where(given(offers.c.id), offers.c.made >= bindparam("oldest"))
_TAKE_OFFER: Final = delete(offers).where(given(offers.c.id)).returning(offers.c.id)
_FORGET_OLD_OFFERS: Final = delete(offers).where(offers.c.made < bindparam("oldest"))
_FORGET_MOST_OFFERS: Final = delete(offers).where(
    offers.c.number.not_in(select(offers.c.number).order_by(offers.c.made.desc(), offers.c.number.desc()).limit(KEPT))
)


class Offers(TableAccess):
    """The table of offers that wait for their button to be pressed."""

    async def add(self, offer: Offer) -> None:
        """Store an offer. Also deletes offers older than `KEEP_SECONDS`, and the oldest beyond `KEPT`."""
        forget_old = (_FORGET_OLD_OFFERS, {"oldest": offer.made - KEEP_SECONDS})
        await self._database.write(in_turn(forget_old, (_ADD_OFFER, _OFFER.values(offer)), (_FORGET_MOST_OFFERS, {})))

    async def get(self, offer: str, *, now: float) -> Offer | None:
        """Return the offer with this id; None if there is none or it is too old."""
        return _OFFER.first(await self._database.fetch(_GET_OFFER, {"id": offer, "oldest": now - KEEP_SECONDS}))

    async def take(self, offer: str) -> bool:
        """Delete an offer because it is being carried out. Returns False if another press of the button came first, or
        if the offer was deleted because of age or number.
        """
        return bool(await self._database.execute(_TAKE_OFFER, {"id": offer}))

    async def forget_old(self, *, now: float) -> None:
        """Delete the offers whose button no longer works because of age."""
        await self._database.execute(_FORGET_OLD_OFFERS, {"oldest": now - KEEP_SECONDS})


_MOVED: Final = select(moved_chats.c.platform, moved_chats.c.old, moved_chats.c.new)
_MOVE: Final = insert(moved_chats, moved_chats.c.keys()).on_conflict_do_nothing().returning(moved_chats.c.old)


def _is_there(address: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a stored address is in the chat: it begins like all addresses there."""
    return func.substr(address, 1, bindparam("length", type_=Integer())) == bindparam("beginning")


_TASK_IS_THERE: Final = _is_there(func.coalesce(tasks.c.place, tasks.c.origin))
_IS_OPEN: Final = questions.c.answer.is_(None) & ~questions.c.expired
_FORGET_OLD_ID: Final[Sequence[Statement]] = (
    update(tasks).where(_TASK_IS_THERE).values(anchor=""),
    delete(cards).where(cards.c.task.in_(select(tasks.c.id).where(tasks.c.state != "ended", _TASK_IS_THERE))),
    update(outbox)
    .where(
        outbox.c.kind == "question",
        outbox.c.state == "sent",
        outbox.c.subject.in_(select(questions.c.id).join(tasks).where(_IS_OPEN, _TASK_IS_THERE)),
    )
    .values(state="pending", not_before=0.0),
    update(questions)
    .where(_IS_OPEN, questions.c.task.in_(select(tasks.c.id).where(_TASK_IS_THERE)))
    .values(message=None),
    delete(missed).where(missed.c.done, _is_there(missed.c.place_address)),
    update(missed).where(_is_there(missed.c.place_address)).values(listed=None, message=None),
)
_ADDRESSES: Final = (tasks.c.origin, tasks.c.place, schedules.c.place_address, missed.c.place_address)
_REWRITE: Final[Sequence[tuple[Statement, Statement]]] = tuple(
    (
        select(address).distinct().where(_is_there(address)),
        update(address.table).where(address == bindparam("address")).values({address: bindparam("moved")}),
    )
    for address in _ADDRESSES
)


class Moves(TableAccess):
    """The table of chats whose id changed."""

    async def all(self) -> Mapping[tuple[str, str], str]:
        """Return all changes of chat ids, as a mapping of (platform, old id) to the new id."""
        return {(row["platform"], row["old"]): row["new"] for row in await self._database.fetch(_MOVED)}

    async def move(self, old: Address, new: str, *, now: float) -> bool:
        """Record that a chat has a new id, and change the stored addresses in it. Returns False if the move is
        recorded already.

        Platforms do not move messages along: cards and open questions are sent again in the new chat.
        """

        async def work(transaction: Transaction) -> bool:
            values: Parameters = {"platform": old.platform, "old": old.chat, "new": new, "moved": now}
            if not await transaction.fetch(_MOVE, values):
                return False
            beginning = address_beginning(old.platform, old.account, old.chat)
            here: Parameters = {"beginning": beginning, "length": len(beginning)}
            for statement in _FORGET_OLD_ID:
                await transaction.fetch(statement, here)
            for find, change in _REWRITE:
                for (found,) in await transaction.fetch(find, here):
                    moved = address_text(replace(address_of(found), chat=new))
                    await transaction.fetch(change, {"address": found, "moved": moved})
            return True

        return await self._database.write(work)
