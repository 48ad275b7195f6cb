"""The tables about phones: their names, which run has leased which phone, the order in which other runs wait for it,
and which buttons in apps were judged harmless to press.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import bindparam, delete, func, or_, select, update

from agent.guards.press_verdicts import KeptVerdict
from agent.ports.leases import Lease
from agent.run import RunId
from bot.domain.address import MessageRef
from bot.store.codec import Codec, address_text, json_text
from bot.store.database import (
    Parameters,
    TableAccess,
    TimedTableAccess,
    Transaction,
    given,
    in_turn,
    insert,
    is_listed,
    upsert,
)
from bot.store.errors import StoreError
from bot.store.tables.chats import hand_pictures
from bot.store.tables.metadata import Time
from bot.store.tables.phones import phone_names, press_verdicts, usual_phone_names
from bot.store.tables.tasks import leases, tickets

logger = logging.getLogger(__name__)


_NAMES: Final = select(phone_names.c.phone, phone_names.c.name).order_by(phone_names.c.phone)
_KEEP_NAME: Final = upsert(phone_names, phone_names.c.keys())
_USUAL: Final = select(usual_phone_names).order_by(usual_phone_names.c.phone)
_KEEP_USUAL_NAME: Final = upsert(usual_phone_names, usual_phone_names.c.keys())


class PhoneNameTable(TimedTableAccess):
    """The tables of phone names: names given by people, and default names (the model) for phones without one."""

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
        await self._database.execute(_KEEP_NAME, values)

    async def usual(self) -> Mapping[str, str]:
        """Return the default names of phones, by phone id."""
        return {row["phone"]: row["name"] for row in await self._database.fetch(_USUAL)}

    async def keep_usual(self, phone_id: str, name: str) -> None:
        """Store the phone's default name, which is used while nobody has given it another one."""
        await self._database.execute(_KEEP_USUAL_NAME, {"phone": phone_id, "name": name})


_VERDICT: Final = Codec(KeptVerdict, press_verdicts)
_SINCE: Final = bindparam("since", type_=Time)
_ALL_VERDICTS: Final = select(press_verdicts).where(press_verdicts.c.at >= _SINCE).order_by(press_verdicts.c.at.desc())
_OLD_VERDICTS: Final = delete(press_verdicts).where(press_verdicts.c.at < _SINCE)
_KEEP_VERDICT: Final = upsert(press_verdicts, press_verdicts.c.keys())
_CLEAR_VERDICTS: Final = delete(press_verdicts)


class PressVerdictTable(TableAccess):
    """The table of such verdicts. Implements `agent.guards.press_verdicts.PressVerdicts`."""

    async def all(self, since: float) -> tuple[KeptVerdict, ...]:
        """Return the verdicts made at or after `since` (Unix seconds), the latest first, and delete older ones. Raises
        StoreError.
        """
        await self._database.execute(_OLD_VERDICTS, {"since": since})
        return _VERDICT.read_all(await self._database.fetch(_ALL_VERDICTS, {"since": since}))

    async def keep(self, verdict: KeptVerdict) -> None:
        """Store a verdict, replacing an older one with the same key. A failure is only logged: the model is then asked
        again later.
        """
        try:
            await self._database.execute(_KEEP_VERDICT, _VERDICT.values(verdict))
        except StoreError as error:
            logger.info("a verdict is not kept: %s", error)

    async def clear(self) -> None:
        """Delete all stored verdicts. Raises StoreError."""
        await self._database.execute(_CLEAR_VERDICTS)


_LEASE: Final = Codec(Lease, leases)
_IS_OPEN: Final = leases.c.released.is_(None)
_RENEW: Final = update(leases).where(_IS_OPEN, is_listed(leases.c.run, "runs")).values(expires=bindparam("expires"))
_RELEASE_OPEN: Final = update(leases).where(_IS_OPEN).values(released=bindparam("now")).returning(leases)
_EXPIRE: Final = _RELEASE_OPEN.where(leases.c.expires <= bindparam("now"))
_RELEASE: Final = _RELEASE_OPEN.where(given(leases.c.run))
_RELEASE_FOR: Final = _RELEASE_OPEN.where(or_(given(leases.c.phone), given(leases.c.run)))
_NEXT_FENCE: Final = select(func.coalesce(func.max(leases.c.fence), 0) + 1).where(given(leases.c.phone))
_TAKE: Final = (
    insert(leases, ("phone", "run", "taken", "expires"))
    .values(fence=_NEXT_FENCE.correlate(None).scalar_subquery())
    .on_conflict_do_nothing()
    .returning(leases.c.fence)
)
_ADOPT: Final = upsert(leases, leases.c.keys())
_OPEN: Final = select(leases).where(_IS_OPEN).order_by(leases.c.taken)
_TICKET: Final = insert(tickets, ("run",))
_AT_END: Final = select(func.coalesce(func.max(tickets.c.rank), 0) + 1).correlate(None).scalar_subquery()
_AT_HEAD: Final = select(func.coalesce(func.min(tickets.c.rank), 0) - 1).correlate(None).scalar_subquery()
_TICKET_AT_END: Final = (
    _TICKET.values(rank=_AT_END)
    .on_conflict_do_update(index_elements=[tickets.c.run], set_={"rank": tickets.c.rank})
    .returning(tickets.c.rank)
)
_TICKET_AT_HEAD: Final = (
    _TICKET.values(rank=_AT_HEAD)
    .on_conflict_do_update(index_elements=[tickets.c.run], set_={"rank": _TICKET.excluded.rank})
    .returning(tickets.c.rank)
)
_FORGET_TICKET: Final = delete(tickets).where(given(tickets.c.run))
_SHOW: Final = insert(hand_pictures, hand_pictures.c.keys()).on_conflict_do_nothing()
_SHOWN: Final = select(hand_pictures.c.sent).where(given(hand_pictures.c.place), given(hand_pictures.c.message))


class LeaseTable(TableAccess):
    """The tables of leases and tickets.

    A lease lets one run use one phone until it is released or expires. Each lease has a fence, a number higher than
    that of the phone's earlier leases, by which an outdated holder is recognised. A ticket is a run's place in the
    queue.
    """

    async def take(self, run: RunId, phone: str, *, alive: Iterable[RunId], now: float, expires: float) -> Lease | None:
        """Lease the phone to the run and delete the run's ticket. Returns None if the phone is leased already, or the
        run has another phone.

        Before that, the leases of the runs in `alive` are extended to `expires`, and leases that have expired by `now`
        end. Times are Unix seconds.
        """
        runs = tuple(alive)

        async def work(transaction: Transaction) -> Lease | None:
            await _renew(transaction, runs, expires)
            await transaction.fetch(_EXPIRE, {"now": now})
            values: Parameters = {"phone": phone, "run": str(run), "taken": now, "expires": expires}
            rows = await transaction.fetch(_TAKE, values)
            if not rows:
                return None
            await transaction.fetch(_FORGET_TICKET, values)
            return Lease(phone, run, rows[0]["fence"])

        return await self._database.write(work)

    async def adopt(self, lease: Lease, *, now: float) -> None:
        """Store a lease that another computer's database granted. Other open leases of this phone or run end."""
        values: Parameters = _LEASE.values(lease) | {"taken": now, "expires": now, "released": None}
        await self._database.write(in_turn((_RELEASE_FOR, values | {"now": now}), (_ADOPT, values)))

    async def renew(self, alive: Iterable[RunId], *, expires: float) -> None:
        """Extend the open leases of these runs until `expires`. Called regularly as a heartbeat."""
        runs = tuple(alive)
        await self._database.write(lambda transaction: _renew(transaction, runs, expires))

    async def release(self, run: RunId, *, now: float) -> None:
        """End the run's lease and delete its ticket, if it has them."""
        values: Parameters = {"run": str(run), "now": now}
        await self._database.write(in_turn((_RELEASE, values), (_FORGET_TICKET, values)))

    async def release_all(self, *, now: float) -> tuple[Lease, ...]:
        """End all open leases and return them. Only for when the process whose leases they were is certainly dead."""
        return _LEASE.read_all(await self._database.execute(_RELEASE_OPEN, {"now": now}))

    async def ticket(self, run: RunId, *, first: bool, patience: float = 0.0) -> int:
        """Return the run's rank in the queue; a lower rank comes first. A run without a ticket gets one at the end.

        With `first` the run moves to the head of the queue. Tickets are stored, so that runs find their place after a
        restart. See `Database.write` for `patience`.
        """
        statement = _TICKET_AT_HEAD if first else _TICKET_AT_END
        rows = await self._database.execute(statement, {"run": str(run)}, patience=patience)
        return int(rows[0]["rank"])

    async def open_leases(self) -> tuple[Lease, ...]:
        """Return every lease that is not released, the oldest first."""
        return _LEASE.read_all(await self._database.fetch(_OPEN))


class HandPictures(TimedTableAccess):
    """The table of chat messages that show, or once showed, a phone while a person was operating it by hand."""

    async def add(self, message: MessageRef) -> None:
        """Record that this message shows a phone operated by hand."""
        await self._database.execute(_SHOW, {**_message(message), "sent": self._clock()})

    async def has(self, message: MessageRef) -> bool:
        """Return whether this message shows, or once showed, a phone operated by hand."""
        return bool(await self._database.fetch(_SHOWN, _message(message)))


def _message(message: MessageRef) -> Parameters:
    return {"place": address_text(message.address), "message": message.message}


async def _renew(transaction: Transaction, runs: Iterable[RunId], expires: float) -> None:
    await transaction.fetch(_RENEW, {"runs": json_text(list(map(str, runs))), "expires": expires})
