"""A run at a host as the hub follows it: what happens to it, its phone, and what it is told."""

from __future__ import annotations

import asyncio
import logging
import secrets as random
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final

from agent.control import Signal
from agent.events import Asked, FileFound, Resumed, RunEnded, RunEvent, Seen, Started, Step, TaskEvent, Waiting
from agent.events import Told as TellCard
from agent.outcome import Outcome
from agent.ports.leases import Lease, NoPhone, Place
from agent.ports.runner import RunOrder, RunOutOfReach
from agent.questions import Answer
from agent.run_id import RunId
from agent.runner.active_run import cut_off
from bot.fleet.engine import EngineAway, steady_now
from bot.fleet.hub import HostRefused, Hub
from bot.fleet.keys import sealed_for
from bot.fleet.messages import GiveAnswer, GiveSignal, Item, Message, PhoneReturned, PhoneWanted, Refuse, Told
from bot.store.frames import FrameFiles
from bot.tasks.leases import PhoneLeases
from bot.tasks.queue import NotAdmitted
from bot.tasks.secrets import MemorySecrets
from bot.texts import say

logger = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 1.0
ASK_S: Final = 12.0
"""A pause that has to wait for a hanging call takes five seconds, a phone that is given back ten."""


@dataclass(frozen=True, slots=True)
class HostChanged:
    """The host of the run came, went, or has been away for too long."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Somebody ends the run."""


@dataclass(frozen=True, slots=True)
class Closing:
    """The service stops."""


Happening = Item | Place | Lease | NoPhone | HostChanged | Cancelled | Closing
"""What can happen to a run while it is followed."""


class HostedRun:
    """A run as the hub follows it: what has happened and was not looked at yet, and what it has still to be told."""

    def __init__(self, run: RunId, hub: Hub, leases: PhoneLeases, secrets: MemorySecrets, frames: FrameFiles) -> None:
        self.id = run
        self._hub = hub
        self._leases = leases
        self._secrets = secrets
        self._frames = frames
        self.happenings: asyncio.Queue[Happening] = asyncio.Queue()
        self.next = 1
        """The number of what it tells next."""
        self.early: dict[int, Item] = {}
        self.told: deque[tuple[int, tuple[str, ...]]] = deque()
        """Numbers and keys of what was handed on and is not known to be in the record."""
        self.to_say: list[Message] = []
        self.before: list[Answer | Signal] = []
        """What was asked of it before anybody knew who does it."""
        self.saying = asyncio.Lock()
        self.acquiring: asyncio.Task[None] | None = None
        self.asking: set[str] = set()
        self.followed = False
        self.closing = False
        """Whether the service stops."""
        self.order: RunOrder | None = None
        """What its host is to do now, None while nobody follows it."""
        self.ordered = 0.0
        """When that was told last, by the steady clock."""

    def take(self, item: Item) -> None:
        """Its host has told this, once and in any order; it is followed in the order of the numbers."""
        if not self.followed:
            self.next = max(self.next, self._hub.known[self.id].taken + 1)
        self.early[item.n] = item
        while (due := self.early.pop(self.next, None)) is not None:
            self.next += 1
            self.happenings.put_nowait(due)

    def in_record(self, event: TaskEvent) -> None:
        """The record has this event: what was told up to it need not be kept any more."""
        key = key_of(event)
        place = next((place for place, (_, known) in enumerate(self.told) if known == key), None)
        if key is None or place is None:
            return
        for _ in range(place + 1):
            number, _ = self.told.popleft()
        while self.told and not self.told[0][1]:
            number, _ = self.told.popleft()
        self._hub.incoming.in_record(self.id, number)

    def close(self) -> None:
        """The service stops: it is followed no more."""
        self.closing = True
        self.happenings.put_nowait(Closing())

    # its phone

    def acquire(self, wish: str, *, first: bool) -> None:
        """Wait for a phone; what comes of it is a happening."""
        if self.acquiring is None or self.acquiring.done():
            self.acquiring = asyncio.create_task(self._wait_for_phone(wish, first=first))

    async def _wait_for_phone(self, wish: str, *, first: bool) -> None:
        while True:
            try:
                async with aclosing(self._leases.acquire(self.id, wish, first=first)) as queue:
                    async for each in queue:
                        self.happenings.put_nowait(each)
            except NoPhone as none:
                if isinstance(none, NotAdmitted) or not self._hub.hosts.awaited:
                    self.happenings.put_nowait(none)
                    return
                await asyncio.sleep(LOOK_AGAIN_S)  # its phone may come with a host that is away for a moment
            else:
                return

    def stop_acquiring(self) -> None:
        """Wait for a phone no more."""
        if self.acquiring is not None:
            self.acquiring.cancel()
            self.acquiring = None

    # what its host tells

    async def follow(self, host: str, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        """What the host tells of the run, from where the record ends."""
        self._settle()
        self.followed = True
        before, self.before = self.before, []
        for each in before:
            message = (
                self.answer_for(host, each)
                if isinstance(each, Answer)
                else GiveSignal(id=new_id(), run=self.id, signal=each)
            )
            await self.say(message)
        self.order = order
        await self.give(host, order)
        wanted: tuple[str, bool] | None = None
        reached = self._hub.hosts.usable(host)
        away = not reached
        if away:
            yield TellCard(text=say("fleet.away", host=host))
        try:
            while True:
                happening = await self.happenings.get()
                match happening:
                    case Told(n=number, event=event):
                        if isinstance(event, RunEnded) and event.subtask != order.subtask:
                            self.told.append((number, ()))
                            continue
                        if isinstance(event, FileFound) and not await self._fetched(host, event):
                            self.happenings.put_nowait(happening)
                            return
                        self.told.append((number, key_of(event) or ()))
                        self._note_question(event)
                        yield event
                        if isinstance(event, RunEnded):
                            return
                    case PhoneWanted(n=number, phone=wish, first=first):
                        self.told.append((number, ()))
                        wanted = (wish, first)
                        self.acquire(wish, first=first)
                    case PhoneReturned(n=number, fence=fence):
                        self.told.append((number, ()))
                        if any(each.run == self.id and each.fence == fence for each in self._leases.held):
                            await self._leases.release(self.id)
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
                        await self.say(Refuse(id=new_id(), run=self.id, why=str(none)))
                    case HostChanged():
                        there = self._hub.hosts.usable(host)
                        reached = reached or there
                        if reached and self._is_lost(host) and not self.asking:
                            raise RunOutOfReach(f"the host {host} stays away")
                        if there:
                            await self.give(host, order)
                        if there and wanted is not None:
                            self.acquire(wanted[0], first=wanted[1])
                        if there is away:
                            away = not there
                            yield TellCard(text=say("fleet.away", host=host) if away else "")
                    case Cancelled():
                        if not self._hub.hosts.usable(host):
                            yield cut_off(order, Outcome.CANCELLED, say("fleet.cancelled_away", host=host))
                            return
                    case Closing():
                        return
        finally:
            self.followed, self.order = False, None
            self.stop_acquiring()

    async def give(self, host: str, order: RunOrder) -> None:
        """Give it to its host, which attaches to what is at work already."""
        self.ordered = steady_now()
        await self._hub.order(host, order)

    def _is_lost(self, host: str) -> bool:
        known = self._hub.hosts.get(host)
        return known is None or known.lost

    async def _fetched(self, host: str, event: FileFound) -> bool:
        """Whether a file from the phone is kept here; False when the service stops before."""
        while not self.closing:
            try:
                data = await self._hub.file(host, event.content)
            except EngineAway:
                await asyncio.sleep(1.0)
                if self._is_lost(host):
                    raise RunOutOfReach(f"the host {host} stays away") from None
                continue
            except KeyError:
                logger.warning("The host %s no longer has the file %s.", host, event.name)
                return True
            await self._frames.save(data, suffix=event.content.partition(".")[2])
            return True
        return False

    def _note_question(self, event: RunEvent) -> None:
        match event:
            case Asked(question=question):
                self.asking.add(question.id)
            case Resumed(question=question):
                self.asking.discard(question)
            case RunEnded():
                self.asking.clear()
            case _:
                pass

    def _settle(self) -> None:
        """The main graph goes on, so the end of what was before is in its checkpoint."""
        if self.told:
            self._hub.incoming.in_record(self.id, self.told[-1][0])
            self.told.clear()

    # what it is told

    def answer_for(self, host: str, answer: Answer) -> GiveAnswer:
        """An answer as it crosses. The value of a secret is encrypted for the host, and taken out of this process."""
        value = self._secrets.take(answer.question)
        sealed = ""
        if value is not None and host in self._hub.hosts:
            sealed = sealed_for(self._hub.hosts[host].known.seal, value)
        return GiveAnswer(id=new_id(), run=self.id, answer=answer, sealed=sealed)

    async def say(self, message: Message) -> bool:
        """Tell a run something; False when its host is told later, or has not done it in time."""
        host = self._hub.known[self.id].host
        self.to_say.append(message)
        try:
            await self.say_all(host)
        except HostRefused as refused:
            logger.warning("The host %s did not follow an order: %s", host, refused)
            return False
        return message not in self.to_say

    async def say_all(self, host: str) -> None:
        """Tell it all that it was not told yet, in order. Raises HostRefused for what it did not do."""
        async with self.saying:
            while self.to_say and self._hub.hosts.usable(host):
                try:
                    await self._hub.ask(host, self.to_say[0], timeout=ASK_S)
                except HostRefused:
                    self.to_say.pop(0)
                    raise
                except EngineAway as away:
                    logger.info("The host %s is told later: %s", host, away)
                    return
                self.to_say.pop(0)
            with suppress(EngineAway):
                await self._hub.beat(host)


def new_id() -> str:
    """The id of a request: what comes twice is done once."""
    return random.token_hex(8)


def key_of(event: RunEvent | TaskEvent) -> tuple[str, ...] | None:
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
