"""Everything between chat and phone, real, with an agent that is led by hand and chats in memory."""

from __future__ import annotations

import asyncio
import io
import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from agent.events import Asked, Started, Step, TaskEnded, TaskEvent
from agent.guards.policy import Policy as GatePolicy
from agent.guards.reading import Readings
from agent.models.base import Usage
from agent.models.state import ModelState, ModelStatus
from agent.ports.agent import TaskOrder
from agent.questions import Answer, Question, QuestionKind, Recipient
from agent.run import Outcome, RunId
from agent.skills.library import Skill, Skills, load_skills
from bot.application.services import UTC, Services
from bot.chats.installed import installed
from bot.commands.dispatcher import Commands
from bot.config.settings import Settings
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.chat import Chat
from bot.domain.incoming import Attachment, CommandCall, Incoming, Invocation, Press
from bot.domain.outgoing import Reply
from bot.domain.task import OpenQuestion, Task, TaskState
from bot.people.access import Lists, Policy
from bot.people.pairing import Linking, Pairing
from bot.people.quotas import Quotas
from bot.people.rights import Rights
from bot.platform import filed_by
from bot.runtime.settings import RuntimeSettings
from bot.store.store import Store
from bot.tasks.follow import TaskFollowers
from bot.tasks.leases import PhoneLeases
from bot.tasks.manual_input import ManualInput
from bot.tasks.queue import Admission
from bot.tasks.remote_control import RemoteControlService
from bot.tasks.repository import ServiceLimits
from bot.tasks.secrets import MemorySecrets
from bot.tasks.service import TaskService
from devices.errors import NameTaken, PhoneError, PhoneGone
from devices.geometry import Size
from devices.names import fit_name
from devices.phone import Health, Observation, Phone, PhoneInfo
from devices.storage import FoundFiles, StoredFile
from tests.bot.chats.loopback import LoopbackChat
from tests.fakes.instant_phone import InstantPhone
from tests.fixtures.databases import open_store

ANNA = Person("discord", "42", "Anna")
BEN = Person("discord", "43", "Ben")
ADA = Person("discord", "99", "Ada")
EVE = Person("discord", "666", "Eve")
CHANNEL = Place(Address("discord", "bot", "chan", "guild"))
PRIVATE = Place(Address("discord", "bot", "dm"), private=True)
POLICY = Policy(
    {"discord": Lists(frozenset({"guild"}), frozenset({"chan"}), frozenset({"42", "43"}), frozenset({"99"}))}
)
PATIENCE = 10.0


def a_phone(
    name: str = "Pixel", phone_id: str = "", health: Health = Health.READY, reason: str = "", fix: str = ""
) -> PhoneInfo:
    known = phone_id or name.lower()
    return PhoneInfo(id=known, serial=known, name=name, health=health, reason=reason, fix=fix)


class SeenPhone(InstantPhone):
    """A phone that can only be looked at, and its files."""

    def __init__(
        self, info: PhoneInfo, sees: Observation | PhoneError, files: dict[StoredFile, bytes], stopped_at: int = 0
    ) -> None:
        super().__init__()
        self.info = info
        self._sees = sees
        self._files = files
        self._stopped_at = stopped_at

    def page(self) -> Observation:
        if isinstance(self._sees, PhoneError):
            raise self._sees
        return self._sees

    def turn(self) -> None:
        raise AssertionError(self.sent)

    async def find_files(self, name: str) -> FoundFiles:
        return FoundFiles(tuple(file for file in self._files if name in file.path), self._stopped_at)

    async def pull(self, path: str, *, limit: int) -> bytes:
        data = next(data for file, data in self._files.items() if file.path == path)
        assert len(data) <= limit
        return data


def a_look(*, secure: bool = False, locked: bool = False) -> Observation:
    image = None if secure else Image.new("RGB", (108, 240), (200, 30, 30))
    return Observation(Size(108, 240), image, None, package="com.android.settings", secure=secure, locked=locked)


class SeenPhones:
    """Implements devices.phone.Phones: a list, and what each phone shows."""

    def __init__(self, *phones: PhoneInfo) -> None:
        self.phones = phones
        self.sees: dict[str, Observation | PhoneError] = {}
        self.touchable: dict[str, Phone] = {}
        """Phones that can be touched as well, by id."""
        self.files: dict[StoredFile, bytes] = {}
        """Those of every phone, newest first."""
        self.stopped_at = 0
        """After how many names a search for files ends; 0 is never."""

    def list(self) -> tuple[PhoneInfo, ...]:
        return self.phones

    def get(self, phone_id: str) -> Phone:
        info = next((phone for phone in self.phones if phone.id == phone_id), None)
        if info is None:
            raise PhoneGone("the cable is out")
        if phone_id in self.touchable:
            return self.touchable[phone_id]
        return SeenPhone(info, self.sees.get(phone_id, a_look()), self.files, self.stopped_at)

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        return self.phones

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        if any(phone.name == name for phone in self.phones):
            raise NameTaken(name)
        found = next(phone for phone in self.phones if phone.id == phone_id)
        self.phones = tuple(replace(phone, name=fit_name(name)) if phone is found else phone for phone in self.phones)
        return next(phone for phone in self.phones if phone.id == phone_id)

    async def wait_for_change(self) -> None:
        await asyncio.Event().wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        del timeout
        return self.get(phone_id)


class HandMind:
    """Implements agent.ports.agent.Agent: tells what the test says, and records what it is asked for."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Queue[TaskEvent | None]] = {}
        self.asked: list[tuple[str, str]] = []
        self.orders: list[TaskOrder] = []

    def tell(self, task: str, *events: TaskEvent) -> None:
        for event in events:
            self._queue(task).put_nowait(event)

    async def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        self.orders.append(order)
        while (event := await self._queue(order.task).get()) is not None:
            yield event
            if isinstance(event, TaskEnded):
                return

    async def answer(self, task: str, answer: Answer) -> None:
        self.asked.append(("answer", "" if not answer.text else answer.text))
        self._queue(task)

    async def steer(self, task: str, note: str) -> None:
        self.asked.append((f"steer {task}", note))

    async def pause(self, task: str) -> None:
        self.asked.append(("pause", task))

    async def resume(self, task: str, note: str = "") -> None:
        self.asked.append((f"resume {task}", note))

    async def cancel(self, task: str) -> None:
        self.asked.append(("cancel", task))
        self.tell(task, TaskEnded(outcome=Outcome.CANCELLED, summary=""))

    async def shutdown(self) -> None:
        for queue in self._events.values():
            queue.put_nowait(None)

    def _queue(self, task: str) -> asyncio.Queue[TaskEvent | None]:
        return self._events.setdefault(task, asyncio.Queue())


class Clock:
    """Time that passes when the test says so; whoever sleeps wakes at the right moment."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((self.now + seconds, woken))
        await woken

    def advance(self, seconds: float) -> None:
        """Let time pass. Sleepers whose time has come wake when the test next waits."""
        self.now += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self.now]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self.now and not sleeper[1].done()]
        for _, woken in due:
            if not woken.done():
                woken.set_result(None)

    def next_wake(self) -> float | None:
        """Seconds until the first sleeper's time."""
        return min((at - self.now for at, woken in self._sleepers if not woken.done()), default=None)


@dataclass
class World:
    """A service without its chats' adapters."""

    store: Store
    task_service: TaskService
    agent: HandMind
    phones: SeenPhones
    secrets: MemorySecrets
    chat: LoopbackChat
    chats: dict[str, Chat]
    commands: Commands
    clock: Clock
    rights: Rights
    services: Services
    leases: PhoneLeases
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def incoming(
        self,
        text: str,
        person: Person = ANNA,
        place: Place = CHANNEL,
        *,
        command: str | None = None,
        reply_to: MessageRef | None = None,
        stale: bool = False,
        written: float = 0.0,
        attachments: tuple[Attachment, ...] = (),
    ) -> Incoming:
        return Incoming(
            person=person,
            place=place,
            event=f"e{next(self._numbers)}",
            text=text,
            command=command,
            reply_to=reply_to,
            message=self.chat.write(place.address, text),
            attachments=attachments,
            stale=stale,
            written=written,
        )

    async def type(
        self,
        command: str,
        person: Person = ANNA,
        place: Place = CHANNEL,
        *,
        stale: bool = False,
        written: float = 0.0,
    ) -> Reply:
        """A typed command."""
        text = f"!opengui {command}".strip()
        incoming = self.incoming(text, person, place, command=command, stale=stale, written=written)
        return await self.commands.message(incoming)

    async def say(
        self,
        text: str,
        person: Person = ANNA,
        place: Place = CHANNEL,
        *,
        reply_to: MessageRef | None = None,
        stale: bool = False,
        written: float = 0.0,
    ) -> Reply:
        """A text that is no command."""
        incoming = self.incoming(text, person, place, reply_to=reply_to, stale=stale, written=written)
        return await self.commands.message(incoming)

    async def invoke(self, call: CommandCall, person: Person = ANNA, place: Place = CHANNEL) -> Reply:
        """A command with typed options."""
        return await self.commands.invoke(Invocation(person, place, f"e{next(self._numbers)}", call))

    async def press(
        self, data: str, person: Person = ANNA, place: Place = CHANNEL, message: MessageRef | None = None
    ) -> Reply:
        """A pressed button."""
        ref = message or MessageRef(place.address, "m0")
        return await self.commands.press(Press(person, place, f"e{next(self._numbers)}", data, ref))

    async def do(self, text: str = "open settings", person: Person = ANNA, place: Place = CHANNEL) -> Task:
        """A task that was accepted."""
        reply = await self.type(f"do {text}", person, place)
        assert reply.task, reply
        return await self.task_service.known(reply.task)

    async def working(self, text: str = "open settings", person: Person = ANNA, place: Place = CHANNEL) -> Task:
        """A task at work on the first phone."""
        task = await self.do(text, person, place)
        phone = self.phones.phones[0]
        self.agent.tell(task.id, Started(run=RunId(task.id), phone=phone.id, phone_name=phone.name))
        return await self.until(task, TaskState.WORKING)

    async def in_thread(self, task: Task) -> Place:
        """The task gets a thread of its own."""
        place = Address("discord", "bot", "chan", "guild", f"thread{task.id}")
        await self.task_service.set_place(task.id, place)
        return Place(place)

    async def step(self, task: Task, number: int, *, summary: str = "Tapped Search", frame: str | None = None) -> None:
        """The task does a step, and it is stored."""
        self.agent.tell(task.id, a_step_event(task, number, summary, frame))
        await self.until(task, lambda found: found.steps >= number)

    async def ask(
        self,
        task: Task,
        kind: QuestionKind = QuestionKind.ASK,
        choices: tuple[str, ...] = (),
        *,
        number: int = 1,
        to: Recipient | None = None,
    ) -> OpenQuestion:
        """The task asks, and the question is shown in its place."""
        name, run = f"{task.id}.q{number}", RunId(task.id)
        asked = Question(id=name, run=run, kind=kind, text="Which one?", choices=choices, to=to)
        self.agent.tell(task.id, Asked(question=asked))
        await self.until(task, TaskState.WAITING)
        current = await self.task_service.known(task.id)
        ref = self.chat.write(current.place or current.origin, asked.text)
        await self.task_service.question_shown(asked.id, ref)
        found = await self.task_service.question(asked.id)
        assert found is not None
        return found

    async def end(self, task: Task, outcome: Outcome = Outcome.SUCCEEDED, **more: Any) -> Task:
        """The task ends; `more` are further fields of its end."""
        steps = (await self.task_service.known(task.id)).steps
        self.agent.tell(task.id, TaskEnded(outcome=outcome, summary="It is done.", steps=steps, **more))
        return await self.until(task, TaskState.ENDED)

    async def until(self, task: Task, is_so: TaskState | Callable[[Task], bool]) -> Task:
        """The task as soon as it is in this state, or as told."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self._changed.clear()
                found = await self.task_service.known(task.id)
                if found.state is is_so if isinstance(is_so, TaskState) else is_so(found):
                    return found
                await self._changed.wait()


def a_step_event(task: Task, number: int, summary: str = "Tapped Search", frame: str | None = None) -> Step:
    return Step(
        run=RunId(task.id),
        subtask=1,
        step=number,
        max_steps=60,
        summary=summary,
        app="Settings",
        frame=frame,
        usage=Usage(input=100 * number, output=10 * number, calls=number),
    )


def png() -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (108, 240), (10, 10, 90)).save(target, "PNG")
    return target.getvalue()


@cache
def shipped_skills() -> Mapping[str, Skill]:
    """Read once: they stay as they are."""
    return load_skills().found


@asynccontextmanager
async def a_world(
    path: Path,
    *phones: PhoneInfo,
    chat: LoopbackChat | None = None,
    clock: Clock | None = None,
    policy: Policy = POLICY,
    pairing: bool = False,
    settings: Settings | None = None,
    store: Store | None = None,
    offline: bool = False,
) -> AsyncIterator[World]:
    """From start to stop, on what is in the directory, or in this store."""
    clock = clock or Clock()
    store = store or await open_store(path, clock=clock)
    try:
        agent, secrets = HandMind(), MemorySecrets()
        seen = SeenPhones(*(phones or (a_phone(),)))
        rights = await Rights.open(policy, store, Pairing(clock) if pairing else None, Linking(clock))
        live = await RuntimeSettings.open(settings or Settings.model_construct(), store, filed_by(installed()))
        quotas = Quotas(store, rights, lambda: live.now, UTC, clock)
        admission = Admission(lambda: rights.policy)
        leases = PhoneLeases(store.leases, seen, clock, admission.admits)
        task_service = TaskService(
            store,
            agent,
            leases,
            secrets,
            clock=clock,
            limits=ServiceLimits(patience=2.0, goodbye=1.0, drain=2.0, tick=3600.0),
            gate=quotas,
            admission=admission,
        )
        operating = ManualInput(leases, seen, GatePolicy.default(), store.journal)
        hands = RemoteControlService(leases, seen, operating, task_service)
        chat = chat or LoopbackChat()
        chat.now = clock
        chats: dict[str, Chat] = {"discord": chat}
        namings = {platform.name: platform.naming for platform in installed()}
        following = TaskFollowers(task_service, store.task_events)
        services = Services(
            task_service,
            store,
            seen,
            rights,
            quotas,
            live,
            hands,
            operating,
            following,
            chats,
            clock=clock,
            namings=namings,
            skills=Skills(dict(shipped_skills()), path / "skills"),
            readings=Readings(store.press_verdicts, clock),
            model=lambda: ModelState(ModelStatus.OFFLINE if offline else ModelStatus.NOT_TESTED),
        )
        world = World(
            store, task_service, agent, seen, secrets, chat, chats, Commands(services), clock, rights, services, leases
        )
        task_service.subscribe(lambda _task: world._changed.set())
        await task_service.start()
        try:
            yield world
        finally:
            async with asyncio.timeout(PATIENCE):
                await hands.close()
                following.close()
                await task_service.stop()
    finally:
        await store.close()
