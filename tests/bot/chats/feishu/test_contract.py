"""The Feishu adapter keeps the contract of every chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Chat, ChatError
from bot.domain.incoming import Incoming, Press
from bot.domain.outgoing import Message as Outgoing
from bot.texts import language_of
from tests.bot.chats.contract import ChatContract, Shown
from tests.bot.chats.feishu.conftest import Home, running
from tests.bot.chats.talk_contract import COMMAND, Record, RedeliveryContract, TalkBench, TalkContract
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.feishu import Chat as FeishuPlace
from tests.fakes.feishu import Message


class FeishuBench:
    def __init__(
        self, home: Home, intake: Recording, place: FeishuPlace, stack: AsyncExitStack, thread: str = ""
    ) -> None:
        self.chat: Chat
        self.record = Record()
        self.intake = intake
        self._home, self._fake, self._intake = home, home.fake, intake
        self._place, self._thread, self._stack = place, thread, stack
        self.origin = home.address(place, thread)
        self.person = Person("feishu", home.alice.id, "alice")
        self.locale = "zh-CN"

    @property
    def requests(self) -> int:
        return len(self._fake.calls)

    async def restart(self) -> None:
        await self._stack.aclose()
        self.chat = await self._stack.enter_async_context(
            running(self._home, self._intake, locale=self.locale, record=self.record)
        )

    async def write(
        self,
        text: str,
        *,
        files: Sequence[tuple[str, bytes]] = (),
        reply_to: MessageRef | None = None,
        language: str = "en",
    ) -> Incoming:
        """Feishu has no text with a file: people send it, and reply to it. It tells nobody's language."""
        del language
        before = len(self._intake.messages)
        above = self._fake.messages[reply_to.message] if reply_to else None
        if files:
            above = await self._fake.send_file(self._home.alice, self._place, *files[0], reply_to=self._root())
            await self._home.settled()
            self._intake.messages[before:] = []
        await self._fake.say(
            self._home.alice,
            self._place,
            text,
            reply_to=above or self._root(),
            mention=False,
            in_thread=self._threaded(),
        )
        return await self._home.heard(self._intake, before + 1)

    async def pass_on(self, text: str) -> Incoming:
        before = len(self._intake.messages)
        inner = [Message(self._fake.new_id("om"), self._place, "text", {"text": text}, self._home.bob)]
        await self._fake.post(
            self._home.alice,
            self._place,
            "merge_forward",
            {"text": "Merged and Forwarded Message"},
            reply_to=self._root(),
            in_thread=self._threaded(),
            inner=inner,
        )
        return await self._home.heard(self._intake, before + 1)

    async def there(self, ref: MessageRef) -> bool:
        return not self._fake.messages[ref.message].recalled

    async def shown(self, place: Address) -> Sequence[Shown]:
        chat = self._fake.chats.get(place.chat) or self._fake.private(self._fake.users[place.chat])
        found: list[Shown] = []
        for message in self._fake.from_bot(chat, place.thread):
            name, data = self._fake.files[message.content["file_key"]] if message.kind == "file" else ("", b"")
            found.append(
                Shown(
                    id=message.id,
                    text=data.decode() if name.endswith(".txt") else message.text,
                    buttons=tuple(message.buttons),
                    files=(name,) if name else ("picture",) if message.image else (),
                    mentions=tuple(message.rung),
                    silent=not message.rung,
                    choices=tuple(message.choices),
                    reply_to=message.parent,
                )
            )
        return found

    async def remove(self, ref: MessageRef) -> None:
        self._fake.messages[ref.message].recalled = True

    async def lose(self, place: Address) -> None:
        del place
        self._place.bot_in = False

    async def press(self, ref: MessageRef, data: str) -> Press:
        before = len(self._intake.presses)
        await self._fake.press(self._home.alice, self._fake.messages[ref.message], data)
        return await self._home.pressed(self._intake, before + 1)

    async def flood(self, seconds: float) -> None:
        self._fake.flood(int(seconds))

    def _root(self) -> Message | None:
        return self._fake.messages[self._thread] if self._thread else None

    def _threaded(self) -> bool | None:
        return True if self._thread else None


@asynccontextmanager
async def a_bench(home: Home, intake: Recording, place: FeishuPlace, thread: str = "") -> AsyncIterator[FeishuBench]:
    async with AsyncExitStack() as stack:
        bench = FeishuBench(home, intake, place, stack, thread)
        await bench.restart()
        yield bench


class FeishuTalk(ChatContract, TalkContract, RedeliveryContract):
    """What Feishu cannot is told apart."""

    @pytest.mark.parametrize(("locale", "spoken"), [("zh-CN", "zh"), ("en", "en")])
    async def test_people_are_known_by_their_language(  # type: ignore[override]
        self, bench: FeishuBench, locale: str, spoken: str
    ) -> None:
        """Feishu does not tell anybody's language: it is that of the domain."""
        bench.locale = locale
        await bench.restart()
        heard = await bench.write(COMMAND)
        assert language_of("auto", heard.person.language) == spoken

    async def test_what_somebody_wrote_is_deleted(self, bench: TalkBench) -> None:
        """Not here: the intake says then that the code stays visible."""
        heard = await bench.write("/opengui answer 123456")
        assert heard.message is not None
        with pytest.raises(ChatError):
            await bench.chat.delete(heard.message)
        assert await bench.there(heard.message)


class TestPrivate(FeishuTalk):
    @pytest.fixture
    async def bench(self, home: Home, intake: Recording) -> AsyncIterator[FeishuBench]:
        async with a_bench(home, intake, home.private) as bench:
            yield bench

    async def test_a_task_gets_a_place_that_can_be_written_to_and_closed(  # type: ignore[override]
        self, bench: FeishuBench
    ) -> None:
        """No thread of its own: the first message replies to what was asked."""
        heard = await bench.write(COMMAND)
        assert heard.message is not None
        place = await bench.chat.open_place(bench.origin, heard.message.message, "Task 7")
        assert place == bench.origin
        await bench.chat.send(place, Outgoing(body="in its place"), nonce="o7")
        await bench.chat.send(place, Outgoing(body="and another"), nonce="o8")
        shown = await bench.shown(place)
        assert [one.reply_to for one in shown] == [heard.message.message, ""]
        await bench.chat.close_place(place)


class TestGroup(FeishuTalk):
    @pytest.fixture
    async def bench(self, home: Home, intake: Recording) -> AsyncIterator[FeishuBench]:
        async with a_bench(home, intake, home.group) as bench:
            yield bench


class TestGroupOfTheBot(ChatContract, TalkContract, RedeliveryContract):
    """A group that the bot administers: there it may recall what people write."""

    @pytest.fixture
    async def bench(self, home: Home, intake: Recording) -> AsyncIterator[FeishuBench]:
        home.group.bot_admin = True
        async with a_bench(home, intake, home.group) as bench:
            yield bench

    test_people_are_known_by_their_language = FeishuTalk.test_people_are_known_by_their_language  # type: ignore[assignment]


class TestThread(FeishuTalk):
    @pytest.fixture
    async def bench(self, home: Home, intake: Recording) -> AsyncIterator[FeishuBench]:
        root = await home.fake.say(home.alice, home.group, "a thread", mention=False)
        home.fake.gateway.pending.clear()
        async with a_bench(home, intake, home.group, root.id) as bench:
            yield bench

    async def test_a_task_gets_a_place_that_can_be_written_to_and_closed(  # type: ignore[override]
        self, bench: FeishuBench
    ) -> None:
        """The thread in which it was asked for."""
        place = await bench.chat.open_place(bench.origin, None, "Task 7")
        assert place == bench.origin
        await bench.chat.close_place(place)
