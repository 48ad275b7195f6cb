"""The whole way: real commands, desk and outbox behind the real adapter, in a Discord of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from simcord.backend.models import Channel, Message

from agent.events import Asked, Started
from agent.models.other_models import Transcriber
from agent.questions import Question, QuestionKind
from agent.run import RunId
from bot.chats.discord.chat import DiscordChat
from bot.commands.dispatcher import Commands
from bot.domain.task import Task, TaskState
from bot.outbox.low_priority import Streaming
from bot.outbox.outbox import Outbox
from bot.people.access import Lists, Policy
from tests.bot.chats.discord.conftest import Home
from tests.bot.world import Clock, World, a_world
from tests.fakes.discord import TOKEN, FakeDiscord

PATIENCE = 20.0
QUIET = 0.05
"""Seconds without the wished-for after which the clock goes on to whoever sleeps next. With the fixture `virtual_time`
they pass when nothing is under way, however slow the machine is.
"""


@dataclass
class Town:
    home: Home
    world: World
    chat: DiscordChat
    clock: Clock

    @property
    def fake(self) -> FakeDiscord:
        return self.home.fake

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for it, and let the outbox's clock run meanwhile."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                try:
                    await self.fake.wait_until(condition, timeout=QUIET)
                except TimeoutError:
                    self.clock.advance(self.clock.next_wake() or 1.0)

    async def tasks(self, number: int = 1) -> list[Task]:
        """All tasks, once there are so many."""
        async with asyncio.timeout(PATIENCE):
            while len(found := await self.world.task_service.recent(number + 1)) < number:
                await asyncio.sleep(0.01)
        return list(found)

    async def refusals(self, number: int) -> None:
        """Until so many were not let in."""
        async with asyncio.timeout(PATIENCE):
            while sum(one.count for one in await self.world.store.refusals.totals()) < number:
                await asyncio.sleep(0.01)

    async def working(self, text: str = "open settings", *, shown: bool = True) -> Task:
        """Alice's only task, at work, with its card."""
        self.fake.say(self.home.alice, self.home.channel, f"!opengui do {text}")
        (task,) = await self.tasks()
        phone = self.world.phones.phones[0]
        self.world.agent.tell(task.id, Started(run=RunId(task.id), phone=phone.id, phone_name=phone.name))
        task = await self.world.until(task, TaskState.WORKING)
        if shown:
            await self.card()
        return task

    async def card(self) -> Message:
        """The card with its buttons."""
        thread = await self.thread()

        def found() -> list[Message]:
            return [one for one in self.fake.from_bot(thread) if "Pause" in self.fake.buttons(one).values()]

        await self.until(found)
        return found()[-1]

    async def card_in(self, channel: Channel) -> Message:
        """The card there, with its Stop."""

        def found() -> list[Message]:
            return [one for one in self.fake.from_bot(channel) if "Stop" in self.fake.buttons(one).values()]

        await self.until(found)
        return found()[-1]

    async def asks(self, task: Task, *choices: str, kind: QuestionKind = QuestionKind.ASK) -> None:
        """The task asks something."""
        question = Question(id=f"{task.id}.q1", run=RunId(task.id), kind=kind, text="Which one?", choices=choices)
        self.world.agent.tell(task.id, Asked(question=question))
        await self.world.until(task, TaskState.WAITING)

    def button(self, message: Message, label: str) -> str:
        """The id of the button that is labelled so."""
        return next(data for data, shown in self.fake.buttons(message).items() if shown == label)

    def said(self, words: str, channel: Channel) -> list[Message]:
        """The bot's messages that read so now."""
        return [message for message in self.fake.from_bot(channel) if words in message.content]

    async def bot_says(self, words: str, channel: Channel) -> Message:
        await self.until(lambda: self.said(words, channel))
        return self.said(words, channel)[0]

    async def thread(self) -> Channel:
        """The first task's thread."""
        await self.until(lambda: self.fake.threads(self.home.channel))
        return self.fake.threads(self.home.channel)[0]


@asynccontextmanager
async def a_town(
    home: Home,
    path: Path,
    *,
    policy: Policy | None = None,
    streaming: Streaming = "none",
    clock: Clock | None = None,
    transcriber: Transcriber | None = None,
) -> AsyncIterator[Town]:
    """From start to stop, on what is in the directory. Alice may do everything in the channel and privately."""
    clock = clock or Clock()
    lists = Lists(frozenset({str(home.guild.id)}), frozenset({str(home.channel.id)}), frozenset({str(home.alice.id)}))
    async with a_world(path, clock=clock, policy=policy or Policy({"discord": lists})) as world:
        world.commands = Commands(replace(world.services, transcriber=lambda: transcriber))
        outbox = Outbox(world.task_service, world.store, world.chats, streaming, clock=clock, sleep=clock.sleep)
        chat = DiscordChat(
            TOKEN,
            world.commands,
            api_base=home.fake.api_base,
            guild_ids=[str(home.guild.id)],
            register_commands=True,
            state_directory=path,
            lost=outbox.leave,
        )
        world.chats["discord"] = chat
        connection = asyncio.create_task(chat.run())
        await outbox.start()
        try:
            await home.fake.connected()
            yield Town(home, world, chat, clock)
        finally:
            await outbox.stop()
            await chat.close()
            await asyncio.wait_for(connection, PATIENCE)
