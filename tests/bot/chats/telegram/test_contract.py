"""The Telegram adapter keeps the contract of every chat."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.chats.base import Address, Chat, MessageRef, Person, Press
from bot.chats.telegram import TelegramChat
from bot.chats.telegram.formatting import JOINER
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.telegram.conftest import Home
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.telegram import Chat as TelegramPlace
from tests.fakes.telegram import Message


class TelegramBench:
    def __init__(
        self, chat: TelegramChat, intake: Recording, home: Home, place: TelegramPlace, thread: int = 0
    ) -> None:
        self.chat: Chat = chat
        self._intake = intake
        self._alice = home.alice
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

    async def press(self, ref: MessageRef, data: str) -> Press:
        before = len(self._intake.presses)
        message = self._fake.world.messages[int(ref.address.chat)][int(ref.message)]
        await self._fake.press(self._alice, message, data)
        await self._fake.wait_until(lambda: len(self._intake.presses) > before)
        return self._intake.presses[-1]

    async def flood(self, seconds: float) -> None:
        self._fake.faults.flood(int(seconds))


def _shown(message: Message) -> Shown:
    file = message.file
    whole = file.data.decode() if file is not None and file.name.endswith(".txt") else ""
    choices = tuple(data for data in message.buttons if data.startswith("1:ans:"))
    return Shown(
        id=str(message.id),
        text=message.text.replace(JOINER, "") + whole,
        buttons=tuple(data for data in message.buttons if data not in choices),
        choices=choices,
        files=(file.name,) if file is not None else (),
        mentions=tuple(message.mentions),
        silent=message.silent,
    )


class TestPrivate(ChatContract):
    @pytest.fixture
    def bench(self, chat: TelegramChat, intake: Recording, home: Home) -> TelegramBench:
        return TelegramBench(chat, intake, home, home.private)


class TestGroup(ChatContract):
    @pytest.fixture
    def bench(self, chat: TelegramChat, intake: Recording, home: Home) -> TelegramBench:
        return TelegramBench(chat, intake, home, home.group)


class TestTopic(ChatContract):
    @pytest.fixture
    def bench(self, chat: TelegramChat, intake: Recording, home: Home) -> TelegramBench:
        return TelegramBench(chat, intake, home, home.forum, home.fake.topic(home.forum, "phones"))
