"""The Telegram adapter keeps the contract of every chat."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.chats.base import Address, Chat, MessageRef, Person
from bot.chats.telegram import TelegramChat
from bot.chats.telegram.formatting import JOINER
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.telegram.conftest import Home
from tests.fakes.telegram import Chat as TelegramPlace
from tests.fakes.telegram import Message


class TelegramBench:
    def __init__(self, chat: TelegramChat, home: Home, place: TelegramPlace, thread: int = 0) -> None:
        self.chat: Chat = chat
        self.origin = home.address(place, thread)
        self.person = Person("telegram", str(home.alice.id), "Alice")
        self._fake = home.fake

    async def shown(self, place: Address) -> Sequence[Shown]:
        chat = self._fake.world.chats[int(place.chat)]
        return [_shown(message) for message in self._fake.from_bot(chat, int(place.thread or 0))]

    async def remove(self, ref: MessageRef) -> None:
        del self._fake.world.messages[int(ref.address.chat)][int(ref.message)]

    async def lose(self, place: Address) -> None:
        self._fake.throw_out(self._fake.world.chats[int(place.chat)])

    async def flood(self, seconds: float) -> None:
        self._fake.faults.flood(int(seconds))


def _shown(message: Message) -> Shown:
    file = message.file
    whole = file.data.decode() if file is not None and file.name.endswith(".txt") else ""
    return Shown(
        id=str(message.id),
        text=message.text.replace(JOINER, "") + whole,
        buttons=tuple(message.buttons),
        files=(file.name,) if file is not None else (),
        mentions=tuple(message.mentions),
        silent=message.silent,
    )


class TestPrivate(ChatContract):
    @pytest.fixture
    def bench(self, chat: TelegramChat, home: Home) -> TelegramBench:
        return TelegramBench(chat, home, home.private)


class TestGroup(ChatContract):
    @pytest.fixture
    def bench(self, chat: TelegramChat, home: Home) -> TelegramBench:
        return TelegramBench(chat, home, home.group)


class TestTopic(ChatContract):
    @pytest.fixture
    def bench(self, chat: TelegramChat, home: Home) -> TelegramBench:
        return TelegramBench(chat, home, home.forum, home.fake.topic(home.forum, "phones"))
