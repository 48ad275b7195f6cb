"""FleetRunner: sub-tasks on the phones of this machine and of hosts, wherever the phone is."""

from __future__ import annotations

import asyncio
import logging
import secrets as random
import time
from collections import deque
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from agent.control import Cancel, Pause, Signal
from agent.error_mapping import fault_of
from agent.events import Asked, FileFound, Resumed, RunEnded, RunEvent, Seen, Started, Step, TaskEvent, Waiting
from agent.events import Told as TellCard
from agent.outcome import Outcome
from agent.ports.leases import Lease, NoPhone, Place
from agent.ports.runner import RunOrder, RunOutOfReach
from agent.questions import Answer
from agent.run_id import RunId
from agent.runner.active_run import cut_off
from agent.runner.local import LocalRunner
from bot.fleet.engine import EngineAway
from bot.fleet.hub import HostRefused, Hub
from bot.fleet.keys import sealed_for
from bot.fleet.messages import (
    GiveAnswer,
    GiveSignal,
    Item,
    Message,
    PhoneReturned,
    PhoneWanted,
    Refuse,
    Release,
    Rest,
    Told,
)
from bot.fleet.phones import FleetPhones
from bot.store.frames import FrameFiles
from bot.tasks.leases import PhoneLeases
from bot.tasks.queue import NotAdmitted
from bot.tasks.secrets import MemorySecrets
from bot.texts import say

logger = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 1.0
ORDER_AGAIN_S: Final = 4.0
"""A host has begun with what it was told by then."""
ASK_S: Final = 12.0
"""A pause that has to wait for a hanging call takes five seconds, a phone that is given back ten."""


@dataclass(frozen=True, slots=True)
class _HostChanged:
    """The host of the run came, went, or has been away for too long."""


@dataclass(frozen=True, slots=True)
class _Cancelled:
    """Somebody ends the run."""


@dataclass(frozen=True, slots=True)
class _Closing:
    """The service stops."""


_Happening = Item | Place | Lease | NoPhone | _HostChanged | _Cancelled | _Closing


@dataclass
class _Run:
    """A run as the hub follows it: what has happened and was not looked at yet, and what it has still to be told."""

    id: RunId
    happenings: asyncio.Queue[_Happening] = field(default_factory=asyncio.Queue)
    next: int = 1
    """The number of what it tells next."""
    early: dict[int, Item] = field(default_factory=dict)
    told: deque[tuple[int, tuple[str, ...]]] = field(default_factory=deque)
    """Numbers and keys of what was handed on and is not known to be in the record."""
    to_say: list[Message] = field(default_factory=list)
    before: list[Answer | Signal] = field(default_factory=list)
    """What was asked of it before anybody knew who does it."""
    saying: asyncio.Lock = field(default_factory=asyncio.Lock)
    acquiring: asyncio.Task[None] | None = None
    asking: set[str] = field(default_factory=set)
    followed: bool = False
    order: RunOrder | None = None
    """What its host is to do now, None while nobody follows it."""
    ordered: float = 0.0
    """When that was told last, by the steady clock."""


class FleetRunner:
    """Implements agent.ports.runner.Runner: `local` does what is on a phone of this machine, a host what is on its own.

    Whoever does a run keeps it until it is released, whatever becomes of the host: it is begun nowhere else.
    """

    def __init__(
        self,
        local: LocalRunner,
        hub: Hub,
        phones: FleetPhones,
        leases: PhoneLeases,
        secrets: MemorySecrets,
        frames: FrameFiles,
    ) -> None:
        self._local = local
        self._hub = hub
        self._phones = phones
        self._leases = leases
        self._secrets = secrets
        self._frames = frames
        self._runs: dict[RunId, _Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    # Runner

    async def start(self, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        """See Runner."""
        run = self._run(order.run)
        known = self._hub.known.get(order.run)
        if known is None:
            host: str | None = None
            async with aclosing(self._choose(run, order)) as choosing:
                async for found in choosing:
                    if isinstance(found, str):
                        host = found
                    else:
                        yield found
            if host is None:
                return
            known = await self._hub.keep_run(order.run, host, order.person)
        work = self._follow(run, known.host, order) if known.host else self._here(run, order)
        async with aclosing(work) as events:
            async for event in events:
                yield event

    async def answer(self, run: RunId, answer: Answer) -> None:
        """See Runner. The value of a secret leaves this process only when it is encrypted for the host of the run."""
        known = self._hub.known.get(run)
        if known is None:
            self._run(run).before.append(answer)
        elif not known.host:
            await self._local.answer(run, answer)
        else:
            await self._say(run, self._answer_for(known.host, run, answer))

    async def signal(self, run: RunId, signal: Signal) -> None:
        """See Runner. What a host that is away cannot be told now it is told before it goes on."""
        known = self._hub.known.get(run)
        if known is not None and not known.host:
            await self._local.signal(run, signal)
            return
        followed = self._run(run)
        if known is None:
            followed.before.append(signal)
            if isinstance(signal, Cancel):
                followed.happenings.put_nowait(_Cancelled())
            return
        said = await self._say(run, GiveSignal(id=_new_id(), run=run, signal=signal))
        if isinstance(signal, Cancel) and not said:
            followed.happenings.put_nowait(_Cancelled())
        if isinstance(signal, Pause) and not said:
            raise TimeoutError

    async def rest(self, run: RunId) -> None:
        """See Runner."""
        known = self._hub.known.get(run)
        if known is None:
            return
        if known.host:
            await self._say(run, Rest(id=_new_id(), run=run))
        else:
            await self._local.rest(run)

    async def release(self, run: RunId) -> None:
        """See Runner. A host that is away gives the phone back once it hears of it."""
        known = self._hub.known.get(run)
        self._runs.pop(run, None)
        if known is None or not known.host:
            await self._local.release(run)
        if known is None:
            return
        await self._hub.forget_run(run)
        if known.host:
            with suppress(EngineAway):
                await self._hub.ask(known.host, Release(id=_new_id(), run=run), timeout=ASK_S)
            await self._leases.release(run)

    async def shutdown(self) -> None:
        """See Runner. Hosts finish the step that they are in and wait for the next start."""
        self._closing = True
        for run in self._runs.values():
            run.happenings.put_nowait(_Closing())
        await self._local.shutdown()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # HubRuns

    def told(self, run: RunId, item: Item) -> None:
        """See HubRuns. It is followed in the order of its numbers."""
        followed = self._run(run)
        if not followed.followed:
            followed.next = max(followed.next, self._hub.known[run].taken + 1)
        followed.early[item.n] = item
        while (due := followed.early.pop(followed.next, None)) is not None:
            followed.next += 1
            followed.happenings.put_nowait(due)

    def waits_to_say(self, run: RunId) -> bool:
        """See HubRuns."""
        return run in self._runs and bool(self._runs[run].to_say)

    def host_changed(self, host: str) -> None:
        """See HubRuns."""
        for run in list(self._runs.values()):
            known = self._hub.known.get(run.id)
            if known is not None and known.host == host:
                run.happenings.put_nowait(_HostChanged())

    def works_on(self, host: str, runs: frozenset[str]) -> None:
        """See HubRuns. What it should work on and does not was lost on the way, or with its process."""
        now = time.monotonic()
        for run in self._runs.values():
            known = self._hub.known.get(run.id)
            if known is None or known.host != host or run.order is None or str(run.id) in runs:
                continue
            if now - run.ordered > ORDER_AGAIN_S:
                self._later(self._give(run, host, run.order))

    def say_again(self) -> None:
        """See HubRuns."""
        for run in self._runs.values():
            known = self._hub.known.get(run.id)
            if known is not None and run.to_say and not run.saying.locked() and self._hub.hosts.usable(known.host):
                self._later(self._say_all(run, known.host))

    def leases(self) -> Iterable[Lease]:
        """See HubRuns."""
        return self._leases.held

    def in_record(self, task: str, event: TaskEvent) -> None:
        """The record has this event of a task: what its run told up to it need not be kept any more."""
        run = self._runs.get(RunId(task))
        if run is None or (key := _key_of(event)) is None:
            return
        place = next((place for place, (_, known) in enumerate(run.told) if known == key), None)
        if place is not None:
            for _ in range(place + 1):
                number, _ = run.told.popleft()
            while run.told and not run.told[0][1]:
                number, _ = run.told.popleft()
            self._hub.incoming.in_record(run.id, number)

    # who does it

    async def _choose(self, run: _Run, order: RunOrder) -> AsyncGenerator[Waiting | RunEnded | str, None]:
        """The host that is to do it, "" for this machine, after the places in the queue; or the end without a phone."""
        if await self._local.phone_of(order):
            yield ""
            return
        self._acquire(run, order.phone, first=False)
        try:
            while True:
                match await run.happenings.get():
                    case Place() as place:
                        yield Waiting(place=place.number, phone=place.phone)
                    case Lease(phone=phone):
                        yield self._phones.host_of(phone)
                        return
                    case NoPhone() as none:
                        fault = fault_of(none)
                        yield cut_off(order, fault.outcome, fault.sentence)
                        return
                    case _Cancelled():
                        yield cut_off(order, Outcome.CANCELLED, "")
                        return
                    case _Closing():
                        return
                    case _:
                        pass
        finally:
            self._stop_acquiring(run)

    def _acquire(self, run: _Run, wish: str, *, first: bool) -> None:
        """Wait for a phone; what comes of it is a happening."""
        if run.acquiring is None or run.acquiring.done():
            run.acquiring = asyncio.create_task(self._wait_for_phone(run, wish, first=first))

    async def _wait_for_phone(self, run: _Run, wish: str, *, first: bool) -> None:
        while True:
            try:
                async with aclosing(self._leases.acquire(run.id, wish, first=first)) as queue:
                    async for each in queue:
                        run.happenings.put_nowait(each)
            except NoPhone as none:
                if isinstance(none, NotAdmitted) or not self._hub.hosts.awaited:
                    run.happenings.put_nowait(none)
                    return
                await asyncio.sleep(LOOK_AGAIN_S)  # its phone may come with a host that is away for a moment
            else:
                return

    def _stop_acquiring(self, run: _Run) -> None:
        if run.acquiring is not None:
            run.acquiring.cancel()
            run.acquiring = None

    async def _here(self, run: _Run, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        before, run.before = run.before, []
        for each in before:
            if isinstance(each, Answer):
                await self._local.answer(order.run, each)
            else:
                await self._local.signal(order.run, each)
        async with aclosing(self._local.start(order)) as events:
            async for event in events:
                yield event

    # a run at a host

    async def _follow(self, run: _Run, host: str, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        """What the host tells of the run, from where the record ends."""
        self._settle(run)
        run.followed = True
        before, run.before = run.before, []
        for each in before:
            message = (
                self._answer_for(host, run.id, each)
                if isinstance(each, Answer)
                else GiveSignal(id=_new_id(), run=run.id, signal=each)
            )
            await self._say(run.id, message)
        run.order = order
        await self._give(run, host, order)
        wanted: tuple[str, bool] | None = None
        reached = self._hub.hosts.usable(host)
        away = not reached
        if away:
            yield TellCard(text=say("fleet.away", host=host))
        try:
            while True:
                happening = await run.happenings.get()
                match happening:
                    case Told(n=number, event=event):
                        if isinstance(event, RunEnded) and event.subtask != order.subtask:
                            run.told.append((number, ()))
                            continue
                        if isinstance(event, FileFound) and not await self._fetched(host, event):
                            run.happenings.put_nowait(happening)
                            return
                        run.told.append((number, _key_of(event) or ()))
                        self._note_question(run, event)
                        yield event
                        if isinstance(event, RunEnded):
                            return
                    case PhoneWanted(n=number, phone=wish, first=first):
                        run.told.append((number, ()))
                        wanted = (wish, first)
                        self._acquire(run, wish, first=first)
                    case PhoneReturned(n=number, fence=fence):
                        run.told.append((number, ()))
                        if any(each.run == run.id and each.fence == fence for each in self._leases.held):
                            await self._leases.release(run.id)
                    case Place() as place:
                        yield Waiting(place=place.number, phone=place.phone)
                    case Lease():
                        wanted = None
                        with suppress(EngineAway):
                            await self._hub.beat(host)
                    case NoPhone() if not self._hub.hosts.usable(host):
                        pass  # its phones are known once it is there
                    case NoPhone() as none:
                        wanted = None
                        await self._say(run.id, Refuse(id=_new_id(), run=run.id, why=str(none)))
                    case _HostChanged():
                        there = self._hub.hosts.usable(host)
                        reached = reached or there
                        if reached and self._is_lost(host) and not run.asking:
                            raise RunOutOfReach(f"the host {host} stays away")
                        if there:
                            await self._give(run, host, order)
                        if there and wanted is not None:
                            self._acquire(run, wanted[0], first=wanted[1])
                        if there is away:
                            away = not there
                            yield TellCard(text=say("fleet.away", host=host) if away else "")
                    case _Cancelled():
                        if not self._hub.hosts.usable(host):
                            yield cut_off(order, Outcome.CANCELLED, say("fleet.cancelled_away", host=host))
                            return
                    case _Closing():
                        return
        finally:
            run.followed, run.order = False, None
            self._stop_acquiring(run)

    async def _give(self, run: _Run, host: str, order: RunOrder) -> None:
        run.ordered = time.monotonic()
        await self._hub.order(host, order)

    def _is_lost(self, host: str) -> bool:
        known = self._hub.hosts.get(host)
        return known is None or known.lost

    async def _fetched(self, host: str, event: FileFound) -> bool:
        """Whether a file from the phone is kept here; False when the service stops before."""
        while not self._closing:
            try:
                data = await self._hub.file(host, event.content)
            except EngineAway:
                await asyncio.sleep(1.0)
                if self._is_lost(host):
                    raise RunOutOfReach(f"the host {host} stays away") from None
                continue
            except KeyError:
                logger.warning("The host %s does not have the file %s any more.", host, event.name)
                return True
            await self._frames.save(data, suffix=event.content.partition(".")[2])
            return True
        return False

    def _note_question(self, run: _Run, event: RunEvent) -> None:
        match event:
            case Asked(question=question):
                run.asking.add(question.id)
            case Resumed(question=question):
                run.asking.discard(question)
            case RunEnded():
                run.asking.clear()
            case _:
                pass

    def _settle(self, run: _Run) -> None:
        """The main graph goes on, so the end of what was before is in its checkpoint."""
        if run.told:
            self._hub.incoming.in_record(run.id, run.told[-1][0])
            run.told.clear()

    # what it is told

    def _answer_for(self, host: str, run: RunId, answer: Answer) -> GiveAnswer:
        value = self._secrets.take(answer.question)
        sealed = ""
        if value is not None and host in self._hub.hosts:
            sealed = sealed_for(self._hub.hosts[host].known.seal, value)
        return GiveAnswer(id=_new_id(), run=run, answer=answer, sealed=sealed)

    async def _say(self, run: RunId, message: Message) -> bool:
        """Tell a run something; False when its host is told later, or has not done it in time."""
        followed = self._run(run)
        host = self._hub.known[run].host
        followed.to_say.append(message)
        try:
            await self._say_all(followed, host)
        except HostRefused as refused:
            logger.warning("The host %s did not do what it was told: %s", host, refused)
            return False
        return message not in followed.to_say

    async def _say_all(self, run: _Run, host: str) -> None:
        """Tell it all that it was not told yet, in order. Raises HostRefused for what it did not do."""
        async with run.saying:
            while run.to_say and self._hub.hosts.usable(host):
                try:
                    await self._hub.ask(host, run.to_say[0], timeout=ASK_S)
                except HostRefused:
                    run.to_say.pop(0)
                    raise
                except EngineAway as away:
                    logger.info("The host %s is told later: %s", host, away)
                    return
                run.to_say.pop(0)
            with suppress(EngineAway):
                await self._hub.beat(host)

    def _run(self, run: RunId) -> _Run:
        return self._runs.setdefault(run, _Run(run))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.warning("A host did not do what it was told: %s", error)


def _new_id() -> str:
    return random.token_hex(8)


def _key_of(event: RunEvent | TaskEvent) -> tuple[str, ...] | None:
    """By what an event of a run is known again once the record has it, None for one that is not kept."""
    match event:
        case Started(run=run, phone=phone):
            return ("started", str(run), phone)
        case Seen(frame=frame):
            return ("seen", frame)
        case Step(run=run, subtask=subtask, seconds=seconds, frame=frame):
            return ("step", str(run), str(subtask), str(seconds), str(frame))
        case Asked(question=question):
            return ("asked", question.id)
        case Resumed(question=question):
            return ("resumed", question)
        case FileFound(content=content):
            return ("file", content)
        case RunEnded(subtask=subtask):
            return ("ended", str(subtask))
        case _:
            return None
