"""The Discord adapter keeps the contract of every chat."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Chat
from bot.domain.incoming import Incoming, Press
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording
from tests.bot.chats.talk_contract import Record, TalkContract

SILENT = 1 << 12
_MARKUP = re.compile(r"\\(?P<escaped>.)|(?P<markup>\*\*|^-# |^<@\d+> )", re.MULTILINE)


class DiscordBench:
    def __init__(self, home: Home, intake: Recording, directory: Path, stack: AsyncExitStack) -> None:
        self.chat: Chat
        self.record = Record()
        self.intake = intake
        self._home = home
        self._intake = intake
        self._directory = directory
        self._stack = stack
        self.origin = home.address()
        self.person = Person("discord", str(home.alice.id), "alice")
        self._fake = home.fake

    @property
    def requests(self) -> int:
        return len(self._fake.callers)

    async def restart(self) -> None:
        await self._stack.aclose()
        self.chat = await self._stack.enter_async_context(
            running(self._home, self._intake, self._directory, record=self.record)
        )

    async def write(
        self,
        text: str,
        *,
        files: Sequence[tuple[str, bytes]] = (),
        reply_to: MessageRef | None = None,
        language: str = "en",
    ) -> Incoming:
        fake, before = self._fake, len(self._intake.messages)
        fake.backend.edit_guild(self._home.guild.id, {"preferred_locale": language})
        above = fake.message(self._home.channel, reply_to.message) if reply_to else None
        text = text.replace("/opengui", "!opengui")
        fake.say(self._home.alice, self._home.channel, text, attachments=files, reply_to=above)
        await fake.wait_until(lambda: len(self._intake.messages) > before)
        return self._intake.messages[-1]

    async def pass_on(self, text: str) -> Incoming:
        fake, before = self._fake, len(self._intake.messages)
        bob = fake.user("bob", self._home.guild)
        elsewhere = fake.channel(self._home.guild, "elsewhere")
        fake.backend.add_member(self._home.guild.id, self._home.alice.id)
        fake.forward(
            self._home.alice, fake.say(bob, elsewhere, text.replace("/opengui", "!opengui")), self._home.channel
        )
        await fake.wait_until(lambda: len(self._intake.messages) == before + 2)
        return next(one for one in self._intake.messages[before:] if one.person == self.person)

    async def there(self, ref: MessageRef) -> bool:
        return int(ref.message) in self._fake.backend.messages[int(ref.address.thread or ref.address.chat)]

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
                reply_to=str((message.reference or {}).get("message_id", "")),
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


class TestDiscord(ChatContract, TalkContract):
    @pytest.fixture
    async def bench(self, home: Home, intake: Recording, tmp_path: Path) -> AsyncIterator[DiscordBench]:
        async with AsyncExitStack() as stack:
            bench = DiscordBench(home, intake, tmp_path, stack)
            await bench.restart()
            yield bench
