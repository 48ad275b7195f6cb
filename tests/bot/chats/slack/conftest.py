"""A fake Slack with a person, a channel and a private chat, and the real adapter connected to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.chats.slack.chat import SlackChat
from bot.domain.address import Address
from bot.domain.chat import Intake
from tests.bot.chats.discord.recording import Recording
from tests.fakes.slack import APP_TOKEN, BOT_TOKEN, Channel, FakeSlack, Message, User


@dataclass
class Home:
    """One workspace with a person in a channel."""

    fake: FakeSlack
    alice: User
    channel: Channel
    private: Channel

    def address(self, channel: Channel | None = None, thread: str = "") -> Address:
        there = channel or self.channel
        guild = "" if there.id.startswith("D") else self.fake.world.team
        return Address("slack", self.fake.bot.id, there.id, guild, thread)

    async def answer(self, channel: Channel | None = None, number: int = 1) -> Message:
        """Wait for the bot's `number`th message there and return it."""
        there = channel or self.channel
        await self.fake.wait_until(lambda: len(self.fake.from_bot(there)) >= number)
        return self.fake.from_bot(there)[number - 1]

    async def whisper(self, number: int = 1) -> Message:
        await self.fake.wait_until(lambda: len(self.fake.whispers()) >= number)
        return self.fake.whispers()[number - 1]


@pytest.fixture
async def home(real_world: None) -> AsyncIterator[Home]:  # noqa: ARG001
    async with FakeSlack() as fake:
        alice = fake.user("alice")
        yield Home(fake, alice, fake.channel(), fake.private(alice))
        assert fake.gaps == []


@pytest.fixture
def intake() -> Recording:
    return Recording()


@asynccontextmanager
async def running(home: Home, intake: Intake, **options: Any) -> AsyncIterator[SlackChat]:
    settings: dict[str, Any] = {"base_url": home.fake.base_url, "first_retry": 0.01} | options
    chat = SlackChat(settings.pop("token", BOT_TOKEN), settings.pop("app_token", APP_TOKEN), intake, **settings)
    task = asyncio.create_task(chat.run())
    try:
        await home.fake.connected()
        yield chat
    finally:
        await chat.close()
        await asyncio.wait_for(task, 10)


@pytest.fixture
async def chat(home: Home, intake: Recording) -> AsyncIterator[SlackChat]:
    async with running(home, intake) as connected:
        yield connected
