"""A world with a scheduler that is led by hand, or runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.commands.scheduler import Scheduler
from bot.domain.address import Person, Place
from bot.domain.schedule import Schedule
from bot.domain.task import Task
from tests.bot.world import ANNA, CHANNEL, World, a_world

HOUR = 3600.0


class Rig:
    """A world with a scheduler that is led by hand, or runs."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.services = world.services
        self.scheduler = Scheduler(self.services, sleep=world.clock.sleep)

    async def plan(self, line: str, person: Person = ANNA, place: Place = CHANNEL) -> Schedule:
        reply = await self.world.type(f"schedule {line}", person, place)
        assert reply.message is not None
        assert "Next:" in reply.message.body, reply.message.body
        return max(await self.schedules(), key=lambda one: int(one.id))

    async def schedules(self) -> tuple[Schedule, ...]:
        return await self.world.store.schedules.all()

    async def tasks(self) -> list[Task]:
        return list(reversed(await self.world.task_service.recent(50)))

    async def after(self, seconds: float) -> list[Task]:
        """What there is after so much time and a look."""
        self.world.clock.advance(seconds)
        await self.scheduler.run_due()
        return await self.tasks()


@asynccontextmanager
async def a_rig(path: Path) -> AsyncIterator[Rig]:
    async with a_world(path) as world:
        yield Rig(world)
