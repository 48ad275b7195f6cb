"""A world with a phone that gets notifications, and a watcher that is led by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.application.services import Services
from bot.domain.address import Person, Place
from bot.domain.schedule import Schedule
from bot.domain.task import Task
from bot.triggers.watcher import TriggerWatcher
from devices.notification import PhoneNotification
from devices.phone import InstalledApp
from tests.bot.world import ANNA, CHANNEL, World, a_phone, a_world
from tests.fakes.instant_phone import InstantPhone

CHAT = "com.example.chat"
RULE = "pixel gets a notification from Chat"


class NotifiedPhone(InstantPhone):
    """Implements devices.phone.NotificationSource and AppSource: what the test posts, by the test's clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self.info = a_phone()
        self.shown: list[PhoneNotification] = []
        self.looks = 0
        self.hangs = ""
        """The app of which nothing is told before `released`."""
        self.hung = 0
        self.released = asyncio.Event()
        self._clock = clock

    def post(self, text: str, title: str = "Bob", *, place: int = 0, package: str = CHAT) -> PhoneNotification:
        """Another one; one in the same `place` (from 1) takes it."""
        now = self._clock()
        key = f"0|{package}|{place or 1000 + len(self.shown)}|null|10101"
        posted = next((one.posted for one in self.shown if one.key == key), int(now * 1000))
        made = PhoneNotification(key, package, title, text, posted, now)
        self.shown = [*(one for one in self.shown if one.key != key), made]
        return made

    async def notifications(self, package: str) -> tuple[PhoneNotification, ...]:
        self.looks += 1
        if package == self.hangs:
            self.hung += 1
            await self.released.wait()
        now = self._clock()
        return tuple(replace(one, age=now - one.age) for one in self.shown if one.package == package)

    async def sms_app(self) -> str:
        return "com.android.messaging"

    async def apps(self) -> tuple[InstalledApp, ...]:
        return (InstalledApp(CHAT, "Chat"), InstalledApp("com.android.messaging", "Messages"))


@dataclass
class Rig:
    """What a test of triggers has."""

    world: World
    phone: NotifiedPhone
    watcher: TriggerWatcher
    begun: asyncio.Event
    """Set once there is a task."""

    async def trigger(self, line: str, person: Person = ANNA, place: Place = CHANNEL) -> Schedule:
        """The trigger that such a line makes, looked for from now on."""
        reply = await self.world.type(f"when {line}", person, place)
        assert reply.message is not None
        assert reply.message.buttons, reply.message.body
        await self.look()
        self.world.clock.advance(1.0)
        return max(await self.world.store.schedules.all(), key=lambda one: int(one.id))

    def begin_anew(self, services: Services | None = None) -> None:
        """The service was started again, with these services."""
        services = services or self.world.services
        self.watcher = TriggerWatcher(services, sleep=self.world.clock.sleep, ticks=self.world.clock)

    async def look(self) -> None:
        await self.watcher.check()
        await self.watcher.finished()

    async def after(self, seconds: float = 5.0) -> list[Task]:
        """What there is after so much time and a look."""
        self.world.clock.advance(seconds)
        await self.look()
        return list(reversed(await self.world.task_service.recent(2000)))


@asynccontextmanager
async def a_rig(path: Path, **options: Any) -> AsyncIterator[Rig]:
    async with a_world(path, **options) as world:
        phone = NotifiedPhone(world.clock)
        world.phones.touchable["pixel"] = phone
        begun = asyncio.Event()
        world.task_service.subscribe(lambda _task: begun.set())
        yield Rig(world, phone, TriggerWatcher(world.services, sleep=world.clock.sleep, ticks=world.clock), begun)
