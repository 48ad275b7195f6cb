"""A fake Telegram with a person, a private chat, a group and a forum, and the real adapter connected to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.chats.telegram.chat import TelegramChat
from bot.chats.telegram.limits import Times
from bot.domain.address import Address
from bot.domain.chat import Intake
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.telegram import TOKEN, Chat, FakeTelegram, Message, User

QUICK = Times(poll=5.0, answer=1.0, stall=30.0, first_retry=0.01, last_retry=0.05, album=0.2)
"""Pauses that a test can wait for."""


@dataclass
class Home:
    """One person with a private chat, in a group and in a forum."""

    fake: FakeTelegram
    alice: User
    private: Chat
    group: Chat
    forum: Chat

    def address(self, chat: Chat, thread: int = 0) -> Address:
        return Address("telegram", str(self.fake.bot.id), str(chat.id), thread=str(thread or ""))

    async def answer(self, chat: Chat, number: int = 1) -> Message:
        """Wait for the bot's `number`th message in the chat and return it."""
        await self.fake.wait_until(lambda: len(self.fake.from_bot(chat)) >= number)
        return self.fake.from_bot(chat)[number - 1]


@pytest.fixture
async def home(real_world: None) -> AsyncIterator[Home]:  # noqa: ARG001
    async with FakeTelegram() as fake:
        alice = fake.user("alice")
        yield Home(fake, alice, fake.private(alice), fake.group(), fake.supergroup(forum=True))
        assert fake.gaps == []
        assert fake.polling.most <= 1


@pytest.fixture
def intake() -> Recording:
    return Recording()


@asynccontextmanager
async def running(home: Home, intake: Intake, **options: Any) -> AsyncIterator[TelegramChat]:
    settings: dict[str, Any] = {"base_url": home.fake.base_url, "times": QUICK} | options
    chat = TelegramChat(settings.pop("token", TOKEN), intake, **settings)
    task = asyncio.create_task(chat.run())
    try:
        await home.fake.connected()
        yield chat
    finally:
        await chat.close()
        await asyncio.wait_for(task, 10)


@pytest.fixture
async def chat(home: Home, intake: Recording) -> AsyncIterator[TelegramChat]:
    async with running(home, intake) as connected:
        yield connected
