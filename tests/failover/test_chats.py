"""A chat has one reader, however the active service is lost: its cards go on, and what people write is done once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from simcord.backend.models import Channel

from tests.end_to_end import test_discord as discord
from tests.end_to_end import test_telegram as telegram
from tests.end_to_end.brain import FINISH, Act, call, tap
from tests.end_to_end.service import Place, place_with
from tests.end_to_end.workshop import hang
from tests.failover.hubs import LIMIT_S, LONG, WAYS, Hub, hub_at
from tests.faults.service.test_running import then
from tests.fixtures.adb import AdbServer
from tests.fixtures.databases import ON_POSTGRESQL

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not ON_POSTGRESQL, reason="only a record in PostgreSQL can be taken over"),
]

FIRST = "localhost"
"""The name by which the first service calls a platform: so it is told apart from the second one."""
ADDRESSES = ("TELEGRAM_BASE_URL", "DISCORD_API_BASE")


@dataclass
class Chat:
    """A place on a platform in which one person writes."""

    settings: dict[str, str]
    person: str
    callers: list[str]
    """By which name each request came."""
    keeps: bool
    """Whether the platform keeps what is written while no bot is connected."""
    say: Callable[[str], Awaitable[object]]
    """Writes a command there, without what it begins with."""
    resume: Callable[[], Awaitable[bool]]
    """Presses Resume, and returns whether it is there."""
    said: Callable[[], list[str]]
    """What the bot has written, also in the threads of tasks."""
    now: Callable[[], int]
    """How many readers are connected."""
    most: Callable[[], int]
    """How many were at one moment since the last `begin_count`."""
    joined: Callable[[], bool]
    """Whether the second one has connected."""
    begin_count: Callable[[], None]

    def finals(self) -> int:
        """How often the end of a task was told."""
        return sum("It is done." in text for text in self.said())

    def answers(self) -> int:
        """How often `whoami` was answered."""
        return sum(f"Person: {self.person}" in text for text in self.said())

    def cards(self, task: int) -> list[str]:
        """The cards of this task."""
        return [text for text in self.said() if text.strip("*").startswith(f"Task {task} · switch")]


async def until(such: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not such():
            await asyncio.sleep(0.05)


@asynccontextmanager
async def on_telegram(*acts: Act) -> AsyncIterator[Chat]:
    """A group; the platform keeps what is written there until it is polled."""
    async with telegram.town(*acts) as here:
        polling = here.fake.polling

        async def resume() -> bool:
            for message in here.fake.from_bot(here.group):
                for data, label in message.buttons.items():
                    if label == "Resume":
                        await here.fake.press(here.alice, message, data)
                        return True
            return False

        def begin_count() -> None:
            polling.most = polling.now

        yield Chat(
            settings=here.settings,
            person=str(here.alice.id),
            callers=here.fake.callers,
            keeps=True,
            say=lambda text: here.fake.say(here.alice, here.group, f"/{text}"),
            resume=resume,
            said=lambda: [message.text for message in here.fake.from_bot(here.group)],
            now=lambda: polling.now,
            most=lambda: polling.most,
            joined=lambda: polling.now > 0 and {*here.fake.callers} > {FIRST},
            begin_count=begin_count,
        )


@asynccontextmanager
async def on_discord(*acts: Act) -> AsyncIterator[Chat]:
    """A channel of a server, in which each task gets its thread."""
    async with discord.town(*acts) as here:
        gateway, before = here.fake.gateway, 0

        def places() -> list[Channel]:
            return [here.channel, *here.threads()]

        async def say(text: str) -> None:
            here.fake.say(here.alice, here.channel, f"!opengui {text}")

        async def resume() -> bool:
            for message in (each for place in places() for each in here.fake.from_bot(place)):
                for data, label in here.fake.buttons(message).items():
                    if label == "Resume":
                        here.fake.press(here.alice, message, data)
                        return True
            return False

        def begin_count() -> None:
            nonlocal before
            gateway.most, before = gateway.now, gateway.identifies

        yield Chat(
            settings=here.settings,
            person=str(here.alice.id),
            callers=here.fake.callers,
            keeps=False,
            say=say,
            resume=resume,
            said=lambda: [message.content for place in places() for message in here.fake.from_bot(place)],
            now=lambda: gateway.now,
            most=lambda: gateway.most,
            joined=lambda: gateway.now > 0 and gateway.identifies > before,
            begin_count=begin_count,
        )


PLATFORMS = {"telegram": on_telegram, "discord": on_discord}
CASES = [
    pytest.param(platform, way, marks=() if (platform, way) == ("discord", "kill") else LONG)
    for platform in PLATFORMS
    for way in WAYS
]


@asynccontextmanager
async def two_hubs(place: Place, url: str, settings: dict[str, str]) -> AsyncIterator[list[Hub]]:
    """Both reach the phone of this place. The first one calls the platforms by the name FIRST."""
    async with AsyncExitStack() as stack:
        hubs: list[Hub] = []
        for name in ("one", "two"):
            own = settings.copy()
            if not hubs:
                own |= {key: own[key].replace("127.0.0.1", FIRST) for key in ADDRESSES if key in own}
            directory = place.directory / name
            directory.mkdir()
            hubs.append(await stack.enter_async_context(hub_at(Place(place.phone, place.adb, directory, own), url)))
        yield hubs


@pytest.mark.parametrize(("platform", "way"), CASES)
async def test_a_chat_has_one_reader(
    adb_server: AdbServer, tmp_path: Path, database: str, platform: str, way: str
) -> None:
    """A service that is stopped still has its connection, on which it is given what is written meanwhile."""
    from tests.fixtures.postgresql import rows_of  # noqa: PLC0415 - an extra

    asked = asyncio.Event()
    bluetooth = [call("open_app", name="Settings"), then(asked.set, hang), tap("Bluetooth"), FINISH]
    wifi = [call("open_app", name="Settings"), tap("Wi-Fi"), FINISH]
    async with (
        place_with(adb_server, tmp_path) as place,
        PLATFORMS[platform](*bluetooth, *wifi) as chat,
        two_hubs(place, database, chat.settings) as (first, second),
    ):
        await first.begin("Ready.")
        await second.begin("Standing by")
        await until(chat.now)
        await chat.say("do switch Bluetooth on")
        await asked.wait()
        assert {*chat.callers} == {FIRST}, "a service that stands by connects to no chat"

        chat.begin_count()
        await first.lose(way)
        if chat.keeps:
            # At once: a service that is cut off is still connected, and does not know yet that it is.
            await chat.say("do switch Wi-Fi off")
        if way != "stop":
            await until(lambda: not chat.now())
        if not chat.keeps:
            await chat.say("whoami")
        await second.service.says("Ready.")
        await until(chat.joined)
        assert way == "stop" or chat.most() <= 1, "the chat was connected twice"
        await chat.say("whoami")
        await until(chat.answers)
        if not chat.keeps:
            await chat.say("do switch Wi-Fi off")
        async with asyncio.timeout(LIMIT_S):
            while not await chat.resume():
                await asyncio.sleep(0.05)

        woken = len(chat.callers)
        await first.come_back(way)
        assert FIRST not in chat.callers[woken:], "a service that has lost the record speaks to no chat"
        await until(lambda: chat.finals() == 2)
        await second.service.stop()
        sent = rows_of(database, "SELECT task, state, attempts FROM outbox WHERE kind = 'final' ORDER BY task")
        assert sent == [(1, "sent", 1), (2, "sent", 1)]
        assert chat.finals() == 2
        assert chat.answers() == 1
        # A task that is over before its card is due has none.
        cards = [chat.cards(task) for task in (1, 2)]
        assert [len(cards[0]), len(cards[1]) <= 1] == [1, True]
        assert [card for card in [*cards[0], *cards[1]] if not card.endswith("✅ Done")] == []
        receipts = Counter(entry.receipt for entry in place.phone.journal.inputs() if entry.receipt)
        assert {*receipts.values()} == {1}, "an action reached the phone twice"
