"""Leases of phones on a host. The hub decides which run gets which phone and stores it; the host stores what it is
given.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable

from agent.ports.leases import Lease, NoPhone, Place
from agent.run import RunId
from bot.fleet.messages import Held, Item, PhoneReturned, PhoneWanted
from bot.store.leases import LeaseTable

Tell = Callable[[RunId, Item], Awaitable[None]]


class HostLeases:
    """The `Leases` of a host: lets its runs wait for phones, which the hub assigns.

    `tell` sends the hub a message about a run; the hub's answers arrive through `given` and `refuse`.
    """

    def __init__(self, table: LeaseTable, tell: Tell) -> None:
        self._table = table
        self._tell = tell
        self._given: tuple[Held, ...] = ()
        self._held: dict[RunId, Lease] = {}
        self._returned: set[tuple[RunId, int]] = set()
        """Leases that were returned, whether the hub knows it or not."""
        self._refused: dict[RunId, str] = {}
        self._changed = asyncio.Event()

    async def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncGenerator[Place | Lease, None]:
        """Wait until the hub assigns a phone to the run, and yield its lease. Raises NoPhone if it never will.

        `wish` is the phone's id, "" for any; `first` puts the run at the head of the queue. The phone must also be
        free on this host.
        """
        if run not in self._held:
            self._refused.pop(run, None)
            await self._tell(run, PhoneWanted(n=0, phone=wish, first=first))
            given = await self._wait_for(run)
            await self._table.adopt(given, now=time.time())
            self._held[run] = given
        yield self._held[run]

    async def _wait_for(self, run: RunId) -> Lease:
        while True:
            self._changed.clear()
            if run in self._refused:
                raise NoPhone(self._refused[run])
            for given in self._given:
                returned = (run, given.fence) in self._returned
                if given.run == run and not returned and all(given.phone != held.phone for held in self._held.values()):
                    return Lease(given.phone, run, given.fence)
            await self._changed.wait()

    async def release(self, run: RunId) -> None:
        """Return the run's phone to the hub. Does nothing if the run has none."""
        lease = self._held.pop(run, None)
        if lease is None:
            return
        self.note_returned(run, lease.fence)
        await self._table.release(run, now=time.time())
        await self._tell(run, PhoneReturned(n=0, fence=lease.fence))
        self._changed.set()

    def note_returned(self, run: RunId, fence: int) -> None:
        """Record that the run has returned the lease with this number, so that older messages of the hub about it are
        ignored.
        """
        self._returned.add((run, fence))

    def given(self, leases: tuple[Held, ...]) -> None:
        """Replace the list of leases that the hub has granted to runs of this host."""
        self._given = leases
        self._changed.set()

    def refuse(self, run: RunId, why: str) -> None:
        """Record that there will be no phone for this run; `acquire`, which waits for one, then raises NoPhone with
        `why`.
        """
        self._refused[run] = why
        self._changed.set()

    def has_lost(self, run: RunId) -> bool:
        """Return whether the run uses a phone that the hub has taken back, or has not granted."""
        lease = self._held.get(run)
        return lease is not None and all((each.run, each.fence) != (run, lease.fence) for each in self._given)

    async def adopt(self, held: Held) -> None:
        """Store the lease under which a person operates the phone by hand."""
        if held.run not in self._held:
            await self._table.adopt(Lease(held.phone, held.run, held.fence), now=time.time())
