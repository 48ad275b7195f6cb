"""A run on a host, as the hub follows it: its events, its phone, and the messages to it."""

from __future__ import annotations

import asyncio
import logging
import secrets as random
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from enum import Enum, auto
from typing import Final

from agent.control import Signal
from agent.events import Asked, FileFound, Resumed, RunEnded, RunEvent, Seen, Started, Step, TaskEvent, Waiting
from agent.events import Told as TellCard
from agent.ports.leases import Lease, NoPhone, Place
from agent.ports.runner import RunOrder, RunOutOfReach
from agent.questions import Answer
from agent.run import Outcome, RunId
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
"""Seconds to wait for a host's answer: a pause behind a hanging call takes five, returning a phone ten."""


class Change(Enum):
    """What can happen around a run while it is followed."""

    HOST = auto()
    """The host of the run came, left, restarted or has been away for too long, or the hub is connected anew."""
    CANCELLED = auto()
    """The run is being cancelled."""
    CLOSING = auto()
    """The service is stopping."""


HostedRunEvent = Item | Place | Lease | NoPhone | Change
"""Everything that can happen to a run while it is followed."""


class HostedRun:
    """A run on a host, as the hub follows it, with events that are not processed and messages that are not delivered
    yet.

    `leases` are the hub's; `secrets` contains secret answers; `frames` stores files that the host delivers.
    """

    def __init__(self, run: RunId, hub: Hub, leases: PhoneLeases, secrets: MemorySecrets, frames: FrameFiles) -> None:
        self.id = run
        self._hub = hub
        self._leases = leases
        self._secrets = secrets
        self._frames = frames
        self.events: asyncio.Queue[HostedRunEvent] = asyncio.Queue()
        self.next = 1
        """Number of the next message expected from the host."""
        self.out_of_order: dict[int, Item] = {}
        self.unconfirmed: deque[tuple[int, tuple[str, ...]]] = deque()
        """Numbers and keys of events that were passed on but are not yet known to be stored."""
        self.undelivered: list[Message] = []
        self.deferred: list[Answer | Signal] = []
        """Answers and signals from before it was decided who does the run."""
        self.send_lock = asyncio.Lock()
        self.phone_wait: asyncio.Task[None] | None = None
        self.open_questions: set[str] = set()
        self.followed = False
        self.closing = False
        """Whether the service is stopping."""
        self.order: RunOrder | None = None
        """The current order for the host, None while the run is not followed."""
        self.ordered_at = 0.0
        """When the order was last sent, by the event loop's clock."""

    def receive(self, item: Item) -> None:
        """Receive a message of the host. Messages may arrive in any order and are processed in the order of their
        numbers.
        """
        if not self.followed:
            self.next = max(self.next, self._hub.known_runs[self.id].taken + 1)
        self.out_of_order[item.n] = item
        while (due := self.out_of_order.pop(self.next, None)) is not None:
            self.next += 1
            self.events.put_nowait(due)

    def confirm_stored(self, event: TaskEvent) -> None:
        """Record that the event is stored in the task's log, so that host messages up to it can be deleted."""
        key = key_of(event)
        place = next((place for place, (_, known) in enumerate(self.unconfirmed) if known == key), None)
        if key is None or place is None:
            return
        for _ in range(place + 1):
            number, _ = self.unconfirmed.popleft()
        while self.unconfirmed and not self.unconfirmed[0][1]:
            number, _ = self.unconfirmed.popleft()
        self._hub.incoming.confirm_stored(self.id, number)

    def close(self) -> None:
        """Stop following the run, because the service is stopping."""
        self.closing = True
        self.events.put_nowait(Change.CLOSING)

    # the phone

    def acquire(self, wish: str, *, first: bool) -> None:
        """Start to wait for a phone, unless the run already waits; the result is put into `events`. `wish` is the
        phone's id, "" for any; `first` puts the run at the head of the queue.
        """
        if self.phone_wait is None or self.phone_wait.done():
            self.phone_wait = asyncio.create_task(self._wait_for_phone(wish, first=first))

    async def _wait_for_phone(self, wish: str, *, first: bool) -> None:
        while True:
            try:
                async with aclosing(self._leases.acquire(self.id, wish, first=first)) as queue:
                    async for each in queue:
                        self.events.put_nowait(each)
            except NoPhone as none:
                if isinstance(none, NotAdmitted) or not self._hub.hosts.awaited:
                    self.events.put_nowait(none)
                    return
                await asyncio.sleep(LOOK_AGAIN_S)  # the phone may belong to a host that is briefly away
            else:
                return

    def stop_acquiring(self) -> None:
        """Stop the wait for a phone that `acquire` started."""
        if self.phone_wait is not None:
            self.phone_wait.cancel()
            self.phone_wait = None

    # messages from the host

    async def follow(self, host: str, order: RunOrder) -> AsyncGenerator[RunEvent, None]:
        """Send the order to the host and yield the run's events, beginning after the last one that the hub has stored.
        Ends early if the service stops.

        Raises RunOutOfReach if the host stays away.
        """
        self._confirm_all()
        self.followed = True
        before, self.deferred = self.deferred, []
        for each in before:
            message = (
                self.answer_for(host, each)
                if isinstance(each, Answer)
                else GiveSignal(id=new_id(), run=self.id, signal=each)
            )
            await self.send(message)
        self.order = order
        await self.send_order(host, order)
        wanted: tuple[str, bool] | None = None
        reached = self._hub.hosts.usable(host)
        away = not reached
        if away:
            yield TellCard(text=say("fleet.away", host=host))
        try:
            while True:
                happening = await self.events.get()
                match happening:
                    case Told(n=number, event=event):
                        if isinstance(event, RunEnded) and event.subtask != order.subtask:
                            self.unconfirmed.append((number, ()))
                            continue
                        if isinstance(event, FileFound) and not await self._fetch_file(host, event):
                            self.events.put_nowait(happening)
                            return
                        self.unconfirmed.append((number, key_of(event) or ()))
                        self._note_question(event)
                        yield event
                        if isinstance(event, RunEnded):
                            return
                    case PhoneWanted(n=number, phone=wish, first=first):
                        self.unconfirmed.append((number, ()))
                        wanted = (wish, first)
                        self.acquire(wish, first=first)
                    case PhoneReturned(n=number, fence=fence):
                        self.unconfirmed.append((number, ()))
                        if any(each.run == self.id and each.fence == fence for each in self._leases.held):
                            await self._leases.release(self.id)
                    case Place() as place:
                        yield Waiting(place=place.number, phone=place.phone)
                    case Lease():
                        wanted = None
                        with suppress(EngineAway):
                            await self._hub.beat(host)
                    case NoPhone() if not self._hub.hosts.usable(host):
                        pass  # its phones are known once it is back
                    case NoPhone() as none:
                        wanted = None
                        await self.send(Refuse(id=new_id(), run=self.id, why=str(none)))
                    case Change.HOST:
                        there = self._hub.hosts.usable(host)
                        reached = reached or there
                        if reached and self._is_lost(host) and not self.open_questions:
                            raise RunOutOfReach(f"the host {host} stays away")
                        if there:
                            await self.send_order(host, order)
                        if there and wanted is not None:
                            self.acquire(wanted[0], first=wanted[1])
                        if there is away:
                            away = not there
                            yield TellCard(text=say("fleet.away", host=host) if away else "")
                    case Change.CANCELLED:
                        if not self._hub.hosts.usable(host):
                            yield cut_off(order, Outcome.CANCELLED, say("fleet.cancelled_away", host=host))
                            return
                    case Change.CLOSING:
                        return
        finally:
            self.followed, self.order = False, None
            self.stop_acquiring()

    async def send_order(self, host: str, order: RunOrder) -> None:
        """Send the order to its host. If the run is in progress there, it simply continues."""
        self.ordered_at = steady_now()
        await self._hub.order(host, order)

    def _is_lost(self, host: str) -> bool:
        known = self._hub.hosts.get(host)
        return known is None or known.lost

    async def _fetch_file(self, host: str, event: FileFound) -> bool:
        """Fetch a file from the host and store it here; False if the service stops first."""
        while not self.closing:
            try:
                data = await self._hub.file(host, event.content)
            except EngineAway:
                await asyncio.sleep(1.0)
                if self._is_lost(host):
                    raise RunOutOfReach(f"the host {host} stays away") from None
                continue
            except KeyError:
                logger.warning("The host %s no longer has the file %s, so it cannot be delivered.", host, event.name)
                return True
            await self._frames.save(data, suffix=event.content.partition(".")[2])
            return True
        return False

    def _note_question(self, event: RunEvent) -> None:
        match event:
            case Asked(question=question):
                self.open_questions.add(question.id)
            case Resumed(question=question):
                self.open_questions.discard(question)
            case RunEnded():
                self.open_questions.clear()
            case _:
                pass

    def _confirm_all(self) -> None:
        """Delete events that were passed on, because the main graph has continued and its checkpoint contains them."""
        if self.unconfirmed:
            self._hub.incoming.confirm_stored(self.id, self.unconfirmed[-1][0])
            self.unconfirmed.clear()

    # messages to the host

    def answer_for(self, host: str, answer: Answer) -> GiveAnswer:
        """Return the message that carries an answer to the host. The value of a secret is encrypted for the host, and
        removed from this process.
        """
        value = self._secrets.take(answer.question)
        sealed = ""
        if value is not None and host in self._hub.hosts:
            sealed = sealed_for(self._hub.hosts[host].known.seal, value)
        return GiveAnswer(id=new_id(), run=self.id, answer=answer, sealed=sealed)

    async def send(self, message: Message) -> bool:
        """Send a message to the run's host. Returns False if it could not be delivered now (it is sent again later),
        or was refused.
        """
        host = self._hub.known_runs[self.id].host
        self.undelivered.append(message)
        try:
            await self.send_undelivered(host)
        except HostRefused as refused:
            logger.warning("The host %s refused a request: %s", host, refused)
            return False
        return message not in self.undelivered

    async def send_undelivered(self, host: str) -> None:
        """Send all undelivered messages in order, as long as the host is reachable. Raises HostRefused if the host does
        not carry one out.
        """
        async with self.send_lock:
            while self.undelivered and self._hub.hosts.usable(host):
                try:
                    await self._hub.ask(host, self.undelivered[0], timeout=ASK_S)
                except HostRefused:
                    self.undelivered.pop(0)
                    raise
                except EngineAway as away:
                    logger.info("The host %s is told later: %s", host, away)
                    return
                self.undelivered.pop(0)
            with suppress(EngineAway):
                await self._hub.beat(host)


def new_id() -> str:
    """Return a random id for a request, so that a repetition of the request is recognised."""
    return random.token_hex(8)


def key_of(event: RunEvent | TaskEvent) -> tuple[str, ...] | None:
    """Return a key that identifies an event of a run, so that it is recognised once it is stored; None for events that
    are not stored.
    """
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
