"""The Discord adapter keeps the contract of every chat."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from bot.chats.base import Address, Chat, MessageRef, Person, Press
from bot.chats.discord import DiscordChat
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.discord.conftest import Home
from tests.bot.chats.discord.recording import Recording

SILENT = 1 << 12
_MARKUP = re.compile(r"\\(?P<escaped>.)|(?P<markup>\*\*|^-# |^<@\d+> )", re.MULTILINE)


class DiscordBench:
    def __init__(self, chat: DiscordChat, home: Home, intake: Recording) -> None:
        self.chat: Chat = chat
        self._home = home
        self._intake = intake
        self.origin = home.address()
        self.person = Person("discord", str(home.alice.id))
        self._fake = home.fake

    async def shown(self, place: Address) -> Sequence[Shown]:
        fake = self._fake
        found = fake.from_bot(fake.backend.get_channel(int(place.thread or place.chat)))
        return [
            Shown(
                id=str(message.id),
                text=_MARKUP.sub(lambda part: part["escaped"] or "", message.content)
                + "".join(data.decode() for name, data in fake.files(message).items() if name.endswith(".txt")),
                buttons=tuple(fake.buttons(message)),
                files=tuple(fake.files(message)),
                mentions=tuple(map(str, message.ping_user_ids)) + ("everyone",) * message.mention_everyone,
                silent=bool(message.flags & SILENT),
                choices=tuple(option["value"] for menu in fake.menus(message) for option in menu["options"]),
            )
            for message in found
        ]

    async def remove(self, ref: MessageRef) -> None:
        self._fake.backend.delete_message(int(ref.address.thread or ref.address.chat), int(ref.message))

    async def lose(self, place: Address) -> None:
        self._fake.backend.delete_channel(int(place.chat))

    async def press(self, ref: MessageRef, data: str) -> Press:
        fake, before = self._fake, len(self._intake.presses)
        shown = fake.message(fake.backend.get_channel(int(ref.address.thread or ref.address.chat)), ref.message)
        act = fake.press if data in fake.buttons(shown) else fake.choose
        act(self._home.alice, shown, data)
        await fake.wait_until(lambda: len(self._intake.presses) > before)
        return self._intake.presses[-1]

    async def flood(self, seconds: float) -> None:
        self._fake.limits.flood("*", "*", seconds, 1)


class TestDiscord(ChatContract):
    @pytest.fixture
    def bench(self, chat: DiscordChat, home: Home, intake: Recording) -> DiscordBench:
        return DiscordBench(chat, home, intake)
