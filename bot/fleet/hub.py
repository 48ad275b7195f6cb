"""The hub's side of the engine: which hosts there are, what holds for each, and what is said between them and it.

Every two seconds each host hears all that holds for it. Whatever is lost on the way is made good by that, or by the
numbers of what runs tell; nothing here goes by a clock of another machine.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import nats.errors
import nats.js.errors
from nats.js.api import AckPolicy, ConsumerConfig, KeyValueConfig, RetentionPolicy, StreamConfig
from pydantic import ValidationError

from agent.guards.policy import Policy
from agent.ports.leases import Lease
from agent.ports.memory import Memory
from agent.ports.runner import RunOrder
from agent.run_id import RunId
from bot.fleet.engine import Address, Delivery, EngineAway, Link, connected, keep_connected
from bot.fleet.files import all_pieces, piece_of
from bot.fleet.keys import HubKeys, new_code
from bot.fleet.memory import answer_memory
from bot.fleet.messages import (
    EVENTS,
    ITEM,
    JOIN,
    ORDERS,
    PRESENCE,
    SPEAKS,
    TO_HUB,
    Beat,
    GetFile,
    Held,
    Hello,
    Item,
    M,
    Message,
    OrderSent,
    Patience,
    PhoneThere,
    Presence,
    Pulse,
    Reply,
    Standing,
    Told,
    UseMemory,
    asked_of,
    beats_to,
    inbox_of,
    orders_to,
    read_reply,
    understands,
)
from bot.fleet.sign_in import SignIn, delivery_of
from bot.store.fleet import FleetTable, KnownHost, KnownRun
from bot.store.frames import FrameFiles
from bot.texts import spoken

logger = logging.getLogger(__name__)

ACK_S: Final = 5.0
KEEP_S: Final = 7 * 86_400.0
"""The engine keeps nothing longer: the hub has it, or will never have it."""
FRAMES_KNOWN: Final = 10_000
"""Pictures of which the hub remembers whose they are."""
HUB_DELIVERY: Final = "fleet.deliver._hub"


class HostRefused(EngineAway):
    """The host has heard it and did not do it; the text is its sentence."""


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


@dataclass
class Host:
    """A host as the hub knows it now. `heard` is when it last said something, by the hub's own clock."""

    known: KnownHost
    presence: Presence | None = None
    heard: float | None = None
    away: bool = True
    lost: bool = False
    since: float = field(default_factory=time.monotonic)
    """When it went away."""
    reading: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.known.name

    @property
    def speaks(self) -> int | None:
        """The version of what it says, None while nothing is known of it."""
        return None if self.presence is None else self.presence.speaks

    @property
    def usable(self) -> bool:
        """Whether it can be given work now."""
        return not self.away and self.presence is not None and understands(self.presence.speaks)

    def phones(self) -> tuple[PhoneThere, ...]:
        """The phones that it told of last."""
        return () if self.presence is None else self.presence.phones


class Hub:
    """Starts at `start`, whether the engine can be reached or not, and ends at `stop`. `runs` and `memory` are
    set before.
    """

    def __init__(
        self,
        url: str,
        keys: HubKeys,
        table: FleetTable,
        frames: FrameFiles,
        policy: Policy,
        patience: Patience | None = None,
    ) -> None:
        self._address = Address(url, "hub", "_INBOX_hub", seed=keys.user)
        self._system = Address(url, "hub", "_INBOX_hub", seed=keys.system)
        self.url = url
        self.memory: Memory
        self._table = table
        self._frames = frames
        self._policy = policy
        self._patience = patience or Patience()
        self._sign_in = SignIn(keys, table)
        self._link: Link | None = None
        self._epoch = 0
        self._number = 0
        self._leaving = False
        self._tasks: list[asyncio.Task[None]] = []
        self._asking: set[asyncio.Task[None]] = set()
        self._beating = asyncio.Lock()
        self.hosts: dict[str, Host] = {}
        self.known: dict[RunId, KnownRun] = {}
        self._received: dict[RunId, int] = {}
        self._early: dict[RunId, set[int]] = {}
        self._orders: dict[RunId, RunOrder] = {}
        self._inbox: asyncio.Queue[tuple[RunId, Item, Delivery]] = asyncio.Queue()
        self._taken: dict[RunId, int] = {}
        self._pictures: OrderedDict[str, str] = OrderedDict()
        self._listeners: list[Callable[[], None]] = []
        self.runs: HubRuns

    @property
    def online(self) -> bool:
        """Whether the engine can be reached now."""
        return self._link is not None and not self._link.closed.is_set()

    @property
    def awaits_hosts(self) -> bool:
        """Whether some host is away that may come back soon."""
        return any(host.away and not host.lost for host in self.hosts.values())

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call this whenever a host or its phones have changed."""
        self._listeners.append(listener)

    async def start(self) -> None:
        """Begin. Raises StoreError."""
        self._epoch = await self._table.begin_epoch()
        self.hosts = {each.name: Host(each) for each in await self._table.hosts() if each.revoked is None}
        self.known = {each.run: each for each in await self._table.runs()}
        for run, number, body in await self._table.events():
            self._note_received(run, number)
            self.runs.told(run, ITEM.validate_json(body))
        self._tasks = [
            asyncio.create_task(keep_connected(self._address, self._begin), name="fleet engine"),
            asyncio.create_task(self._beat_on(), name="fleet beat"),
            asyncio.create_task(self._take_in(), name="fleet events"),
        ]

    async def stop(self) -> None:
        """Tell the hosts that nobody is here any more, and end."""
        self._leaving = True
        with suppress(EngineAway):
            await self._beat_all()
            if self._link is not None:
                await self._link.flush()
        for task in (*self._tasks, *self._asking):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._asking, return_exceptions=True)
        await self._write_taken()

    # hosts

    async def invite(self, name: str) -> str:
        """The address with which a host of this name joins, once and for ten minutes."""
        code = new_code()
        await self._sign_in.invite(name, code)
        return f"{self.url}#{name}.{code}"

    async def revoke(self, name: str) -> bool:
        """End a host: it is not let in again, and what it says from now on counts for nothing. False for no host."""
        known = await self._table.revoke(name, now=time.time())
        host = self.hosts.pop(name, None)
        if host is not None:
            host.away = host.lost = True
        await self._disconnect(name)
        self._changed(name)
        return known or host is not None

    async def _disconnect(self, name: str) -> None:
        server, number = self._sign_in.connections.pop(name, ("", 0))
        if not server:
            return
        try:
            async with connected(self._system) as link:
                body = f'{{"cid": {number}}}'.encode()
                await link.request(f"$SYS.REQ.SERVER.{server}.KICK", body)
        except EngineAway as away:
            logger.warning("The connection of the host %s was not closed, but nothing it says counts: %s", name, away)

    def usable(self, host: str) -> bool:
        """Whether this host can be given work now."""
        return host in self.hosts and self.hosts[host].usable

    # what the hub says

    async def ask(self, host: str, message: Message, *, timeout: float = 5.0) -> tuple[Reply, bytes]:
        """Ask a host; its reply, and the bytes that came along. Raises EngineAway, and HostRefused."""
        if self._link is None or not self.usable(host):
            raise EngineAway(f"the host {host} does not answer")
        data = await self._link.request(asked_of(host), message.model_dump_json().encode(), timeout=timeout)
        self._heard(host)
        try:
            reply, body = read_reply(data)
        except ValidationError as error:
            raise HostRefused(f"the host {host} has answered in a way that is not understood") from error
        if reply.error:
            raise HostRefused(reply.error)
        return reply, body

    async def order(self, host: str, order: RunOrder) -> None:
        """Give a run to a host. One that does not arrive is sent again when the host is back."""
        self._orders[order.run] = order
        sent = OrderSent(host=host, epoch=self._epoch, number=self._number + 1, language=spoken(), order=order)
        with suppress(EngineAway):
            await self.beat(host)
            if self._link is not None:
                await self._link.store(orders_to(host), sent.model_dump_json().encode(), id="")

    async def keep_run(self, run: RunId, host: str, person: str) -> KnownRun:
        """From now on this host does the run."""
        kept = self.known[run] = await self._table.keep_run(run, host, person)
        return kept

    async def forget_run(self, run: RunId) -> None:
        """The run is over: its host is told by the next beat."""
        for kept in (self.known, self._received, self._early, self._orders, self._taken):
            kept.pop(run, None)
        await self._table.forget_run(run)

    def take(self, run: RunId, number: int) -> None:
        """What this run has told up to this number is in the record."""
        if run in self.known:
            self._taken[run] = number

    async def beat(self, host: str) -> None:
        """Tell a host now what holds for it. Raises EngineAway."""
        async with self._beating:
            await self._beat_one(host)

    async def file(self, host: str, reference: str) -> bytes:
        """A file that a host keeps. Raises KeyError when it does not, EngineAway."""

        async def piece(offset: int) -> tuple[Reply, bytes]:
            return await self.ask(host, GetFile(reference=reference, offset=offset), timeout=20.0)

        return await all_pieces(reference, piece)

    async def picture(self, reference: str) -> bytes:
        """A file that some host keeps, found by its content. Raises KeyError."""
        near = self._pictures.get(reference)
        hosts = [near] if near is not None else [name for name, host in self.hosts.items() if host.usable]

        async def from_host(host: str) -> bytes | None:
            try:
                return await self.file(host, reference)
            except (KeyError, EngineAway):
                return None

        for found in await asyncio.gather(*map(from_host, hosts)):
            if found is not None:
                return found
        raise KeyError(reference)

    def held_on(self, phone: str) -> Held | None:
        """Who has this phone now."""
        found = next((each for each in self.runs.leases() if each.phone == phone), None)
        return None if found is None else Held(phone=phone, run=found.run, fence=found.fence)

    # what the hub hears

    async def _begin(self, link: Link) -> None:
        try:
            await self._set_up(link)
        except nats.js.errors.Error as error:
            raise EngineAway(f"its streams cannot be had: {error}") from error
        await self._sign_in.listen(link)
        await link.listen(JOIN, self._join)
        await link.listen("fleet.pulse.*", self._pulse)
        await link.listen("fleet.hub.*", self._asked)
        await link.listen(HUB_DELIVERY, self._event)
        self._link = link
        for name in self.hosts:
            await self._consume(link, name)
        with suppress(EngineAway):
            await self._beat_all()
        for name in list(self.hosts):
            self._changed(name)  # what was said on a link that has ended may not have arrived

    async def _set_up(self, link: Link) -> None:
        js = link.stream
        streams = (
            StreamConfig(name=ORDERS, subjects=["fleet.orders.*"], retention=RetentionPolicy.WORK_QUEUE),
            StreamConfig(name=EVENTS, subjects=["fleet.events.*.*"], retention=RetentionPolicy.WORK_QUEUE),
        )
        for each in streams:
            await js.add_stream(each.evolve(max_age=KEEP_S, duplicate_window=120))
        await js.create_key_value(KeyValueConfig(bucket=PRESENCE, history=1))
        hub = ConsumerConfig(durable_name="hub", deliver_subject=HUB_DELIVERY, max_ack_pending=5000)
        await js.add_consumer(EVENTS, hub.evolve(ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_S))

    async def _consume(self, link: Link, host: str) -> None:
        own = ConsumerConfig(durable_name=host, deliver_subject=delivery_of(host), filter_subject=orders_to(host))
        try:
            await link.stream.add_consumer(ORDERS, own.evolve(ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_S))
        except (nats.errors.Error, nats.js.errors.Error) as error:
            raise EngineAway(f"the orders of {host} cannot be set up: {error}") from error

    async def _join(self, delivery: Delivery) -> None:
        joined = await self._sign_in.join(delivery)
        if joined is None:
            return
        logger.info("The host %s has joined.", joined.name)
        self.hosts[joined.name] = Host(joined)
        assert self._link is not None
        await self._consume(self._link, joined.name)
        await delivery.answer(Reply(data=joined.name).bytes())
        self._changed(joined.name)

    async def _pulse(self, delivery: Delivery) -> None:
        name = delivery.subject.rpartition(".")[2]
        host = self.hosts.get(name)
        if host is None or (pulse := _read(Pulse, delivery.data)) is None:
            return
        if host.presence is None or (host.presence.boot, host.presence.number) != (pulse.boot, pulse.number):
            if not host.reading:
                host.reading = True
                self._later(self._read_presence(host))
            return
        self._heard(name)
        self.runs.works_on(name, frozenset(pulse.working))

    async def _read_presence(self, host: Host) -> None:
        try:
            assert self._link is not None
            bucket = await self._link.stream.key_value(PRESENCE)
            entry = await bucket.get(host.name)
            presence = _read(Presence, entry.value or b"")
        except (nats.errors.Error, nats.js.errors.Error, EngineAway) as error:
            logger.debug("the presence of %s was not read: %s", host.name, error)
            return
        finally:
            host.reading = False
        if presence is None or self.hosts.get(host.name) is not host:
            return
        anew = host.presence is not None and host.presence.boot != presence.boot
        host.presence = presence
        if not understands(presence.speaks):
            logger.warning("The host %s speaks version %d, the hub %d.", host.name, presence.speaks, SPEAKS)
        came = self._heard(host.name)
        if anew and not came:
            self._changed(host.name)
        else:
            self._tell_listeners()

    def _heard(self, name: str) -> bool:
        """A sign of life; whether the host was away."""
        host = self.hosts.get(name)
        if host is None:
            return False
        host.heard = time.monotonic()
        if not host.away or host.presence is None:
            return False
        host.away = host.lost = False
        logger.info("The host %s is there.", name)
        self._changed(name)
        self._later(self.beat(name))
        return True

    async def _asked(self, delivery: Delivery) -> None:
        name = delivery.subject.rpartition(".")[2]
        # The reply goes where the host says, so that must be its own inbox and nobody else's.
        if name not in self.hosts or not delivery.reply.startswith(f"{inbox_of(name)}."):
            logger.warning("What was asked in the name of the host %s was not answered.", name)
            return
        self._later(self._answer(name, delivery))

    async def _answer(self, host: str, delivery: Delivery) -> None:
        try:
            asked = TO_HUB.validate_json(delivery.data)
        except ValidationError:
            await delivery.answer(Reply(error=f"The hub speaks version {SPEAKS} and does not know this.").bytes())
            return
        body = b""
        match asked:
            case Hello():
                reply = Reply(data={"speaks": SPEAKS, "epoch": self._epoch, "policy": self._policy.rules()})
            case GetFile():
                reply, body = await self._file_for(host, asked)
            case UseMemory():
                persons = {run.person for run in self.known.values() if run.host == host}
                reply = await answer_memory(self.memory, asked, persons)
        await delivery.answer(reply.bytes(body))

    async def _file_for(self, host: str, asked: GetFile) -> tuple[Reply, bytes]:
        """A file that came with a task whose run this host does, and no other."""
        given = {
            file.content
            for run, order in self._orders.items()
            if run in self.known and self.known[run].host == host
            for file in order.files
        }
        if asked.reference not in given:
            return Reply(missing=True), b""
        return await piece_of(self._frames, asked)

    async def _event(self, delivery: Delivery) -> None:
        _, _, host, written = delivery.subject.split(".", 3)
        try:
            run, item = RunId.parse(written), ITEM.validate_json(delivery.data)
        except (ValueError, ValidationError):
            logger.warning("What the host %s has told is not understood.", host)
            await delivery.done()
            return
        known = self.known.get(run)
        if known is None or known.host != host or host not in self.hosts:
            await delivery.done()
            return
        self._inbox.put_nowait((run, item, delivery))

    async def _take_in(self) -> None:
        """Keep what has arrived, as much as there is at once, before it is acknowledged and followed."""
        while True:
            batch = [await self._inbox.get()]
            while not self._inbox.empty() and len(batch) < 200:
                batch.append(self._inbox.get_nowait())
            new = [
                (run, item)
                for run, item, _ in batch
                if item.n > self._received.get(run, self.known[run].taken if run in self.known else 0)
                and item.n not in self._early.get(run, ())
            ]
            await self._table.receive_events({(run, item.n): item.model_dump_json() for run, item in new})
            for _, _, delivery in batch:
                await delivery.done()
            for run, item in {(run, item.n): (run, item) for run, item in new}.values():
                if run not in self.known:
                    continue
                self._note_received(run, item.n)
                self._note_pictures(self.known[run].host, item)
                self.runs.told(run, item)

    def _note_received(self, run: RunId, number: int) -> None:
        early = self._early.setdefault(run, set())
        early.add(number)
        last = self._received.get(run, self.known[run].taken if run in self.known else 0)
        while last + 1 in early:
            last += 1
            early.discard(last)
        self._received[run] = last

    def _note_pictures(self, host: str, item: Item) -> None:
        if not isinstance(item, Told):
            return
        frame = getattr(item.event, "frame", None) or getattr(getattr(item.event, "question", None), "frame", None)
        if frame:
            self._pictures[frame] = host
            if len(self._pictures) > FRAMES_KNOWN:
                self._pictures.popitem(last=False)

    # time

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(self._patience.beat)
            now = time.monotonic()
            for name, host in list(self.hosts.items()):
                if not host.away and host.heard is not None and now - host.heard > self._patience.away:
                    host.away, host.since = True, now
                    logger.warning("The host %s does not answer.", name)
                    self._changed(name)
                elif host.away and not host.lost and now - host.since > self._patience.lost:
                    host.lost = True
                    self._changed(name)
            self.runs.say_again()
            with suppress(EngineAway):
                await self._beat_all()
            try:
                await self._write_taken()
            except OSError as error:
                logger.warning("What hosts have told is kept twice for now: %s", error)

    async def _write_taken(self) -> None:
        taken, self._taken = self._taken, {}
        if taken:
            try:
                await self._table.take_events(taken)
            except OSError:
                self._taken = taken | self._taken
                raise

    async def _beat_all(self) -> None:
        async with self._beating:
            for name in list(self.hosts):
                await self._beat_one(name)

    async def _beat_one(self, host: str) -> None:
        if self._link is None or host not in self.hosts:
            return
        self._number += 1
        own = {there.info.id for there in self.hosts[host].phones()}
        beat = Beat(
            host=host,
            epoch=self._epoch,
            number=self._number,
            leaving=self._leaving,
            runs={
                str(run): Standing(received=self._received.get(run, known.taken), hold=self.runs.waits_to_say(run))
                for run, known in self.known.items()
                if known.host == host
            },
            leases=tuple(
                Held(phone=each.phone, run=each.run, fence=each.fence)
                for each in self.runs.leases()
                if each.phone in own or (each.run in self.known and self.known[each.run].host == host)
            ),
        )
        await self._link.publish(beats_to(host), beat.model_dump_json().encode())

    def _changed(self, host: str) -> None:
        self.runs.host_changed(host)
        self._tell_listeners()

    def _tell_listeners(self) -> None:
        for listener in self._listeners:
            listener()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._asking.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._asking.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not isinstance(error, EngineAway):
            logger.error("what a host has asked could not be done", exc_info=error)


def _read(kind: type[M], data: bytes) -> M | None:
    try:
        return kind.model_validate_json(data)
    except ValidationError:
        return None
