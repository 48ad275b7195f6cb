"""Chats whose id on the platform changed, and how everything stored for them moves to the new id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import ColumnElement, Integer, bindparam, delete, func, select, update

from bot.domain.address import Address
from bot.store.connection import Database, Parameters, Transaction
from bot.store.engine import Statement, insert
from bot.store.json_columns import address_beginning, address_of, address_text
from bot.store.tables.chats import cards, missed, moved_chats, outbox, questions
from bot.store.tables.tasks import schedules, tasks

_MOVED: Final = select(moved_chats.c.platform, moved_chats.c.old, moved_chats.c.new)
_MOVE: Final = insert(moved_chats, moved_chats.c.keys()).on_conflict_do_nothing().returning(moved_chats.c.old)


def _is_there(address: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that a stored address is in the chat: it begins like all addresses there."""
    return func.substr(address, 1, bindparam("length", type_=Integer())) == bindparam("beginning")


_TASK_IS_THERE: Final = _is_there(func.coalesce(tasks.c.place, tasks.c.origin))
_IS_OPEN: Final = questions.c.answer.is_(None) & ~questions.c.expired
_FORGET: Final[Sequence[Statement]] = (
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


class Moves:
    """The table of chats whose id changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

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
            for statement in _FORGET:
                await transaction.fetch(statement, here)
            for find, change in _REWRITE:
                for (found,) in await transaction.fetch(find, here):
                    moved = address_text(replace(address_of(found), chat=new))
                    await transaction.fetch(change, {"address": found, "moved": moved})
            return True

        return await self._database.write(work)
