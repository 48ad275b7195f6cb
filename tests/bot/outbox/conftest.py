"""A world whose outbox runs on a clock of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.domain.outgoing import Message
from bot.domain.task import Task
from bot.outbox.low_priority import Streaming
from bot.outbox.outbox import Outbox
from bot.store.outbox import CardRef
from tests.bot.chats.loopback import Call, LoopbackChat
from tests.bot.world import Clock, World, a_world

QUIET = 0.02
"""Seconds without any call after which the clock goes on to the next waker. They are of the loop's virtual time, which
passes when nothing is under way: so no more time passes on the clock than is needed, however slow the machine is.
"""
PATIENCE = 20.0


@dataclass
class Post:
    """The outbox on a world."""

    world: World
    outbox: Outbox

    @property
    def chat(self) -> LoopbackChat:
        return self.world.chat

    async def until(self, ready: Callable[[], bool]) -> None:
        """Let the clock run until something holds of the chat."""
        async with asyncio.timeout(PATIENCE):
            while not ready():
                try:
                    await self.chat.wait_until(ready, timeout=QUIET)
                except TimeoutError:
                    self.world.clock.advance(self.world.clock.next_wake() or 1.0)

    async def sent(self, text: str) -> Message:
        """The first message that was sent with this text."""
        found: list[Message] = []

        def there() -> bool:
            found.extend(one for one in self.chat.sent() if text in f"{one.heading}\n{one.body}\n{one.footer}")
            return bool(found)

        await self.until(there)
        return found[0]

    async def closed(self, text: str) -> Message:
        """The final message with this text, once its row is written and its thread closed."""
        found = await self.sent(text)
        await self.until(lambda: bool(self.calls("close")))
        return found

    async def shown(self, text: str) -> Message:
        """A message that reads so now, sent or edited."""
        found: list[Message] = []

        def there() -> bool:
            found.extend(one for one in self.chat.messages() if text in f"{one.heading}\n{one.body}\n{one.footer}")
            return bool(found)

        await self.until(there)
        return found[0]

    async def new_card(self, task: Task, old: CardRef) -> CardRef:
        """The card that takes the place of an old one."""
        async with asyncio.timeout(PATIENCE):
            while (card := await self.world.store.cards.get(task.id)) is None or card == old:
                await asyncio.sleep(0)
        return card

    def calls(self, verb: str) -> list[Call]:
        return [call for call in self.chat.calls if call.verb == verb]

    async def finals(self, task: Task) -> list[tuple[str, str]]:
        return [(row.state, row.why) for row in await self.world.store.outbox.of(task.id) if row.kind == "final"]


@asynccontextmanager
async def a_post(
    path: Path, *, chat: LoopbackChat | None = None, streaming: Streaming = "threads", clock: Clock | None = None
) -> AsyncIterator[Post]:
    """From start to stop, on what is in the directory."""
    async with a_world(path, chat=chat, clock=clock) as world:
        outbox = Outbox(
            world.task_service, world.store, world.chats, streaming, clock=world.clock, sleep=world.clock.sleep
        )
        await outbox.start()
        try:
            yield Post(world, outbox)
        finally:
            async with asyncio.timeout(PATIENCE):
                await outbox.stop()


@pytest.fixture
async def post(virtual_time: None, tmp_path: Path) -> AsyncIterator[Post]:  # noqa: ARG001  # chooses the loop
    async with a_post(tmp_path) as made:
        yield made
