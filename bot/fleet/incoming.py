"""Receives the hosts' messages about their runs. Each message is stored once and then processed, even if it arrives
twice or late.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from agent.events import Asked, Resumed, RunEnded, Seen, Started, Step
from agent.ports.leases import Lease
from agent.questions import QuestionOrigin
from agent.run import RunId
from bot.fleet.bounds import Faults, check_limits
from bot.fleet.engine import Delivery, EngineAway
from bot.fleet.hosts import PhoneOwners
from bot.fleet.messages import ITEM, Item, Told
from bot.store.fleet import FleetTable, KnownRun

logger = logging.getLogger(__name__)

AT_ONCE: Final = 200
"""Most events written in one transaction."""
MOST_AHEAD: Final = 5000
"""How many numbers an event may be ahead of the last one without a gap."""
FRAMES_KNOWN: Final = 10_000
"""Pictures for which the hub remembers the host."""


class HubRuns(Protocol):
    """The part of the hub that follows the runs on hosts."""

    def receive(self, run: RunId, item: Item) -> None:
        """Process a host's new message about a run."""

    def has_undelivered(self, run: RunId) -> bool:
        """Return whether there are undelivered messages to the run's host."""

    def resend_lost_orders(self, host: str, runs: frozenset[str]) -> None:
        """Compare the hub's runs with those that the host says it is working on, and send lost orders again."""

    def retry_deliveries(self) -> None:
        """Try again to deliver messages that could not be delivered."""

    def host_changed(self, host: str) -> None:
        """Handle that a host came, left, restarted or has been away for too long."""

    def leases(self) -> Iterable[Lease]:
        """Return the leases of phones that runs have now."""


@dataclass(frozen=True, slots=True)
class _Arrived:
    """A host's message about one of its own runs, which may have arrived before."""

    host: str
    run: RunId
    item: Item
    delivery: Delivery


class Incoming:
    """Stores the hosts' messages about the runs in `known`, and calls `follow` once for each.

    `owners` tells which phones are a host's own; `faults` counts invalid messages.
    """

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
        self._on_item = follow
        self._owners = owners
        self._faults = faults
        self._inbox: asyncio.Queue[_Arrived] = asyncio.Queue()
        self._received: dict[RunId, int] = {}
        self._out_of_order: dict[RunId, set[int]] = {}
        self._taken: dict[RunId, int] = {}
        self._pictures: OrderedDict[str, str] = OrderedDict()

    async def load(self) -> None:
        """Process messages that were stored before the hub's restart, but not processed completely."""
        for run, number, body in await self._table.events():
            if run in self._known:
                self._note_received(run, number)
                with self._faults.of(self._known[run].host):
                    self._on_item(run, ITEM.validate_json(body))

    def received(self, run: RunId) -> int:
        """Return the number up to which all messages of this run have arrived."""
        return self._received.get(run, self._known[run].taken if run in self._known else 0)

    def host_of_picture(self, reference: str) -> str | None:
        """Return the host that has reported the picture with this reference; None if unknown."""
        return self._pictures.get(reference)

    async def receive(self, delivery: Delivery) -> None:
        """Receive a host's message about one of its own runs. Others are ignored."""
        _, _, host, written = delivery.subject.split(".", 3)
        try:
            run, item = RunId.parse(written), ITEM.validate_json(check_limits(delivery.data))
        except ValueError as error:
            self._faults.note(host, f"an event: {error}")
        else:
            is_known = run in self._known and self._known[run].host == host
            # One that is too far ahead comes again once those before it have arrived.
            if is_known and item.n <= self.received(run) + MOST_AHEAD:
                if self._is_its_own(run, host, item):
                    self._inbox.put_nowait(_Arrived(host, run, item, delivery))
                    return
                self._faults.note(host, f"an event of run {run} that tells of what is another one's")
        await delivery.done()

    async def process(self) -> None:
        """Store received messages in batches, acknowledge them, and process them. Runs until cancelled.

        A message that cannot be stored is a fault of its host, and is not acknowledged, so that it comes again.
        """
        while True:
            batch = [await self._inbox.get()]
            while not self._inbox.empty() and len(batch) < AT_ONCE:
                batch.append(self._inbox.get_nowait())
            try:
                await self._take(batch)
            except Exception as error:  # noqa: BLE001 - each is tried again alone and counted for its host
                logger.debug("%d reports from hosts are stored one at a time: %s", len(batch), error)
                for each in batch:
                    with suppress(EngineAway), self._faults.of(each.host):
                        await self._take([each])

    async def _take(self, batch: Sequence[_Arrived]) -> None:
        new = {
            (each.run, each.item.n): each
            for each in batch
            if each.item.n > self.received(each.run) and each.item.n not in self._out_of_order.get(each.run, ())
        }
        await self._table.receive_events({key: each.item.model_dump_json() for key, each in new.items()})
        for each in batch:
            await each.delivery.done()
        for each in new.values():
            if each.run in self._known:
                self._note_received(each.run, each.item.n)
                self._note_picture(each.host, each.item)
                with self._faults.of(each.host):
                    self._on_item(each.run, each.item)

    def confirm_stored(self, run: RunId, number: int) -> None:
        """Record that this run's messages up to this number are stored in the task's log, so that they can be
        deleted.
        """
        if run in self._known:
            self._taken[run] = number

    async def drop_stored(self) -> None:
        """Delete the messages that `confirm_stored` has reported. Raises StoreError; the next call deletes them."""
        taken, self._taken = self._taken, {}
        if taken:
            try:
                await self._table.take_events(taken)
            except OSError:
                self._taken = taken | self._taken
                raise

    def forget(self, run: RunId) -> None:
        """Delete what is in memory about a run that is over."""
        for kept in (self._received, self._out_of_order, self._taken):
            kept.pop(run, None)

    def _note_received(self, run: RunId, number: int) -> None:
        early = self._out_of_order.setdefault(run, set())
        early.add(number)
        last = self.received(run)
        while last + 1 in early:
            last += 1
            early.discard(last)
        self._received[run] = last

    def _is_its_own(self, run: RunId, host: str, item: Item) -> bool:
        """Return whether the message concerns only this run: the run itself, its questions, and a phone of its host."""
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
    """Return whether a question belongs to this run: its id then begins with the run's."""
    return question.startswith(f"{run}.")
