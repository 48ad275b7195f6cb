"""What hosts tell of their runs, as it arrives at the hub: kept once, then followed, whatever comes twice or late."""

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
"""How far an event may be ahead of what has arrived without a gap."""
FRAMES_KNOWN: Final = 10_000
"""Pictures of which the hub remembers whose they are."""


class HubRuns(Protocol):
    """Whoever follows the runs that hosts do."""

    def told(self, run: RunId, item: Item) -> None:
        """A host has told this of a run, for the first time."""
        ...

    def waits_to_say(self, run: RunId) -> bool:
        """Whether there is something that the run has still to be told."""
        ...

    def works_on(self, host: str, runs: frozenset[str]) -> None:
        """The host says on which runs it is at work."""
        ...

    def say_again(self) -> None:
        """Tell runs what they could not be told before."""
        ...

    def host_changed(self, host: str) -> None:
        """A host came, went away, began anew or has been away for too long."""
        ...

    def leases(self) -> Iterable[Lease]:
        """What runs hold now."""
        ...


class Incoming:
    """Events of `known` runs. `follow` is called with each, once, when it is kept."""

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
        """Follow what an earlier start of the hub had kept and the record has not."""
        for run, number, body in await self._table.events():
            if run in self._known:
                self._note_received(run, number)
                with self._faults.of(self._known[run].host):
                    self._follow(run, ITEM.validate_json(body))

    def received(self, run: RunId) -> int:
        """The number up to which everything of this run has arrived."""
        return self._received.get(run, self._known[run].taken if run in self._known else 0)

    def host_of_picture(self, reference: str) -> str | None:
        """The host that has told of this picture."""
        return self._pictures.get(reference)

    async def arrive(self, delivery: Delivery) -> None:
        """A host tells something of a run. What is not of its own runs does not count."""
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
            await delivery.done()  # it is told again once what is before it has arrived
            return
        if not self._is_its_own(run, host, item):
            self._faults.note(host, f"an event of run {run} that tells of what is another one's")
            await delivery.done()
            return
        self._inbox.put_nowait((run, item, delivery))

    async def take_in(self) -> None:
        """Keep what arrives, as much as there is at once, before it is acknowledged and followed."""
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
        """What this run has told up to this number need not be kept here any more."""
        if run in self._known:
            self._taken[run] = number

    async def drop_what_is_in_record(self) -> None:
        """Write that down. Raises StoreError; then it is written at the next call."""
        taken, self._taken = self._taken, {}
        if taken:
            try:
                await self._table.take_events(taken)
            except OSError:
                self._taken = taken | self._taken
                raise

    def forget(self, run: RunId) -> None:
        """The run is over."""
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
        """Whether what is told names this run alone: itself, its questions, and a phone of its host."""
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
    """Whether a question may be one of this run: their ids begin with it."""
    return question.startswith(f"{run}.")
