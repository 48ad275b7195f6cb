"""The Telegram adapter keeps the contract of every chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from bot.chats.telegram.formatting import JOINER
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Chat
from bot.domain.incoming import Incoming, Press
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.talk_contract import Record, RedeliveryContract, TalkContract
from tests.bot.chats.telegram.conftest import Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.telegram import Chat as TelegramPlace
from tests.fakes.telegram import Message


class TelegramBench:
    def __init__(
        self, intake: Recording, home: Home, place: TelegramPlace, stack: AsyncExitStack, thread: int = 0
    ) -> None:
        self.chat: Chat
        self.record = Record()
        self.intake = intake
        self._intake = intake
        self._home = home
        self._alice = home.alice
        self._place = place
        self._thread = thread
        self._stack = stack
        self.origin = home.address(place, thread)
        self.person = Person("telegram", str(home.alice.id), home.alice.name)
        self._fake = home.fake

    @property
    def requests(self) -> int:
        return len(self._fake.callers)

    async def restart(self) -> None:
        await self._stack.aclose()
        self.chat = await self._stack.enter_async_context(running(self._home, self._intake, record=self.record))

    async def write(
        self,
        text: str,
        *,
        files: Sequence[tuple[str, bytes]] = (),
        reply_to: MessageRef | None = None,
        language: str = "en",
    ) -> Incoming:
        before = len(self._intake.messages)
        self._alice.language = language
        await self._fake.say(
            self._alice,
            self._place,
            text,
            thread=self._thread,
            reply_to=self._message(reply_to) if reply_to else None,
            document=files[0] if files else None,
        )
        await self._fake.wait_until(lambda: len(self._intake.messages) > before)
        return self._intake.messages[-1]

    async def pass_on(self, text: str) -> Incoming:
        before = len(self._intake.messages)
        bob = self._fake.user("bob")
        self._fake.privacy = False  # in groups Telegram would keep it away
        origin = {"type": "user", "date": 1, "sender_user": bob.payload()}
        extra = {"forward_origin": origin}
        await self._fake.say(self._alice, self._place, text, thread=self._thread, extra=extra)
        await self._fake.wait_until(lambda: len(self._intake.messages) > before)
        return self._intake.messages[-1]

    async def there(self, ref: MessageRef) -> bool:
        return int(ref.message) in self._fake.world.messages[int(ref.address.chat)]

    def _message(self, ref: MessageRef) -> Message:
        return self._fake.world.messages[int(ref.address.chat)][int(ref.message)]

    async def shown(self, place: Address) -> Sequence[Shown]:
        chat = self._fake.world.chats[int(place.chat)]
        return [_shown(message) for message in self._fake.from_bot(chat, int(place.thread or 0))]

    async def remove(self, ref: MessageRef) -> None:
        del self._fake.world.messages[int(ref.address.chat)][int(ref.message)]

    async def lose(self, place: Address) -> None:
        self._fake.throw_out(self._fake.world.chats[int(place.chat)])

    async def press(self, ref: MessageRef, data: str) -> Press:
        before = len(self._intake.presses)
        await self._fake.press(self._alice, self._message(ref), data)
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
        reply_to=str(message.reply_to.id) if message.reply_to is not None else "",
    )


@asynccontextmanager
async def a_bench(intake: Recording, home: Home, place: TelegramPlace, thread: int = 0) -> AsyncIterator[TelegramBench]:
    async with AsyncExitStack() as stack:
        bench = TelegramBench(intake, home, place, stack, thread)
        await bench.restart()
        yield bench


class TestPrivate(ChatContract, TalkContract, RedeliveryContract):
    @pytest.fixture
    async def bench(self, intake: Recording, home: Home) -> AsyncIterator[TelegramBench]:
        async with a_bench(intake, home, home.private) as bench:
            yield bench


class TestGroup(ChatContract, TalkContract, RedeliveryContract):
    @pytest.fixture
    async def bench(self, intake: Recording, home: Home) -> AsyncIterator[TelegramBench]:
        async with a_bench(intake, home, home.group) as bench:
            yield bench


class TestTopic(ChatContract, TalkContract, RedeliveryContract):
    @pytest.fixture
    async def bench(self, intake: Recording, home: Home) -> AsyncIterator[TelegramBench]:
        async with a_bench(intake, home, home.forum, home.fake.topic(home.forum, "phones")) as bench:
            yield bench


class TestForum(ChatContract):
    """The General topic of a forum where the bot may make topics."""

    @pytest.fixture
    async def bench(self, intake: Recording, home: Home) -> AsyncIterator[TelegramBench]:
        home.forum.manages_topics = True
        async with a_bench(intake, home, home.forum) as bench:
            yield bench
