"""A fake Discord with one server, one channel and one person, and the real adapter connected to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route
from simcord.backend.models import Channel, Guild, Message, User

from bot.chats.discord.chat import DiscordChat
from bot.domain.address import Address
from tests.bot.chats.discord.recording import Recording
from tests.fakes.discord import TOKEN, FakeDiscord


@dataclass
class Home:
    """One server with a channel and a person in it."""

    fake: FakeDiscord
    guild: Guild
    channel: Channel
    alice: User

    def address(self, thread: str = "") -> Address:
        bot = str(self.fake.bot.id)
        return Address("discord", bot, str(self.channel.id), str(self.guild.id), thread)

    def private(self) -> Address:
        return Address("discord", str(self.fake.bot.id), str(self.fake.private(self.alice).id))

    async def answer(self, channel: Channel | None = None, number: int = 1) -> Message:
        """Wait for the bot's `number`th message in the channel and return it."""
        place = channel or self.channel
        await self.fake.wait_until(lambda: len(self.fake.from_bot(place)) >= number)
        return self.fake.from_bot(place)[number - 1]

    async def whisper(self, number: int = 1) -> Message:
        await self.fake.wait_until(lambda: len(self.fake.whispers(self.channel)) >= number)
        return self.fake.whispers(self.channel)[number - 1]


@pytest.fixture
async def home(real_world: None) -> AsyncIterator[Home]:  # noqa: ARG001
    async with FakeDiscord() as fake:
        guild = fake.guild()
        yield Home(fake, guild, fake.channel(guild), fake.user("alice", guild))
        assert fake.gaps == []


@pytest.fixture
def intake() -> Recording:
    return Recording()


Start = Callable[..., Awaitable[DiscordChat]]


@asynccontextmanager
async def running(home: Home, intake: Recording, directory: Path, **options: object) -> AsyncIterator[DiscordChat]:
    settings: dict[str, Any] = {"guild_ids": [str(home.guild.id)], "state_directory": directory} | options
    chat = DiscordChat(settings.pop("token", TOKEN), intake, api_base=home.fake.api_base, **settings)
    task = asyncio.create_task(chat.run())
    try:
        await home.fake.connected()
        yield chat
    finally:
        await chat.close()
        await asyncio.wait_for(task, 10)


@pytest.fixture
async def chat(home: Home, intake: Recording, tmp_path: Path) -> AsyncIterator[DiscordChat]:
    async with running(home, intake, tmp_path) as connected:
        yield connected


@pytest.fixture
async def slash_chat(home: Home, intake: Recording, tmp_path: Path) -> AsyncIterator[DiscordChat]:
    async with running(home, intake, tmp_path, register_commands=True) as connected:
        yield connected


@pytest.fixture(autouse=True)
def _unchanged_addresses() -> Iterator[None]:
    """The adapter must leave discord.py's process-wide addresses as it found them."""
    before = (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
    yield
    assert before == (Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY)
