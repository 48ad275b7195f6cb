"""Receives what hosts report of their runs: each message is stored once and then followed, even if it comes twice or
late.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from agent.events import Asked, Resumed, RunEnded, Seen, Started, Step
from agent.ports.leases import Lease
from agent.questions import QuestionOrigin
from agent.run_id import RunId
from bot.fleet.bounds import Faults, bounded
from bot.fleet.engine import Delivery
from bot.fleet.messages import ITEM, Item, Told
from bot.fleet.owners import PhoneOwners
from bot.store.fleet import FleetTable, KnownRun

logger = logging.getLogger(__name__)

AT_ONCE: Final = 200
"""Events that are written in one transaction at most."""
MOST_AHEAD: Final = 5000
"""How many numbers an event may be ahead of the last one without a gap."""
FRAMES_KNOWN: Final = 10_000
"""Pictures for which the hub remembers the host."""


class HubRuns(Protocol):
    """The follower of the runs that hosts do."""

    def told(self, run: RunId, item: Item) -> None:
        """Handle a host's new message about a run."""
        ...

    def waits_to_say(self, run: RunId) -> bool:
        """Whether there are undelivered messages for the run."""
        ...

    def works_on(self, host: str, runs: frozenset[str]) -> None:
        """Compare with the runs that the host says it works on."""
        ...

    def say_again(self) -> None:
        """Deliver messages that could not be delivered before."""
        ...

    def host_changed(self, host: str) -> None:
        """React to a host that came, left, restarted or has been away for too long."""
        ...

    def leases(self) -> Iterable[Lease]:
        """Return the leases that runs hold now."""
        ...


class Incoming:
    """Stores the events of `known` runs, and calls `follow` once for each."""

    def __init__(
        self,
        table: FleetTable,
        known: Mapping[RunId, KnownRun],
        follow: Callable[[RunId, Item], None],
        owners: PhoneOwners,
        faults: Faults,
    ) -> None:
        self._table = table
        self._known = known
        self._follow = follow
        self._owners = owners
        self._faults = faults
        self._inbox: asyncio.Queue[tuple[RunId, Item, Delivery]] = asyncio.Queue()
        self._received: dict[RunId, int] = {}
        self._early: dict[RunId, set[int]] = {}
        self._taken: dict[RunId, int] = {}
        self._pictures: OrderedDict[str, str] = OrderedDict()

    async def load(self) -> None:
        """Follow events that an earlier start of the hub has stored but that are not in the record."""
        for run, number, body in await self._table.events():
            if run in self._known:
                self._note_received(run, number)
                with self._faults.of(self._known[run].host):
                    self._follow(run, ITEM.validate_json(body))

    def received(self, run: RunId) -> int:
        """Return the number up to which everything of this run has arrived."""
        return self._received.get(run, self._known[run].taken if run in self._known else 0)

    def host_of_picture(self, reference: str) -> str | None:
        """Return the host that has reported this picture."""
        return self._pictures.get(reference)

    async def arrive(self, delivery: Delivery) -> None:
        """Accept a host's message about one of its own runs; others are ignored."""
        _, _, host, written = delivery.subject.split(".", 3)
        try:
            run, item = RunId.parse(written), ITEM.validate_json(bounded(delivery.data))
        except ValueError as error:
            self._faults.note(host, f"an event: {error}")
            await delivery.done()
            return
        if run not in self._known or self._known[run].host != host:
            await delivery.done()
            return
        if item.n > self.received(run) + MOST_AHEAD:
            await delivery.done()  # it comes again once those before it have arrived
            return
        if not self._is_its_own(run, host, item):
            self._faults.note(host, f"an event of run {run} that tells of what is another one's")
            await delivery.done()
            return
        self._inbox.put_nowait((run, item, delivery))

    async def take_in(self) -> None:
        """Store what has arrived, in batches, before it is acknowledged and followed."""
        while True:
            batch = [await self._inbox.get()]
            while not self._inbox.empty() and len(batch) < AT_ONCE:
                batch.append(self._inbox.get_nowait())
            new = {
                (run, item.n): item
                for run, item, _ in batch
                if item.n > self.received(run) and item.n not in self._early.get(run, ())
            }
            await self._table.receive_events({key: item.model_dump_json() for key, item in new.items()})
            for _, _, delivery in batch:
                await delivery.done()
            for (run, number), item in new.items():
                if run in self._known:
                    host = self._known[run].host
                    self._note_received(run, number)
                    self._note_picture(host, item)
                    with self._faults.of(host):
                        self._follow(run, item)

    def in_record(self, run: RunId, number: int) -> None:
        """Note that this run's messages up to this number are in the record and need no longer be stored."""
        if run in self._known:
            self._taken[run] = number

    async def drop_what_is_in_record(self) -> None:
        """Store that. Raises StoreError, in which case the next call stores it."""
        taken, self._taken = self._taken, {}
        if taken:
            try:
                await self._table.take_events(taken)
            except OSError:
                self._taken = taken | self._taken
                raise

    def forget(self, run: RunId) -> None:
        """Forget a run that is over."""
        for kept in (self._received, self._early, self._taken):
            kept.pop(run, None)

    def _note_received(self, run: RunId, number: int) -> None:
        early = self._early.setdefault(run, set())
        early.add(number)
        last = self.received(run)
        while last + 1 in early:
            last += 1
            early.discard(last)
        self._received[run] = last

    def _is_its_own(self, run: RunId, host: str, item: Item) -> bool:
        """Whether the message concerns only this run: the run itself, its questions, and a phone of its host."""
        if not isinstance(item, Told):
            return True
        match item.event:
            case Asked(question=question):
                return question.run == run and _is_of(question.id, run) and question.origin is QuestionOrigin.RUN
            case Resumed(question=question):
                return _is_of(question, run)
            case Started(run=told, phone=phone):
                return told == run and self._owners.of(phone) == host
            case Seen(run=told) | Step(run=told) | RunEnded(run=told):
                return told == run
            case _:
                return True

    def _note_picture(self, host: str, item: Item) -> None:
        if not isinstance(item, Told):
            return
        frame = getattr(item.event, "frame", None) or getattr(getattr(item.event, "question", None), "frame", None)
        if frame:
            self._pictures.setdefault(frame, host)  # another host that names it does not have it
            if len(self._pictures) > FRAMES_KNOWN:
                self._pictures.popitem(last=False)


def _is_of(question: str, run: RunId) -> bool:
    """Whether a question belongs to this run, with whose id its own begins."""
    return question.startswith(f"{run}.")
