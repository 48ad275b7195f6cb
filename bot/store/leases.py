"""Who holds which phone, and in which order the others wait."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from agent.ports.leases import Lease
from agent.run_id import RunId
from bot.domain.address import MessageRef
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import address_text


class LeaseTable:
    """The tables of leases and tickets. A lease is open until released; each lease of a phone has a higher fence."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, run: RunId, phone: str, *, alive: Iterable[RunId], now: float, expires: float) -> Lease | None:
        """Give the phone to the run, and take its ticket away; None when another run holds the phone.

        Leases that expired before `now` are over, except those of the runs in `alive`, which are renewed first.
        """
        runs = tuple(alive)

        async def work(transaction: Transaction) -> Lease | None:
            await _renew(transaction, runs, expires)
            await transaction.fetch(
                "UPDATE leases SET released = ? WHERE released IS NULL AND expires <= ?", (now, now)
            )
            rows = await transaction.fetch(
                "INSERT INTO leases (phone, fence, run, taken, expires)"
                " SELECT ?1, 1 + (SELECT COALESCE(MAX(fence), 0) FROM leases WHERE phone = ?1), ?2, ?3, ?4"
                " ON CONFLICT DO NOTHING RETURNING fence",
                (phone, str(run), now, expires),
            )
            if not rows:
                return None
            await transaction.fetch("DELETE FROM tickets WHERE run = ?", (str(run),))
            return Lease(phone, run, rows[0]["fence"])

        return await self._database.write(work)

    async def adopt(self, lease: Lease, *, now: float) -> None:
        """Take over a lease that another record has given; whoever held the phone or a phone by this run is out."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE leases SET released = ? WHERE released IS NULL AND (phone = ? OR run = ?)",
                (now, lease.phone, str(lease.run)),
            )
            await transaction.fetch(
                "INSERT OR REPLACE INTO leases (phone, fence, run, taken, expires) VALUES (?, ?, ?, ?, ?)",
                (lease.phone, lease.fence, str(lease.run), now, now),
            )

        await self._database.write(work)

    async def renew(self, alive: Iterable[RunId], *, expires: float) -> None:
        """The heartbeat: the open leases of these runs hold until `expires`."""
        runs = tuple(alive)
        await self._database.write(lambda transaction: _renew(transaction, runs, expires))

    async def release(self, run: RunId, *, now: float) -> None:
        """The run's lease and ticket are over, where it has them."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "UPDATE leases SET released = ? WHERE run = ? AND released IS NULL", (now, str(run))
            )
            await transaction.fetch("DELETE FROM tickets WHERE run = ?", (str(run),))

        await self._database.write(work)

    async def release_all(self, *, now: float) -> tuple[Lease, ...]:
        """Every lease is over, as the process that held them is proven dead: these are the leases that it held."""

        async def work(transaction: Transaction) -> tuple[Lease, ...]:
            rows = await transaction.fetch(
                "UPDATE leases SET released = ? WHERE released IS NULL RETURNING phone, run, fence", (now,)
            )
            return tuple(_lease(row) for row in rows)

        return await self._database.write(work)

    async def ticket(self, run: RunId, *, first: bool, patience: float = 0.0) -> int:
        """The run's rank in the queues, low before high: the one it has, else a new one at the end or the head.

        It outlives the process, so that everybody finds the old place after a restart. See `Database.write` for
        `patience`.
        """
        last = (
            "INSERT INTO tickets (run, rank) VALUES (?, (SELECT COALESCE(MAX(rank), 0) + 1 FROM tickets))"
            " ON CONFLICT (run) DO UPDATE SET rank = rank RETURNING rank"
        )
        head = (
            "INSERT INTO tickets (run, rank) VALUES (?, (SELECT COALESCE(MIN(rank), 0) - 1 FROM tickets))"
            " ON CONFLICT (run) DO UPDATE SET rank = excluded.rank RETURNING rank"
        )

        async def work(transaction: Transaction) -> int:
            rows = await transaction.fetch(head if first else last, (str(run),))
            return int(rows[0]["rank"])

        return await self._database.write(work, patience=patience)

    async def open_leases(self) -> tuple[Lease, ...]:
        """Every open lease."""
        rows = await self._database.fetch("SELECT phone, run, fence FROM leases WHERE released IS NULL ORDER BY taken")
        return tuple(_lease(row) for row in rows)


class HandPictures:
    """The messages of chats that show, or once showed, a phone in somebody's hands."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, message: MessageRef) -> None:
        """A phone is shown there now."""

        async def work(transaction: Transaction) -> None:
            await transaction.fetch(
                "INSERT INTO hand_pictures (place, message, sent) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (address_text(message.address), message.message, self._clock()),
            )

        await self._database.write(work)

    async def has(self, message: MessageRef) -> bool:
        """Whether one was ever shown there."""
        rows = await self._database.fetch(
            "SELECT 1 FROM hand_pictures WHERE place = ? AND message = ?",
            (address_text(message.address), message.message),
        )
        return bool(rows)


def _lease(row: sqlite3.Row) -> Lease:
    return Lease(row["phone"], RunId.parse(row["run"]), row["fence"])


async def _renew(transaction: Transaction, runs: tuple[RunId, ...], expires: float) -> None:
    for run in runs:
        await transaction.fetch("UPDATE leases SET expires = ? WHERE run = ? AND released IS NULL", (expires, str(run)))
