"""A fake Feishu with two people, a private chat, a group and one of topics, and the real adapter connected to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from bot.chats.feishu.chat import FeishuChat
from bot.chats.feishu.limits import Times
from bot.domain.address import Address
from bot.domain.chat import Intake
from bot.domain.incoming import Incoming, Press
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.feishu import APP, SECRET, Chat, FakeFeishu, Message, User
from tests.fakes.feishu.world import TENANT

QUICK = Times(first_retry=0.01, last_retry=0.05, answer=1.0, pong=30.0)
"""Pauses that a test can wait for."""


@dataclass
class Home:
    fake: FakeFeishu
    alice: User
    bob: User
    private: Chat
    group: Chat
    topics: Chat

    def address(self, chat: Chat, thread: str = "") -> Address:
        if chat.person is not None:
            return Address("feishu", APP, chat.person.id, thread=thread)
        return Address("feishu", APP, chat.id, TENANT, thread)

    async def heard(self, intake: Recording, number: int = 1) -> Incoming:
        await self.fake.wait_until(lambda: len(intake.messages) >= number)
        return intake.messages[number - 1]

    async def pressed(self, intake: Recording, number: int = 1) -> Press:
        await self.fake.wait_until(lambda: len(intake.presses) >= number)
        return intake.presses[number - 1]

    async def answer(self, chat: Chat, number: int = 1, thread: str = "") -> Message:
        """The bot's `number`th message there."""
        await self.fake.wait_until(lambda: len(self.fake.from_bot(chat, thread)) >= number)
        return self.fake.from_bot(chat, thread)[number - 1]

    async def settled(self) -> None:
        """Until every event is answered."""
        await self.fake.wait_until(lambda: not self.fake.gateway.pending)


@pytest.fixture
async def home(real_world: None) -> AsyncIterator[Home]:  # noqa: ARG001
    async with FakeFeishu() as fake:
        alice, bob = fake.user("alice"), fake.user("bob")
        yield Home(fake, alice, bob, fake.private(alice), fake.group(), fake.group(topics=True))
        assert fake.gaps == []


@pytest.fixture
def intake() -> Recording:
    return Recording()


@asynccontextmanager
async def running(home: Home, intake: Intake, **options: Any) -> AsyncIterator[FeishuChat]:
    settings: dict[str, Any] = {"root": home.fake.base_url, "times": QUICK} | options
    chat = FeishuChat(settings.pop("app", APP), settings.pop("secret", SECRET), intake, **settings)
    task = asyncio.create_task(chat.run())
    before = home.fake.gateway.opened
    try:
        await home.fake.wait_until(lambda: task.done() or home.fake.gateway.opened > before)
        if task.done():
            task.result()
        yield chat
    finally:
        await chat.close()
        await asyncio.wait_for(task, 10)


@pytest.fixture
async def chat(home: Home, intake: Recording) -> AsyncIterator[FeishuChat]:
    async with running(home, intake) as connected:
        yield connected
