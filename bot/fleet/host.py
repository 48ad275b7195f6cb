"""The host's side: it does the runs that the hub gives it, beside its own phones, and tells of them by number.

What holds comes with the hub's beats. A host that hears none goes on to the next safe point and stands still; what it
has told and nobody has heard is kept, and told again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets as random
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from agent.control import Pause, Resume
from agent.error_mapping import fault_of
from agent.events import RunEvent
from agent.ports.frames import Frames
from agent.ports.leases import Lease, NoPhone, Place
from agent.ports.runner import Runner, RunOrder
from agent.run_id import RunId
from agent.runner.active_run import cut_off
from bot.fleet.engine import Address, Delivery, EngineAway, EngineRefused, Link, connected, keep_connected
from bot.fleet.keys import HostKeys, public_of
from bot.fleet.messages import (
    JOIN,
    PRESENCE,
    SPEAKS,
    TO_HOST,
    Beat,
    GetFile,
    GiveAnswer,
    GiveSignal,
    Held,
    Hello,
    Item,
    Message,
    OrderSent,
    Patience,
    PhoneReturned,
    PhoneThere,
    PhoneWanted,
    Presence,
    Pulse,
    Refuse,
    Release,
    Reply,
    Rest,
    Told,
    UsePhone,
    Wish,
    asked_by,
    asked_of,
    beats_to,
    events_of,
    inbox_of,
    pulse_of,
    read_reply,
    understands,
)
from bot.fleet.phone_calls import PhoneCalls
from bot.fleet.pieces import all_pieces, piece_of
from bot.fleet.sign_in import JOIN_INBOX, delivery_of
from bot.logs.context import ABOUT, About
from bot.store.store import Store
from bot.tasks.secrets import MemorySecrets
from bot.texts import speaking
from devices.phone import Phones

logger = logging.getLogger(__name__)

DROP_S: Final = 20.0
IDS_KEPT: Final = 1000


class JoinRefused(EngineAway):
    """The hub did not take the invitation."""


async def join(url: str, name: str, code: str) -> HostKeys:
    """Use the code of an invitation up; the keys of the host that has joined by it. Raises EngineAway, JoinRefused."""
    made = HostKeys.new(name, url)
    wish = Wish(code=code, nkey=public_of(made.user), seal=made.seal)
    try:
        async with connected(Address(url, "join", JOIN_INBOX, code=code)) as link:
            reply, _ = read_reply(await link.request(JOIN, wish.model_dump_json().encode()))
    except EngineRefused as refused:
        raise JoinRefused("It does not hold, or not any more.") from refused
    if reply.error:
        raise JoinRefused(reply.error)
    return made


class HostFrames:
    """Implements Frames at a host: what came with a task is the hub's, all else is kept here."""

    def __init__(self, frames: Frames, from_hub: Callable[[str], Awaitable[bytes]]) -> None:
        self._frames = frames
        self._from_hub = from_hub

    async def save(self, data: bytes, *, suffix: str) -> str:
        """See Frames."""
        return await self._frames.save(data, suffix=suffix)

    async def load(self, reference: str) -> bytes:
        """See Frames."""
        try:
            return await self._frames.load(reference)
        except KeyError:
            try:
                data = await self._from_hub(reference)
            except EngineAway:
                raise KeyError(reference) from None
            await self._frames.save(data, suffix=reference.partition(".")[2])
            return data


@dataclass
class _Run:
    """A run of this host. `order` is the last one that it was given; `working` is the work on it."""

    id: RunId
    order: RunOrder | None = None
    language: str = "en"
    working: asyncio.Task[None] | None = None
    held: bool = False
    """Whether it stands still because the hub is not heard, and not because a person wants it."""
    paused: bool = False
    """Whether a person wants it to stand still."""
    refused: str = ""
    """Why there is no phone for it."""
    lease: Lease | None = None
    arrived: int = 0
    since: int = 0
    """The beat since which the hub knows of it."""
    stopping: asyncio.Lock = field(default_factory=asyncio.Lock)
    switching: asyncio.Lock = field(default_factory=asyncio.Lock)
    ending: bool = False

    @property
    def alive(self) -> bool:
        """Whether it is worked on now."""
        return self.working is not None and not self.working.done()


class HostLeases:
    """Implements Leases at a host: the hub has the queues, and the record of who holds what."""

    def __init__(self, host: Host) -> None:
        self._host = host

    async def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncGenerator[Place | Lease, None]:
        """See Leases. Places in the queue are told by the hub."""
        yield await self._host.lease_for(run, wish, first=first)

    async def release(self, run: RunId) -> None:
        """See Leases."""
        await self._host.give_back(run)


MakeRunner = Callable[[dict[str, Any], "Host"], Runner]
"""Makes what does the runs, by the rules of the hub (as `Policy.rules` writes them) and of this host together."""


class Host:
    """Joins its hub at `run`, which ends only when it is cancelled. `store`, `phones` and the rest are its own."""

    def __init__(
        self,
        keys: HostKeys,
        store: Store,
        phones: Phones,
        secrets: MemorySecrets,
        make_runner: MakeRunner,
        *,
        version: str = "",
        speaks: int = SPEAKS,
        patience: Patience | None = None,
    ) -> None:
        self.keys = keys
        self._store = store
        self._phones = phones
        self._secrets = secrets
        self._make_runner = make_runner
        self._version = version
        self._speaks = speaks
        self._patience = patience or Patience()
        self._boot = random.token_hex(8)
        self._number = 0
        self._told_phones: tuple[PhoneThere, ...] | None = None
        self._link: Link | None = None
        self._runner: Runner | None = None
        self._epoch = 0
        self._beat: Beat | None = None
        self._heard = float("-inf")
        self._runs: dict[RunId, _Run] = {}
        self._changed = asyncio.Event()
        self._outgoing = asyncio.Event()
        self._unsent: OrderedDict[tuple[RunId, int], tuple[str, float]] = OrderedDict()
        self._ids: OrderedDict[str, bytes] = OrderedDict()
        self._turn = asyncio.Lock()
        self._saying = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.frames = HostFrames(store.frames.patient(), self._file_of_hub)
        self.leases = HostLeases(self)
        self._calls = PhoneCalls(phones.get, store.journal, self._adopt_held, self._stands_still, keys.opened)

    @property
    def is_joined(self) -> bool:
        """Whether the hub is heard now."""
        return self._runner is not None and time.monotonic() - self._heard < self._patience.cut

    async def run(self, *, ready: Callable[[], None] = lambda: None) -> None:
        """Work for the hub until this is cancelled; `ready` is called when it is heard first."""
        self._ready = ready
        await self._store.leases.release_all(now=time.time())
        for known in await self._store.fleet.runs():
            self._runs[known.run] = _Run(known.run, arrived=0)
        for run, number, body in await self._store.fleet.events():
            self._unsent[run, number] = (body, 0.0)
        address = Address(self.keys.url, self.keys.name, inbox_of(self.keys.name), seed=self.keys.user)
        work = [
            keep_connected(address, self._begin),
            self._pulse(),
            self._send(),
            self._watch_phones(),
        ]
        try:
            async with asyncio.TaskGroup() as group:
                for each in work:
                    group.create_task(each)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.gather(*(self._drop(run) for run in self._runs.values()))

    # what runs need

    async def lease_for(self, run_id: RunId, wish: str, *, first: bool) -> Lease:
        """The lease that the hub gives the run, once the phone is free here as well. Raises NoPhone."""
        run = self._run(run_id)
        if run.lease is not None:
            return run.lease
        run.refused = ""
        await self._tell(run_id, lambda n: PhoneWanted(n=n, phone=wish, first=first))
        while True:
            self._changed.clear()
            if run.refused:
                raise NoPhone(run.refused)
            given = () if self._beat is None else self._beat.leases
            held = next((each for each in given if each.run == run_id), None)
            taken = held is not None and any(
                other.lease is not None and other.lease.phone == held.phone and other is not run
                for other in self._runs.values()
            )
            if held is not None and not taken:
                run.lease = Lease(held.phone, run_id, held.fence)
                await self._store.leases.adopt(run.lease, now=time.time())
                return run.lease
            await self._changed.wait()

    async def give_back(self, run_id: RunId) -> None:
        """The run does not use its phone any more."""
        run = self._runs.get(run_id)
        if run is None or run.lease is None:
            return
        lease, run.lease = run.lease, None
        await self._store.leases.release(run_id, now=time.time())
        await self._tell(run_id, lambda n: PhoneReturned(n=n, fence=lease.fence))
        self._changed.set()

    async def ask(self, message: Message) -> tuple[Reply, bytes]:
        """Ask the hub. Raises EngineAway, also when it refuses."""
        if self._link is None:
            raise EngineAway("the hub is not reached")
        data = await self._link.request(asked_by(self.keys.name), message.model_dump_json().encode(), timeout=10.0)
        try:
            reply, body = read_reply(data)
        except ValidationError as error:
            raise EngineAway("the hub has answered in a way that is not understood") from error
        if reply.error:
            raise EngineAway(reply.error)
        return reply, body

    async def ask_memory(self, message: Message) -> Reply:
        """Ask the hub's memory. Raises EngineAway."""
        return (await self.ask(message))[0]

    async def _file_of_hub(self, reference: str) -> bytes:
        async def piece(offset: int) -> tuple[Reply, bytes]:
            return await self.ask(GetFile(reference=reference, offset=offset))

        return await all_pieces(reference, piece)

    # the link

    async def _begin(self, link: Link) -> None:
        name = self.keys.name
        await link.listen(beats_to(name), self._on_beat)
        await link.listen(asked_of(name), self._on_ask)
        await link.listen(delivery_of(name), self._on_order)
        self._link = link
        self._told_phones = None
        # What was sent on a link that has ended may not have arrived.
        self._unsent = OrderedDict((key, (body, 0.0)) for key, (body, _) in self._unsent.items())
        self._outgoing.set()
        self._later(self._say_all())

    async def _say_all(self) -> None:
        if self._saying.locked():
            return  # whoever says it now says all that there is, or is followed by the next pulse
        async with self._saying:
            try:
                await self._say_presence()
                await self._say_pulse()
            except EngineAway as away:
                logger.debug("the hub is told later what there is: %s", away)

    async def _say_presence(self) -> None:
        phones = tuple(PhoneThere.of(info) for info in self._phones.list())
        if phones == self._told_phones or self._link is None:
            return
        number = self._number + 1
        presence = Presence(boot=self._boot, number=number, speaks=self._speaks, version=self._version, phones=phones)
        await self._link.store(f"$KV.{PRESENCE}.{self.keys.name}", presence.model_dump_json().encode(), id="")
        self._told_phones, self._number = phones, number

    async def _say_pulse(self) -> None:
        if self._link is not None and self._number:
            working = tuple(str(run.id) for run in self._runs.values() if run.alive)
            pulse = Pulse(boot=self._boot, number=self._number, working=working)
            await self._link.publish(pulse_of(self.keys.name), pulse.model_dump_json().encode())

    async def _pulse(self) -> None:
        while True:
            with suppress(EngineAway):
                await self._say_pulse()
            self._later(self._say_all())
            if time.monotonic() - self._heard > self._patience.cut:
                await self._hold_all()
            now = time.monotonic()
            if any(now - sent > self._patience.again for _, sent in self._unsent.values()):
                self._outgoing.set()
            await asyncio.sleep(self._patience.beat)

    async def _watch_phones(self) -> None:
        while True:
            await self._phones.wait_for_change()
            await self._say_all()

    # what holds

    async def _on_beat(self, delivery: Delivery) -> None:
        try:
            beat = Beat.model_validate_json(delivery.data)
        except ValidationError:
            logger.warning("The hub's beat is not understood; is it of another version?")
            return
        if beat.host != self.keys.name or (beat.epoch, beat.number) <= self._last:
            return
        async with self._turn:
            if beat.epoch != self._epoch and not await self._greet(beat.epoch):
                return
            self._beat = beat
            if beat.leaving:
                self._heard = float("-inf")
                await self._hold_all()
                return
            self._heard = time.monotonic()
            self._changed.set()
            for run in list(self._runs.values()):
                await self._judge(run, beat)

    @property
    def _last(self) -> tuple[int, int]:
        return (0, 0) if self._beat is None else (self._beat.epoch, self._beat.number)

    async def _greet(self, epoch: int) -> bool:
        """Another start of the hub: what was done for the former one begins anew by its orders, from its checkpoints.

        False when the hub did not answer; its next beat comes soon.
        """
        try:
            reply, _ = await self.ask(Hello())
            speaks, policy = int(reply.data["speaks"]), dict(reply.data["policy"])
        except (EngineAway, TypeError, KeyError, ValueError) as error:
            logger.info("The hub did not say by which rules it works: %s", error)
            return False
        if not understands(speaks):
            logger.error("The hub speaks version %d and this host %d; update the older one.", speaks, self._speaks)
            return False
        await asyncio.gather(*(self._drop(run) for run in self._runs.values()))
        self._runner = self._make_runner(policy, self)
        if not self._epoch:
            self._ready()
        self._epoch = epoch
        logger.info("Joined to the hub as %s.", self.keys.name)
        return True

    async def _judge(self, run: _Run, beat: Beat) -> None:
        """Whether a run may go on, as things stand with the hub."""
        standing = beat.runs.get(str(run.id))
        if standing is None:
            if beat.number >= run.since and not run.ending:
                run.ending = True
                self._later(self._forget(run))
            return
        if standing.received > run.arrived:
            run.arrived = standing.received
            for key in [key for key in self._unsent if key[0] == run.id and key[1] <= standing.received]:
                del self._unsent[key]
            await self._store.fleet.drop_events({run.id: standing.received})
        lease = run.lease
        kept = lease is None or any((each.run, each.fence) == (lease.run, lease.fence) for each in beat.leases)
        if not kept:
            logger.warning("Run %s has lost its phone and waits for an order.", run.id)
            self._later(self._drop(run))
        elif run.held and not standing.hold:
            run.held = False
            self._later(self._go_on(run))

    async def _hold_all(self) -> None:
        """The hub is not heard: every run goes on to its next safe point and stands still there."""
        for run in self._runs.values():
            if run.alive and not run.held and self._runner is not None:
                run.held = True
                logger.warning("The hub is not heard: run %s stands still at the next safe point.", run.id)
                self._later(self._still(run))

    async def _still(self, run: _Run) -> None:
        assert self._runner is not None
        async with run.switching:
            if run.held:
                with suppress(TimeoutError):
                    await self._runner.signal(run.id, Pause())

    async def _go_on(self, run: _Run) -> None:
        """Never before what was begun to let it stand still."""
        assert self._runner is not None
        async with run.switching:
            if not run.held and not run.paused and run.alive:
                await self._runner.signal(run.id, Resume())

    async def _drop(self, run: _Run) -> None:
        """Stop the work on a run at a safe point. What is done of it stays in its checkpoint."""
        async with run.stopping:
            runner, working = self._runner, run.working
            run.held = run.paused = False
            if runner is None:
                return
            if working is not None and not working.done():
                with suppress(TimeoutError):
                    await runner.signal(run.id, Pause())
                working.cancel()
                await asyncio.wait({working}, timeout=DROP_S)
            run.working = None
            await runner.release(run.id)

    async def _forget(self, run: _Run) -> None:
        """The run is over."""
        await self._drop(run)
        self._runs.pop(run.id, None)
        for key in [key for key in self._unsent if key[0] == run.id]:
            del self._unsent[key]
        await self._store.fleet.forget_run(run.id)
        self._changed.set()

    # orders

    async def _on_order(self, delivery: Delivery) -> None:
        try:
            sent = OrderSent.model_validate_json(delivery.data)
        except ValidationError:
            logger.warning("An order of the hub is not understood; is it of another version?")
            await delivery.done()
            return
        if sent.host != self.keys.name:
            return
        async with self._turn:
            if sent.epoch > self._epoch:
                return  # it comes again, once this start of the hub is known
            if sent.epoch == self._epoch and self._is_wanted(sent):
                await self._take_order(sent)
            await delivery.done()

    def _is_wanted(self, sent: OrderSent) -> bool:
        """Whether the order still holds: the hub may have let go of the run since it was sent."""
        beat = self._beat
        return beat is None or beat.number < sent.number or str(sent.order.run) in beat.runs

    async def _take_order(self, sent: OrderSent) -> None:
        order = sent.order
        run = self._run(order.run)
        run.since = max(run.since, sent.number)
        if run.alive and run.order is not None and order.subtask <= run.order.subtask:
            return  # it is at work already: the hub attaches to it
        if run.order is not None and order.subtask < run.order.subtask:
            return
        if run.alive:
            assert run.working is not None
            await asyncio.wait({run.working}, timeout=DROP_S)
        async with run.stopping:
            pass  # what was stopped is put away first
        await self._store.fleet.keep_run(order.run, "", order.person)
        run.order, run.language, run.ending = order, sent.language, False
        run.working = asyncio.create_task(self._work(run, order), name=f"run {order.run}")

    async def _work(self, run: _Run, order: RunOrder) -> None:
        runner = self._runner
        assert runner is not None
        ABOUT.set(About(order.run.task))
        with speaking(run.language):
            try:
                events: AsyncIterator[RunEvent] = runner.start(order)
                assert isinstance(events, AsyncGenerator)
                async with aclosing(events):
                    async for event in events:
                        await self._tell(order.run, lambda n, event=event: Told(n=n, event=event))  # type: ignore[misc]
            except Exception as error:
                logger.exception("the work on run %s failed", order.run)
                fault = fault_of(error)
                end = cut_off(order, fault.outcome, fault.sentence)
                await self._tell(order.run, lambda n: Told(n=n, event=end))

    def _run(self, run: RunId) -> _Run:
        return self._runs.setdefault(run, _Run(run))

    def _stands_still(self, run_id: RunId) -> bool:
        run = self._runs.get(run_id)
        return run is None or not run.alive or run.paused

    async def _adopt_held(self, held: Held) -> None:
        run = self._runs.get(held.run)
        if run is None or run.lease is None:
            await self._store.leases.adopt(Lease(held.phone, held.run, held.fence), now=time.time())

    # what is told

    async def _tell(self, run: RunId, item: Callable[[int], Item]) -> None:
        """Keep it under its number, then send it."""
        if run not in self._runs:
            return
        body = item(0).model_dump_json()
        number = await self._store.fleet.write_event(run, body)
        if number:
            self._unsent[run, number] = (body, 0.0)
            self._outgoing.set()

    async def _send(self) -> None:
        """Send what is due, in order."""
        while True:
            await self._outgoing.wait()
            self._outgoing.clear()
            now = time.monotonic()
            due = [key for key, (_, sent) in self._unsent.items() if now - sent > self._patience.again]
            for key in due:
                if key not in self._unsent or self._link is None:
                    continue
                run, number = key
                body = self._unsent[key][0].replace('"n":0', f'"n":{number}', 1)
                try:
                    name = f"{self.keys.name}.{self._boot}.{run}.{number}.{int(now)}"
                    await self._link.store(events_of(self.keys.name, run), body.encode(), id=name)
                except EngineAway as away:
                    logger.debug("what run %s tells waits: %s", run, away)
                    break
                if key in self._unsent:
                    self._unsent[key] = (body, time.monotonic())

    # what the hub asks

    async def _on_ask(self, delivery: Delivery) -> None:
        self._later(self._answer(delivery))

    async def _answer(self, delivery: Delivery) -> None:
        try:
            asked = TO_HOST.validate_json(delivery.data)
        except ValidationError:
            await delivery.answer(Reply(error=f"This host speaks version {SPEAKS} and does not know that.").bytes())
            return
        known = getattr(asked, "id", "")
        if known in self._ids:
            await delivery.answer(self._ids[known])
            return
        try:
            reply, body = await self._do(asked)
        except TimeoutError:
            reply, body = Reply(error="It does not stand still yet."), b""
        except (ValueError, KeyError, TypeError) as error:
            logger.exception("what the hub has asked could not be done")
            reply, body = Reply(error=f"This could not be done: {type(error).__name__}."), b""
        answer = reply.bytes(body)
        if known:
            self._ids[known] = answer
            if len(self._ids) > IDS_KEPT:
                self._ids.popitem(last=False)
        await delivery.answer(answer)

    async def _do(self, asked: Message) -> tuple[Reply, bytes]:
        runner = self._runner
        if isinstance(asked, GetFile):
            return await piece_of(self._store.frames, asked)
        if isinstance(asked, UsePhone):
            return await self._calls.do(asked)
        if runner is None:
            return Reply(error="This host does not know its hub yet."), b""
        match asked:
            case GiveAnswer(run=run, answer=answer, sealed=sealed):
                if sealed:
                    self._secrets.keep(answer.question, self.keys.opened(sealed))
                await runner.answer(run, answer)
            case GiveSignal(run=run, signal=signal):
                known = self._run(run)
                if isinstance(signal, Pause | Resume):
                    known.paused = isinstance(signal, Pause)
                if not (known.held and isinstance(signal, Resume)):
                    await runner.signal(run, signal)
            case Rest(run=run):
                await runner.rest(run)
            case Release(run=run):
                async with self._turn:
                    if run in self._runs:
                        await self._forget(self._runs[run])
            case Refuse(run=run, why=why):
                self._run(run).refused = why
                self._changed.set()
        return Reply(), b""

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
