"""The Slack adapter keeps the contract of every chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Chat
from bot.domain.incoming import Incoming, Press
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.discord.recording import Recording
from tests.bot.chats.slack.conftest import Home, running
from tests.bot.chats.talk_contract import Record, RedeliveryContract, TalkContract
from tests.fakes.slack import Channel, Message


class SlackBench:
    def __init__(self, home: Home, intake: Recording, channel: Channel, stack: AsyncExitStack) -> None:
        self.chat: Chat
        self.record = Record()
        self.intake = intake
        self._home, self._intake, self._channel, self._stack = home, intake, channel, stack
        self._fake = home.fake
        self.origin = home.address(channel)
        self.person = Person("slack", home.alice.id, "alice")

    @property
    def requests(self) -> int:
        return len(self._fake.calls)

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
        before, self._home.alice.locale = len(self._intake.messages), language
        thread = reply_to.message if reply_to else ""
        text = text.replace("/opengui", "@opengui")
        self._fake.say(self._home.alice, self._channel, text, thread=thread, files=files)
        await self._fake.wait_until(lambda: len(self._intake.messages) > before)
        return self._intake.messages[-1]

    async def pass_on(self, text: str) -> Incoming:
        before = len(self._intake.messages)
        elsewhere = self._fake.channel("elsewhere", joined=False)
        message = self._fake.say(self._fake.user("bob"), elsewhere, text.replace("/opengui", "@opengui"))
        self._fake.share(self._home.alice, message, self._channel)
        await self._fake.wait_until(lambda: len(self._intake.messages) > before)
        return self._intake.messages[-1]

    async def there(self, ref: MessageRef) -> bool:
        return ref.message in self._fake.world.messages[ref.address.chat]

    async def shown(self, place: Address) -> Sequence[Shown]:
        channel = self._fake.world.channels[place.chat]
        return [self._shown(message) for message in self._fake.from_bot(channel, place.thread or None)]

    def _shown(self, message: Message) -> Shown:
        pictures = tuple(self._fake.world.files[number].name for number in message.pictures)
        texts = [file.data.decode() for file in message.files if file.name.endswith(".txt")]
        return Shown(
            id=message.ts,
            text="\n".join([message.shown, *texts]),
            buttons=tuple(message.buttons),
            choices=tuple(message.choices),
            files=(*pictures, *(file.name for file in message.files)),
            mentions=tuple(message.mentions),
            silent=not message.mentions,  # Slack has no other way to ring
            reply_to=message.thread,
        )

    async def remove(self, ref: MessageRef) -> None:
        del self._fake.world.messages[ref.address.chat][ref.message]

    async def lose(self, place: Address) -> None:
        del self._fake.world.channels[place.chat]

    async def press(self, ref: MessageRef, data: str) -> Press:
        before = len(self._intake.presses)
        self._fake.press(self._home.alice, self._fake.world.messages[ref.address.chat][ref.message], data)
        await self._fake.wait_until(lambda: len(self._intake.presses) > before)
        return self._intake.presses[-1]

    async def flood(self, seconds: float) -> None:
        self._fake.flood(int(seconds))


@asynccontextmanager
async def a_bench(home: Home, intake: Recording, channel: Channel) -> AsyncIterator[SlackBench]:
    async with AsyncExitStack() as stack:
        bench = SlackBench(home, intake, channel, stack)
        await bench.restart()
        yield bench


class TestChannel(ChatContract, TalkContract, RedeliveryContract):
    @pytest.fixture
    async def bench(self, home: Home, intake: Recording) -> AsyncIterator[SlackBench]:
        async with a_bench(home, intake, home.channel) as bench:
            yield bench
