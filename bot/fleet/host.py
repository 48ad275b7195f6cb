"""A host: joins its hub, reports its phones, receives the hub's state, and carries out its requests.

The hub sends its state every two seconds (beats). A host that receives none lets its runs continue to the next safe
point and pauses them.
"""

from __future__ import annotations

import asyncio
import logging
import secrets as random
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

from pydantic import ValidationError

from agent.ports.runner import Runner
from bot.fleet.engine import Address, Connect, Delivery, EngineAway, Link, end_tasks, keep_connected, steady_now
from bot.fleet.host_requests import HostFrames, all_pieces, piece_of
from bot.fleet.host_runs import HostLeases, HostRuns
from bot.fleet.keys import HostKeys
from bot.fleet.messages import (
    PRESENCE,
    SPEAKS,
    TO_HOST,
    Beat,
    GetFile,
    GiveAnswer,
    GiveSignal,
    Hello,
    Message,
    OrderSent,
    Patience,
    PhoneReturned,
    PhoneThere,
    Presence,
    Pulse,
    Refuse,
    Release,
    Reply,
    Rest,
    UsePhone,
    asked_by,
    asked_of,
    beats_to,
    inbox_of,
    pulse_of,
    read_reply,
    understands,
)
from bot.fleet.nats_engine import connected
from bot.fleet.outgoing import Outgoing
from bot.fleet.phone_calls import PhoneCalls
from bot.fleet.sign_in import delivery_of
from bot.store.store import Store
from bot.tasks.secrets import MemorySecrets
from devices.phone import Phones

logger = logging.getLogger(__name__)

IDS_KEPT: Final = 1000
"""Requests whose answers are remembered, so that a repeated one is carried out once."""

MakeRunner = Callable[[dict[str, Any], "Host"], Runner]
"""Creates the runner, which follows the rules of the hub (in the form of `Policy.rules`) and of this host together."""


class Host:
    """A host of a fleet: a computer with its own `store` and `phones` that works for a hub. `run` connects it until
    cancelled.
    """

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
        connect: Connect = connected,
    ) -> None:
        self._connect = connect
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
        self._reported_phones: tuple[PhoneThere, ...] | None = None
        self._link: Link | None = None
        self._epoch = 0
        self._logged_epoch = 0
        """The start of the hub for which a different version was already logged."""
        self._last_beat: Beat | None = None
        self._last_heard = float("-inf")
        self._replies: OrderedDict[str, asyncio.Task[bytes]] = OrderedDict()
        self._lock = asyncio.Lock()
        self._report_lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self.frames = HostFrames(store.frames.patient(), self._file_of_hub)
        self._outgoing = Outgoing(keys.name, store.fleet, self._patience.again)
        self.leases = HostLeases(store.leases, self._outgoing.write)
        self._runs = HostRuns(store.fleet, self.leases, self._outgoing)
        self._calls = PhoneCalls(phones.get, store.journal, self.leases.adopt, self._runs.is_idle, keys.opened)

    async def run(self, *, ready: Callable[[], None] = lambda: None) -> None:
        """Work for the hub until cancelled. `ready` is called at the first contact with the hub."""
        self._ready = ready
        await self._store.leases.release_all(now=time.time())
        await self._runs.load()
        for run, item in await self._outgoing.load():
            if isinstance(item, PhoneReturned):
                self.leases.note_returned(run, item.fence)
        address = Address(self.keys.url, self.keys.name, inbox_of(self.keys.name), seed=self.keys.user)
        work = [
            asyncio.create_task(each)
            for each in (
                keep_connected(self._connect, address, self._on_connect),
                self._pulse(),
                self._outgoing.send(),
                self._watch_phones(),
            )
        ]
        try:
            done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()  # none of them ends on its own
        finally:
            await end_tasks(*work, *self._tasks)
            await self._runs.stop()
            await self._outgoing.stop()

    # requests to the hub

    async def ask(self, message: Message) -> tuple[Reply, bytes]:
        """Send a request to the hub and return its reply and the bytes that came with it. Raises EngineAway, also if
        the hub refuses.
        """
        if self._link is None:
            raise EngineAway("the hub is not reached")
        data = await self._link.request(asked_by(self.keys.name), message.model_dump_json().encode(), timeout=10.0)
        try:
            reply, body = read_reply(data)
        except ValueError as error:
            raise EngineAway("the hub has answered in a way that is not understood") from error
        if reply.error:
            raise EngineAway(reply.error)
        return reply, body

    async def ask_memory(self, message: Message) -> Reply:
        """Send a request about people's remembered facts to the hub, and return its reply. Raises EngineAway, also if
        the hub refuses.
        """
        return (await self.ask(message))[0]

    async def _file_of_hub(self, reference: str) -> bytes:
        return await all_pieces(reference, self.ask)

    # the link

    async def _on_connect(self, link: Link) -> None:
        name = self.keys.name
        await link.listen(beats_to(name), self._on_beat)
        await link.listen(asked_of(name), self._on_request)
        await link.listen(delivery_of(name), self._on_order)
        self._link = link
        self._reported_phones = None
        self._outgoing.use(link)
        self._spawn(self._report())

    async def _report(self) -> None:
        if self._report_lock.locked():
            return  # the report in progress, or the next pulse, covers everything
        async with self._report_lock:
            try:
                await self._publish_presence()
                await self._publish_pulse()
            except EngineAway as away:
                logger.debug("the hub is told later what there is: %s", away)

    async def _publish_presence(self) -> None:
        phones = tuple(PhoneThere.of(info) for info in self._phones.list())
        if phones == self._reported_phones or self._link is None:
            return
        number = self._number + 1
        presence = Presence(boot=self._boot, number=number, speaks=self._speaks, version=self._version, phones=phones)
        await self._link.put(PRESENCE, self.keys.name, presence.model_dump_json().encode())
        self._reported_phones, self._number = phones, number

    async def _publish_pulse(self) -> None:
        if self._link is not None and self._number:
            pulse = Pulse(boot=self._boot, number=self._number, epoch=self._epoch, working=self._runs.working)
            await self._link.publish(pulse_of(self.keys.name), pulse.model_dump_json().encode())

    async def _pulse(self) -> None:
        while True:
            with suppress(EngineAway):
                await self._publish_pulse()
            self._spawn(self._report())
            if steady_now() - self._last_heard > self._patience.cut:
                self._runs.suspend_all()
            self._outgoing.resend_overdue()
            await asyncio.sleep(self._patience.beat)

    async def _watch_phones(self) -> None:
        while True:
            await self._phones.wait_for_change()
            await self._report()

    # the hub's state

    async def _on_beat(self, delivery: Delivery) -> None:
        try:
            beat = Beat.model_validate_json(delivery.data)
        except ValidationError:
            logger.warning("A beat from the hub could not be read and was ignored; the hub may run another version.")
            return
        if beat.host != self.keys.name or (beat.epoch, beat.number) <= self._last_beat_key:
            return
        async with self._lock:
            if beat.epoch != self._epoch and not await self._handshake(beat.epoch):
                return
            before, self._last_beat = self._last_beat, beat
            if beat.leaving:
                self._last_heard = float("-inf")
                self._runs.suspend_all()
                return
            was_silent = steady_now() - self._last_heard > 2 * self._patience.beat
            self._last_heard = steady_now()
            if was_silent:
                self._spawn(self._report())  # the hub has not heard from this host for as long either
            self.leases.set_granted(beat.leases)
            await self._runs.apply_beat(beat)
            if before is not None and (before.epoch, before.link) != (beat.epoch, beat.link):
                self._outgoing.resend_all()

    @property
    def _last_beat_key(self) -> tuple[int, int]:
        return (0, 0) if self._last_beat is None else (self._last_beat.epoch, self._last_beat.number)

    async def _handshake(self, epoch: int) -> bool:
        """Greet a new start of the hub. Work for the former start is dropped, and begins again from its checkpoints
        when ordered.

        False if the hub did not answer; its next beat comes soon.
        """
        try:
            reply, _ = await self.ask(Hello())
            speaks, policy = int(reply.data["speaks"]), dict(reply.data["policy"])
        except (EngineAway, TypeError, KeyError, ValueError) as error:
            logger.info("The hub did not say by which rules it works: %s", error)
            return False
        if not understands(speaks):
            if epoch != self._logged_epoch:
                logger.error(
                    "The hub uses protocol version %d and this host %d. Update the older one.", speaks, self._speaks
                )
            self._logged_epoch = epoch
            return False
        await self._runs.use(self._make_runner(policy, self))
        if not self._epoch:
            self._ready()
        self._epoch = epoch
        logger.info("Joined to the hub as %s.", self.keys.name)
        return True

    # orders

    async def _on_order(self, delivery: Delivery) -> None:
        try:
            sent = OrderSent.model_validate_json(delivery.data)
        except ValidationError:
            logger.warning("An order from the hub could not be read and was ignored; the hub may run another version.")
            return
        if sent.host != self.keys.name:
            return
        async with self._lock:
            # An order from a start of the hub that is not known yet is sent again, as its run is not being worked on.
            if sent.epoch == self._epoch and self._is_wanted(sent):
                await self._runs.take_order(sent)

    def _is_wanted(self, sent: OrderSent) -> bool:
        """Return whether the order is still valid: the hub may have abandoned the run since it was sent."""
        beat = self._last_beat
        return beat is None or beat.number < sent.number or str(sent.order.run) in beat.runs

    # requests from the hub

    async def _on_request(self, delivery: Delivery) -> None:
        self._spawn(self._answer(delivery))

    async def _answer(self, delivery: Delivery) -> None:
        try:
            asked = TO_HOST.validate_json(delivery.data)
        except ValidationError:
            await delivery.answer(Reply(error=f"This host speaks version {SPEAKS} and does not know that.").bytes())
            return
        doing = self._replies.get(getattr(asked, "id", ""))
        if doing is None:
            doing = asyncio.create_task(self._answer_to(asked))
            if hasattr(asked, "id"):
                self._replies[asked.id] = doing
                if len(self._replies) > IDS_KEPT:
                    self._replies.popitem(last=False)
        try:
            await delivery.answer(await asyncio.shield(doing))
        except OSError as error:
            logger.warning("A request from the hub failed; the hub will send it again: %s", error)
            self._replies.pop(getattr(asked, "id", ""), None)

    async def _answer_to(self, asked: Message) -> bytes:
        try:
            reply, body = await self._carry_out(asked)
        except TimeoutError:
            reply, body = Reply(error="It does not stand still yet."), b""
        except OSError:
            raise
        except Exception as error:
            logger.exception("A request from the hub failed because of a fault in the program")
            reply, body = Reply(error=f"This could not be done: {type(error).__name__}."), b""
        return reply.bytes(body)

    async def _carry_out(self, asked: Message) -> tuple[Reply, bytes]:
        runner = self._runs.runner
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
                await self._runs.signal(runner, run, signal)
            case Rest(run=run):
                await runner.rest(run)
            case Release(run=run):
                await self._runs.release(run)
            case Refuse(run=run, why=why):
                self.leases.refuse(run, why)
        return Reply(), b""

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
