"""A desk on a real store, with phones that stand still, a clock that is set by hand, and steps that wait for a word."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from agent.ports.agent import Agent
from bot.domain.address import Address, Person
from bot.domain.task import Task, TaskState
from bot.domain.task_request import Origin, TaskRequest
from bot.store.outbox import Payload
from bot.store.store import Store
from bot.tasks.leases import PhoneLeases
from bot.tasks.repository import ServiceLimits
from bot.tasks.secrets import MemorySecrets
from bot.tasks.service import TaskService
from devices.errors import PhoneGone
from devices.phone import Health, Phone, PhoneInfo
from tests.fixtures.databases import open_store

HERE = Address("web", "console", "main")
ANNA = Person("web", "1", "Anna")
LIMITS = ServiceLimits(patience=0.3, goodbye=0.3, drain=0.7, tick=3600.0)
PATIENCE = 10.0


def phone(name: str, health: Health = Health.READY, reason: str = "", fix: str = "") -> PhoneInfo:
    return PhoneInfo(id=name, serial=name, name=name.title(), health=health, reason=reason, fix=fix)


class StillPhones:
    """Implements devices.phone.Phones with a list that the test sets."""

    def __init__(self, *phones: PhoneInfo) -> None:
        self._phones = phones
        self._change = asyncio.Event()

    def list(self) -> tuple[PhoneInfo, ...]:
        return self._phones

    def set(self, *phones: PhoneInfo) -> None:
        self._phones = phones
        self._change.set()

    def get(self, phone_id: str) -> Phone:
        raise PhoneGone(phone_id)

    async def refresh(self) -> tuple[PhoneInfo, ...]:
        return self._phones

    async def rename(self, phone_id: str, name: str) -> PhoneInfo:
        raise AssertionError((phone_id, name))

    async def wait_for_change(self) -> None:
        self._change.clear()
        await self._change.wait()

    async def wait_for(self, phone_id: str, *, timeout: float) -> Phone:
        del timeout
        raise PhoneGone(phone_id)


class Clock:
    """Unix seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Gate:
    """Holds every step until the test lets it pass."""

    def __init__(self) -> None:
        self._passes = asyncio.Semaphore(0)
        self.reached = asyncio.Event()

    async def __call__(self, _task: str, _step: int) -> None:
        self.reached.set()
        await self._passes.acquire()

    def open(self, steps: int = 1) -> None:
        for _ in range(steps):
            self._passes.release()


class Bench:
    """A desk that runs, and ways to wait for what it does."""

    def __init__(
        self, store: Store, task_service: TaskService, clock: Clock, secrets: MemorySecrets, phones: StillPhones
    ) -> None:
        self.store = store
        self.task_service = task_service
        self.clock = clock
        self.secrets = secrets
        self.phones = phones
        self._numbers = 0
        self._changed = asyncio.Event()
        task_service.subscribe(lambda _task: self._changed.set())

    async def accept(self, text: str = "open the browser", event: str | None = None) -> Task:
        self._numbers += 1
        number = event if event is not None else f"e{self._numbers}"
        accepted = await self.task_service.accept(TaskRequest(text, ANNA, Origin(HERE, number)))
        return accepted.task

    async def until(self, task: Task | str, is_so: TaskState | Callable[[Task], bool]) -> Task:
        """The task as soon as it is in this state, or as told."""
        task_id = task if isinstance(task, str) else task.id
        async with asyncio.timeout(PATIENCE):
            while True:
                self._changed.clear()
                found = await self.task_service.known(task_id)
                if found.state is is_so if isinstance(is_so, TaskState) else is_so(found):
                    return found
                await self._changed.wait()

    async def outbox(self, task: Task | str) -> list[Payload]:
        rows = await self.store.outbox.of(task if isinstance(task, str) else task.id)
        return [row.payload for row in rows]


@asynccontextmanager
async def bench(
    path: Path, agent: Agent, *, clock: Clock | None = None, limits: ServiceLimits = LIMITS, store: Store | None = None
) -> AsyncIterator[Bench]:
    """A desk from start to stop on what is in the directory, or in this store."""
    clock = clock or Clock()
    store = store or await open_store(path, clock=clock)
    try:
        phones, secrets = StillPhones(phone("pixel")), MemorySecrets()
        task_service = TaskService(
            store, agent, PhoneLeases(store.leases, phones, clock), secrets, clock=clock, limits=limits
        )
        made = Bench(store, task_service, clock, secrets, phones)
        await task_service.start()
        try:
            yield made
        finally:
            async with asyncio.timeout(PATIENCE):
                await task_service.stop()
    finally:
        await store.close()
