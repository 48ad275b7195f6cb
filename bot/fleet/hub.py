"""The hub of a fleet: keeps track of hosts and their runs, and exchanges messages with them through the engine
(message broker).

Every two seconds each host receives its complete state (a beat). This, and the numbers of the runs' messages, repair
whatever was lost; nothing depends on another computer's clock.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final

from agent.guards.policy import Policy
from agent.ports.memory import Memory
from agent.ports.runner import RunOrder
from agent.run import RunId
from bot.fleet.bounds import Faults, check_limits, one_line
from bot.fleet.engine import Address, Connect, Delivery, EngineAway, Link, end_tasks, keep_connected
from bot.fleet.host_requests import all_pieces, answer_file, answer_memory
from bot.fleet.hosts import Hosts, PhoneOwners
from bot.fleet.incoming import HubRuns, Incoming
from bot.fleet.keys import HubKeys, new_code
from bot.fleet.messages import (
    EVENTS,
    JOIN,
    ORDERS,
    PRESENCE,
    SPEAKS,
    TO_HUB,
    VALUE_LETTERS,
    Beat,
    GetFile,
    Held,
    Hello,
    Item,
    Message,
    OrderSent,
    Patience,
    Pulse,
    Reply,
    RunStatus,
    UseMemory,
    asked_of,
    beats_to,
    events_of,
    inbox_of,
    orders_to,
    read_reply,
)
from bot.fleet.nats_engine import connected
from bot.fleet.sign_in import SignIn, delivery_of, disconnect
from bot.store.fleet import FleetTable, KnownRun
from bot.store.frames import FrameFiles
from bot.texts import spoken, words

logger = logging.getLogger(__name__)

HUB_DELIVERY: Final = "fleet.deliver._hub"
AT_ONCE: Final = 64
"""Requests of one host that are answered at the same time; that is two for each of its phones."""


class HostRefused(EngineAway):
    """The host has received a request but not carried it out; the text is its reason."""


class NotMoved(Exception):
    """A phone was not assigned to another computer; the text is a sentence that says why."""


class Hub:
    """The hub of a fleet. It works from `start` to `stop`, whether the engine (message broker) is reachable or not.

    The attributes `runs` and `memory` must be set before `start`.
    """

    def __init__(
        self,
        url: str,
        keys: HubKeys,
        table: FleetTable,
        frames: FrameFiles,
        policy: Policy,
        patience: Patience | None = None,
        *,
        connect: Connect = connected,
    ) -> None:
        self._connect = connect
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
        self._links = 0
        self._number = 0
        self._leaving = False
        self._tasks: list[asyncio.Task[None]] = []
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._beat_lock = asyncio.Lock()
        self.faults = Faults()
        self.hosts = Hosts(self._patience, self, self.faults)
        self.owners = PhoneOwners(table)
        self.known_runs: dict[RunId, KnownRun] = {}
        self._orders: dict[RunId, RunOrder] = {}
        self._open_requests = Counter[str]()
        """Number of requests of each host that are being answered."""
        self.incoming = Incoming(table, self.known_runs, self._follow, self.owners, self.faults)
        self._listeners: list[Callable[[], None]] = []
        self._host_arrived = asyncio.Event()
        self.runs: HubRuns

    @property
    def online(self) -> bool:
        """Whether the engine (message broker) is reachable now."""
        return self._link is not None and self._link.is_open

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever a host or its phones have changed."""
        self._listeners.append(listener)

    async def start(self) -> None:
        """Start the hub, and wait until the known hosts have reported, because tasks that are due may need their
        phones.

        Waits no longer than until a silent host counts as away, and not for blocked hosts. Raises StoreError.
        """
        self._epoch = await self._table.begin_epoch()
        for host in await self._table.hosts():
            if host.revoked is None:
                self.hosts.add(host)
        self.known_runs |= {each.run: each for each in await self._table.runs()}
        await self.incoming.load()
        self._tasks = [
            asyncio.create_task(self._run_forever(work, name), name=name)
            for name, work in (
                ("fleet engine", lambda: keep_connected(self._connect, self._address, self._on_connect)),
                ("fleet beat", self._beat_on),
                ("fleet events", self.incoming.process),
            )
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience.away):
                while self.hosts.awaited:
                    self._host_arrived.clear()
                    await self._host_arrived.wait()

    async def stop(self) -> None:
        """Tell the hosts that the hub is stopping, and stop."""
        self._leaving = True
        with suppress(EngineAway):
            await self._beat_all()
            if self._link is not None:
                await self._link.flush()
        await end_tasks(*self._tasks, *self._background_tasks)
        await self.incoming.drop_stored()

    # hosts

    async def invite(self, name: str) -> str:
        """Return the line with which a host of this name can join, once and within ten minutes."""
        code = new_code()
        await self._sign_in.invite(name, code)
        return f"{self.url}#{name}.{code}"

    async def revoke(self, name: str) -> bool:
        """Remove a host: it is not admitted again, and what it sends is ignored. Returns False if there is none of
        this name.
        """
        known = await self._table.revoke(name, now=time.time())
        was_there = self.hosts.remove(name)
        await disconnect(self._connect, self._system, name)
        self.host_changed(name)
        return known or was_there

    def key_copied(self, name: str) -> None:
        """Block this host's key, because two computers use it and it is unknown which one is right."""
        if self.hosts[name].blocked:
            return
        now = time.time()
        self.hosts.block(name, now=now)
        logger.error(
            "Two machines use the key of the host %s, so neither is admitted. Revoke the host and invite it again.",
            name,
        )
        self._spawn(self._shut_out(name, now), name)

    async def _shut_out(self, name: str, now: float) -> None:
        await self._table.block(name, now=now)
        await disconnect(self._connect, self._system, name)

    # messages from the hub

    async def ask(self, host: str, message: Message, *, timeout: float = 5.0) -> tuple[Reply, bytes]:
        """Send a request to a host, and return its reply and the bytes that came with it. Raises EngineAway, and
        HostRefused if it was not carried out.
        """
        if self._link is None or not self.hosts.usable(host):
            raise EngineAway(f"the host {host} does not answer")
        data = await self._link.request(asked_of(host), message.model_dump_json().encode(), timeout=timeout)
        self.hosts.note_heard(host)
        try:
            reply, body = read_reply(data)
        except ValueError as error:
            self.faults.note(host, f"a reply: {error}")
            raise HostRefused(f"the host {host} has answered in a way that is not understood") from error
        if reply.error:
            raise HostRefused(one_line(reply.error, VALUE_LETTERS))
        return reply, body

    async def order(self, host: str, order: RunOrder) -> None:
        """Give a run to a host. An order that does not arrive is sent again when the host is back."""
        self._orders[order.run] = order
        if host not in self.hosts or self.hosts[host].blocked:
            return
        sent = OrderSent(host=host, epoch=self._epoch, number=self._number + 1, language=spoken(), order=order)
        with suppress(EngineAway):
            await self.beat(host)
            if self._link is not None:
                await self._link.store(orders_to(host), sent.model_dump_json().encode())

    async def keep_run(self, run: RunId, host: str, person: str) -> KnownRun:
        """Store that this host does the run, and return what is stored; a run that has a host already keeps it."""
        kept = self.known_runs[run] = await self._table.keep_run(run, host, person)
        return kept

    async def forget_run(self, run: RunId) -> None:
        """Delete a run that is over. Its host learns of it with the next beat."""
        self.known_runs.pop(run, None)
        self._orders.pop(run, None)
        self.incoming.forget(run)
        await self._table.forget_run(run)

    async def beat(self, host: str) -> None:
        """Send a host its complete state now. Does nothing before the first connection to the engine, and for an
        unknown or blocked host. Raises EngineAway.
        """
        async with self._beat_lock:
            await self._beat_one(host)

    async def file(self, host: str, reference: str) -> bytes:
        """Return a file that a host stores. Raises KeyError if the host does not have it, and EngineAway."""
        return await all_pieces(reference, partial(self.ask, host, timeout=20.0))

    async def picture(self, reference: str) -> bytes:
        """Return a picture that any host stores, by its reference. Raises KeyError if no host that can be reached has
        it.
        """
        near = self.incoming.host_of_picture(reference)
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

    def lease_on(self, phone: str) -> Held | None:
        """Return the current lease of this phone; None if it is free."""
        found = next((each for each in self.runs.leases() if each.phone == phone), None)
        return None if found is None else Held(phone=phone, run=found.run, fence=found.fence)

    def _follow(self, run: RunId, item: Item) -> None:
        self.runs.receive(run, item)

    # messages to the hub

    async def _on_connect(self, link: Link) -> None:
        await link.add_queue(ORDERS, orders_to("*"), from_host=False)
        await link.add_bucket(PRESENCE)
        for name in self.hosts:
            await self._set_up_host(link, name)
        await self._sign_in.listen(link)
        await link.listen(JOIN, self._join)
        await link.listen("fleet.pulse.*", self._on_pulse)
        await link.listen("fleet.hub.*", self._on_request)
        await link.listen(HUB_DELIVERY, self.incoming.receive)
        self._link = link
        self._links += 1
        with suppress(EngineAway):
            await self._beat_all()
        for name in list(self.hosts):
            self.host_changed(name)  # messages on the former link may not have arrived

    async def _set_up_host(self, link: Link, host: str) -> None:
        """Each host has its own queue, so that it cannot fill another's."""
        await link.add_queue(f"{EVENTS}_{host}", events_of(host, "*"), from_host=True)
        await link.add_reader(f"{EVENTS}_{host}", "hub", HUB_DELIVERY, done=True)
        await link.add_reader(ORDERS, host, delivery_of(host), subject=orders_to(host))

    async def _join(self, delivery: Delivery) -> None:
        joined = await self._sign_in.join(delivery)
        if joined is None:
            return
        logger.info("The host %s has joined.", joined.name)
        if joined.name in self.hosts:
            await disconnect(self._connect, self._system, joined.name)  # the machine that had the name before
        self.hosts.add(joined)
        assert self._link is not None
        await self._set_up_host(self._link, joined.name)
        await delivery.answer(Reply(data=joined.name).bytes())
        self.host_changed(joined.name)

    async def _on_pulse(self, delivery: Delivery) -> None:
        name = delivery.subject.rpartition(".")[2]
        try:
            pulse = Pulse.read(delivery.data)
        except ValueError as error:  # perhaps from a version that is too different, which its presence says
            self.faults.note(name, f"a pulse: {error}")
            return
        self._spawn(self._take_pulse(name, pulse), name)

    async def _take_pulse(self, name: str, pulse: Pulse) -> None:
        # Until it has greeted this start of the hub, it would apply orders to the work of the former start.
        greeted = pulse.epoch in {None, self._epoch}
        if not greeted:
            self._spawn(self.beat(name), name)  # it greets when it receives the first one
        if self._link is not None and await self.hosts.note_pulse(self._link, name, pulse, greeted=greeted):
            self.runs.resend_lost_orders(name, frozenset(pulse.working))

    async def _on_request(self, delivery: Delivery) -> None:
        name = delivery.subject.rpartition(".")[2]
        # The host chooses where the reply goes, so that must be its own inbox.
        known = name in self.hosts and not self.hosts[name].blocked
        if not known or not delivery.reply.startswith(f"{inbox_of(name)}."):
            self.faults.note(name, "it has asked for an answer to somebody else")
            return
        if self._open_requests[name] >= AT_ONCE:
            self.faults.note(name, "it asks too much at once")
            return
        self._open_requests[name] += 1
        self._spawn(self._answer(name, delivery), name).add_done_callback(
            lambda _: self._open_requests.subtract([name])
        )

    async def _answer(self, host: str, delivery: Delivery) -> None:
        try:
            asked = TO_HUB.validate_json(check_limits(delivery.data))
        except ValueError as error:
            self.faults.note(host, f"a request: {error}")
            await delivery.answer(Reply(error=f"The hub speaks version {SPEAKS} and does not know this.").bytes())
            return
        runs = [run for run, known in self.known_runs.items() if known.host == host]
        body = b""
        match asked:
            case Hello():
                reply = Reply(data={"speaks": SPEAKS, "epoch": self._epoch, "policy": self._policy.rules()})
            case GetFile():
                orders = [self._orders[run] for run in runs if run in self._orders]
                reply, body = await answer_file(self._frames, asked, orders)
            case UseMemory():
                persons = {self.known_runs[run].person for run in runs}
                reply = await answer_memory(self.memory, asked, persons, lambda phone: self.owners.of(phone) == host)
        await delivery.answer(reply.bytes(body))

    # regular work

    async def _run_forever(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Do this work until cancelled; after a fault it begins again, so that the hosts are not left alone."""
        while True:
            try:
                await work()
            except Exception:
                logger.exception("The work of the %s met a fault in the program and begins again", name)
            await asyncio.sleep(self._patience.beat)

    async def _beat_on(self) -> None:
        while True:
            await asyncio.sleep(self._patience.beat)
            self.hosts.look_who_is_away()
            self.runs.retry_deliveries()
            with suppress(EngineAway):
                await self._beat_all()
            try:
                await self.owners.save()
                await self.incoming.drop_stored()
            except OSError as error:
                logger.warning("Reports from hosts that are already in the record could not be deleted yet: %s", error)

    async def _beat_all(self) -> None:
        async with self._beat_lock:
            for name in list(self.hosts):
                with self.faults.of(name):
                    await self._beat_one(name)

    async def _beat_one(self, host: str) -> None:
        if self._link is None or host not in self.hosts or self.hosts[host].blocked:
            return
        self._number += 1
        beat = Beat(
            host=host,
            epoch=self._epoch,
            number=self._number,
            link=self._links,
            leaving=self._leaving,
            runs={
                str(run): RunStatus(received=self.incoming.received(run), hold=self.runs.has_undelivered(run))
                for run, known in self.known_runs.items()
                if known.host == host
            },
            leases=tuple(
                Held(phone=each.phone, run=each.run, fence=each.fence)
                for each in self.runs.leases()
                if self.owners.of(each.phone) == host
                or (each.run in self.known_runs and self.known_runs[each.run].host == host)
            ),
        )
        await self._link.publish(beats_to(host), beat.model_dump_json().encode())

    def host_changed(self, name: str) -> None:
        """Handle a change of a host: notify its runs and listeners, and send it its state."""
        self._host_arrived.set()
        self.runs.host_changed(name)
        self.phones_changed()
        self._spawn(self.beat(name), name)

    def phones_changed(self) -> None:
        """Notify listeners that a host's phones have changed."""
        for listener in self._listeners:
            listener()

    def save_owners(self) -> None:
        """Store new owners of phones in the background. If that fails, it is repeated with the next beat."""
        if self.owners.has_unsaved:
            self._spawn(self.owners.save(), "")

    async def move_phone(self, phone: str, host: str) -> None:
        """Assign the phone to this host, "" for this computer. Raises NotMoved."""
        if host and host not in self.hosts:
            raise NotMoved(words("fleet.unknown", name=host))
        if self.owners.of(phone) is None:
            raise NotMoved(words("fleet.no_phone", phone=phone))
        if self.lease_on(phone) is not None:
            raise NotMoved(words("fleet.move_busy", phone=phone))
        await self.owners.move(phone, host)
        self.phones_changed()

    def _spawn(self, work: Coroutine[Any, Any, None], host: str) -> asyncio.Task[None]:
        """Do this work for a host in the background; errors are counted as that host's."""

        async def do() -> None:
            with suppress(EngineAway), self.faults.of(host):
                await work

        task = asyncio.create_task(do())
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)
        return task
