"""Leases phones to runs, which wait in queues. Implements `agent.ports.leases.Leases`."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from agent.ports.leases import Lease, NoPhone, Place
from agent.run import RunId
from bot.store.errors import StoreAway
from bot.store.phones import LeaseTable
from bot.store.waiting import PATIENCE_S
from bot.tasks.queue import Certainty, NotAdmitted, Waiter, assign_phones, has_silent_phone, place_of, unservable_reason
from bot.texts import say
from devices.phone import Phones

logger = logging.getLogger(__name__)

HEARTBEAT_S = 5.0
EXPIRY_S = 15.0
"""Seconds until a lease expires without a heartbeat: three heartbeats, so one may be late."""
GRACE_S = 30.0
"""Seconds that a run continues to wait for a phone that has disappeared, because of a loose cable or a restart."""


def _anybody(_run: RunId, _phone: str) -> bool:
    return True


async def _no_names() -> Mapping[str, str]:
    return {}


def _sure(_run: RunId, _told: Callable[[], None]) -> Certainty:
    return Certainty.SURE


@dataclass
class _QueueEntry:
    waiter: Waiter
    called: str
    """The name of the wished phone; "" if it takes any."""
    wakeup: asyncio.Event = field(default_factory=asyncio.Event)
    due: bool = True
    """Whether it has to be looked whether it can be served now; by others that is looked as what they do ends."""
    lease: Lease | None = None
    trouble: NoPhone | None = None
    hopeless_since: float | None = None

    def mark_due(self) -> None:
        """Record that more is known about what the run may have."""
        self.due = True
        self.wakeup.set()

    def result(self) -> Lease | None:
        """The lease; None while there is none. Raises the NoPhone that ended the waiting."""
        if self.lease is None and self.trouble is not None:
            raise self.trouble
        return self.lease


class PhoneLeases:
    """Gives out one lease per phone to runs, in the order of their queue. Each lease has a higher fencing number than
    the one before, so that a run that lost its phone can be refused.

    Leases and the order of the queues are in the database; which runs are waiting right now is in memory. Call `start`
    first, `drain` when the service begins to stop, and `stop` last.
    """

    def __init__(
        self,
        table: LeaseTable,
        phones: Phones,
        clock: Callable[[], float] = time.time,
        admits: Callable[[RunId, str], bool] = _anybody,
        standing: Callable[[RunId, Callable[[], None]], Certainty] = _sure,
        names: Callable[[], Awaitable[Mapping[str, str]]] = _no_names,
    ) -> None:
        """Keep the components; call `start` before use.

        - `admits` returns whether a run may have a phone; it is called just before the phone is given.
        - `standing` returns how certain that is, and calls the function passed to it when more is known.
        - `names` reads the names of phones by id, including phones that only another service had.
        - `clock` returns Unix seconds.
        """
        self._table = table
        self._admits = admits
        self._certainty = standing
        self._names = names
        self._phones = phones
        self._clock = clock
        self._held: dict[RunId, Lease] = {}
        self._waiting: dict[RunId, _QueueEntry] = {}
        self._borrowed: dict[RunId, Callable[[], None] | None] = {}
        """Of those who hold one, who may not need it, and what they are told when somebody else does; None once they
        were told.
        """
        self._reserved: dict[str, RunId] = {}
        """Phones that runs held when the former process ended, for those that come back to them at once."""
        self._reserved_until = 0.0
        self._lock = asyncio.Lock()
        self._draining = False
        self._helpers: list[asyncio.Task[None]] = []

    async def start(self, goes_on: Collection[str] = ()) -> None:
        """Release the leases of an earlier process (it cannot be alive, because this one owns the data directory), and
        begin to give out phones.

        `goes_on` are ids of tasks that continue. A phone that one of them held is reserved for it for 15 s, the time
        for which a lease is valid without a heartbeat.
        """
        now = self._clock()
        former = await self._table.release_all(now=now)
        self._reserved = {lease.phone: lease.run for lease in former if lease.run.task in goes_on}
        self._reserved_until = now + EXPIRY_S
        self._helpers = [
            asyncio.create_task(self._beat(), name="lease heartbeat"),
            asyncio.create_task(self._watch(), name="lease phones"),
        ]

    def drain(self) -> None:
        """Give out no more phones. Waiting runs keep their places in the queue for the next start."""
        self._draining = True

    async def stop(self) -> None:
        """Stop the heartbeat, so that leases that are still held expire."""
        for helper in self._helpers:
            helper.cancel()
        await asyncio.gather(*self._helpers, return_exceptions=True)

    async def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncGenerator[Place | Lease, None]:
        """Wait for a phone, as `agent.ports.leases.Leases` describes: yields the place in the queue when it changes,
        and the lease last. `wish` is the wanted phone's id, "" for any; `first` puts the run at the head of the queue.

        Raises NoPhone at once if no phone fits as things are, 30 s after the wanted phone disappeared, and 30 s after
        the call if it is connected but does not answer; NotAdmitted as soon as the person may not use the phone.
        """
        if run in self._held:
            yield self._held[run]
            return
        if run in self._waiting:
            raise RuntimeError(f"run {run} is in the queue already")
        admits, phones = partial(self._admits, run), self._phones.list()
        called = await self._called(wish)
        trouble = unservable_reason(wish, phones, self._held_phones(), admits, called=called)
        if trouble is not None and not has_silent_phone(wish, phones, admits):
            raise trouble
        first = first or run in self._reserved.values()
        rank = await self._table.ticket(run, first=first, patience=PATIENCE_S)
        waiting = _QueueEntry(Waiter(run, wish, rank, admits, lambda: self._certainty(run, waiting.mark_due)), called)
        self._waiting[run] = waiting
        self._wake_all()
        told = 0
        try:
            while True:
                waiting.wakeup.clear()
                if waiting.due:
                    waiting.due = False
                    await self._serve()
                if (lease := waiting.result()) is not None:
                    break
                place = place_of(waiting.waiter, [other.waiter for other in self._waiting.values()])
                if place != told:
                    told = place
                    yield Place(place, called or say("desk.phone.any"))
                await waiting.wakeup.wait()
        except BaseException:
            await self._leave(waiting)
            raise
        yield lease

    async def borrow(self, run: RunId, wish: str, wanted: Callable[[], None]) -> Lease | None:
        """Lease a phone that is free right now, for a run that may not need one. Returns None if there is none, if the
        run has or waits for a phone, or if the store is unavailable. `wanted` is called when another run could use it.
        See `agent.ports.leases.Leases`.
        """
        async with self._lock:
            if self._draining or run in self._held or run in self._waiting:
                return None
            now, last = self._clock(), max((each.waiter.rank for each in self._waiting.values()), default=0) + 1
            mine = Waiter(run, wish, last, partial(self._admits, run), lambda: self._certainty(run, lambda: None))
            grants = assign_phones(
                [*self._queue(), mine], self._phones.list(), self._held_phones() | self._reserved_phones(now)
            )
            phone = next((phone for waiter, phone in grants if waiter is mine), None)
            if phone is None:
                return None
            try:
                lease = await self._table.take(run, phone, alive=tuple(self._held), now=now, expires=now + EXPIRY_S)
            except StoreAway:
                return None
            if lease is not None:
                self._held[run], self._borrowed[run] = lease, wanted
            return lease

    def keep(self, run: RunId) -> bool:
        """Turn a borrowed phone into one that the run has, because it is needed. Returns False if the run has borrowed
        none, or was already asked to return it. See `agent.ports.leases.Leases`.
        """
        if self._borrowed.get(run) is None:
            return False
        del self._borrowed[run]
        return True

    async def release(self, run: RunId) -> None:
        """Give back the run's phone, or its place in the queue; does nothing if it has neither."""
        async with self._lock:
            self._held.pop(run, None)
            self._borrowed.pop(run, None)
            self._reserved = {phone: kept for phone, kept in self._reserved.items() if kept != run}
            try:
                await self._table.release(run, now=self._clock())
            except StoreAway as away:
                logger.warning(
                    "The phone of run %s could not be released and stays reserved until its lease expires: %s",
                    run,
                    away,
                )
                return
        await self._serve()

    def holder(self, phone: str) -> Lease | None:
        """Return the lease of the run that has this phone; None if the phone is free or only borrowed."""
        return next(
            (held for held in self._held.values() if held.phone == phone and held.run not in self._borrowed), None
        )

    @property
    def held(self) -> tuple[Lease, ...]:
        """All leases that are held now."""
        return tuple(self._held.values())

    async def hurry(self, run: RunId) -> bool:
        """Move a waiting run to the head of its queue; no phone is taken from another run. Returns False if the run is
        not waiting.
        """
        async with self._lock:
            waiting = self._waiting.get(run)
            if waiting is None:
                return False
            waiting.waiter = replace(waiting.waiter, rank=await self._table.ticket(run, first=True))
        self._wake_all()
        return True

    async def heartbeat(self) -> None:
        """Renew the leases that are held, and end waits that can no longer succeed. Called every 5 s."""
        await self._table.renew(tuple(self._held), expires=self._clock() + EXPIRY_S)
        await self._serve()

    async def _serve(self) -> None:
        """Give free phones to waiting runs in order, and wake every run whose situation may have changed. While the
        store is unavailable, this is left to a later heartbeat.
        """
        async with self._lock:
            if self._draining:
                return
            try:
                await self._give_out()
            except StoreAway as away:
                logger.debug("the queue could not be served: %s", away)

    async def _give_out(self) -> None:
        """Do the work of `_serve`, whose lock is held. Raises StoreAway."""
        phones, now = self._phones.list(), self._clock()
        for waiter, phone in assign_phones(self._queue(), phones, self._held_phones() | self._reserved_phones(now)):
            lease = await self._table.take(waiter.run, phone, alive=tuple(self._held), now=now, expires=now + EXPIRY_S)
            if lease is None:
                continue
            self._reserved.pop(phone, None)
            waiting = self._waiting.pop(waiter.run, None)
            if waiting is None:
                # It left the queue in this very moment.
                await self._table.release(waiter.run, now=now)
                continue
            self._held[waiter.run] = waiting.lease = lease
            waiting.wakeup.set()
            self._wake_all()
        self._reclaim_borrowed(now)
        phones, held = self._phones.list(), self._held_phones()
        for waiting in self._waiting.values():
            waiter = waiting.waiter
            self._check_servable(
                waiting, unservable_reason(waiter.wish, phones, held, waiter.admits, called=waiting.called), now
            )

    def _reclaim_borrowed(self, now: float) -> None:
        """Ask borrowers to return phones that waiting runs could have."""
        if not self._borrowed or not self._waiting:
            return
        lent = {self._held[run].phone: run for run in self._borrowed}
        others = (self._held_phones() | self._reserved_phones(now)) - lent.keys()
        for _, phone in assign_phones(self._queue(), self._phones.list(), others):
            run = lent.get(phone)
            if run is not None and (wanted := self._borrowed[run]) is not None:
                self._borrowed[run] = None
                wanted()

    def _reserved_phones(self, now: float) -> frozenset[str]:
        """The phones that are reserved for runs which have not come back yet."""
        if now >= self._reserved_until:
            self._reserved.clear()
        return frozenset(phone for phone, run in self._reserved.items() if run not in self._waiting)

    def _check_servable(self, waiting: _QueueEntry, trouble: NoPhone | None, now: float) -> None:
        """Check whether the wish can still be served; its phone may be away for a while."""
        if trouble is None:
            waiting.hopeless_since = None
            return
        if waiting.hopeless_since is None:
            waiting.hopeless_since = now
        if isinstance(trouble, NotAdmitted) or now - waiting.hopeless_since >= GRACE_S:
            waiting.trouble = trouble
            waiting.mark_due()  # and says it again in the language of its person

    async def _leave(self, waiting: _QueueEntry) -> None:
        """Record that the run stopped waiting. While the service stops, its ticket keeps its place."""
        run = waiting.waiter.run
        self._waiting.pop(run, None)
        if waiting.lease is not None or not self._draining:
            await self.release(run)
        self._wake_all()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                await self.heartbeat()
            except StoreAway as away:
                logger.debug("the leases could not be renewed: %s", away)
            except OSError:
                logger.exception("The leases of phones could not be renewed")

    async def _watch(self) -> None:
        while True:
            await self._phones.wait_for_change()
            try:
                await self._serve()
            except OSError:
                logger.exception("The queue for phones could not be processed")

    def _wake_all(self) -> None:
        """Wake every waiting run to look at its place again."""
        for waiting in self._waiting.values():
            waiting.wakeup.set()

    def _queue(self) -> list[Waiter]:
        return [waiting.waiter for waiting in self._waiting.values() if waiting.lease is None]

    def _held_phones(self) -> frozenset[str]:
        return frozenset(lease.phone for lease in self._held.values())

    async def _called(self, wish: str) -> str:
        attached = next((phone.name for phone in self._phones.list() if phone.id == wish), "")
        return attached or (wish and (await self._names()).get(wish, wish))
