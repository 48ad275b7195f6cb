"""Chats are kept connected: whatever ends a connection, it is made anew, and no other chat notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from bot.chats.discord.chat import DiscordChat
from bot.chats.installed import installed, model_of
from bot.chats.telegram.chat import TelegramChat
from bot.config.settings import Settings
from bot.domain.chat import Capabilities, Chat, Connected, Intake
from bot.monitoring.dependencies import Dependencies
from bot.platform import Platform
from bot.store.errors import StoreAway
from bot.wiring.connections import FIRST_PAUSE, LAST_PAUSE, ConnectedChats, connect_while, end, keep
from bot.wiring.dependencies import of_chats
from tests.bot.chats.discord.recording import Recording as DiscordRecording
from tests.bot.chats.loopback import CAPABILITIES
from tests.bot.chats.telegram.conftest import QUICK
from tests.bot.chats.telegram.recording import Recording as TelegramRecording
from tests.bot.world import Clock
from tests.fakes import discord, telegram

PATIENCE = 10.0


@asynccontextmanager
async def kept(chat: Connected, clock: Clock) -> AsyncIterator[None]:
    """As the service keeps it, until the block ends."""
    task = asyncio.create_task(keep(chat, clock=clock, sleep=clock.sleep))
    try:
        yield
    finally:
        await end(task, chat)


async def test_chats_are_connected_only_while_the_record_is_ours() -> None:
    """A resumption that fails is tried again."""
    ours, done, fails = [True], list[str](), [StoreAway("away")]
    changed = asyncio.Event()

    async def pause() -> None:
        done.append("paused")
        changed.set()

    async def resume() -> None:
        if fails:
            raise fails.pop()
        done.append("resumed")
        changed.set()

    work = asyncio.create_task(connect_while(lambda: ours[0], pause, resume))
    async with asyncio.timeout(PATIENCE):
        for now in (False, True):
            ours[0] = now
            await changed.wait()
            changed.clear()
    work.cancel()
    assert done == ["paused", "resumed"]


async def pausing(clock: Clock) -> float:
    """Until the connection is tried again; the seconds that this takes, which then pass."""
    async with asyncio.timeout(PATIENCE):
        while (pause := clock.next_wake()) is None:
            await asyncio.sleep(0.01)
    clock.advance(pause)
    return pause


async def seen(waits: Dependencies) -> set[str]:
    """What is waited for, looked at twice."""
    await waits.look()
    await waits.look()
    return {wait.what for wait in waits.now()}


def on_discord(fake: discord.FakeDiscord, intake: Intake, token: str = discord.TOKEN) -> DiscordChat:
    return DiscordChat(token, intake, api_base=fake.api_base)


def on_telegram(fake: telegram.FakeTelegram, intake: Intake) -> TelegramChat:
    return TelegramChat(telegram.TOKEN, intake, base_url=fake.base_url, times=QUICK)


@pytest.mark.slow
async def test_a_press_that_the_library_does_not_understand_does_not_end_discord() -> None:
    """Seen failing before: the library raised KeyError ("component_type"), and Discord was gone until a restart."""
    heard, clock = DiscordRecording(), Clock()
    async with discord.FakeDiscord() as fake:
        guild = fake.guild()
        channel, alice = fake.channel(guild), fake.user("alice", guild)
        chat = on_discord(fake, heard)
        waits = Dependencies(of_chats([chat]))
        async with kept(chat, clock):
            await fake.wait_until(lambda: chat.online)
            assert await seen(waits) == set()
            fake.press_oddly(alice, channel)
            await fake.wait_until(lambda: not fake.gateway.connected)
            async with asyncio.timeout(PATIENCE):
                while clock.next_wake() is None:
                    await asyncio.sleep(0.01)
            assert await seen(waits) == {"discord"}
            await pausing(clock)
            await fake.wait_until(lambda: chat.online)
            fake.say(alice, channel, "!opengui help")
            await fake.wait_until(lambda: heard.messages)
            assert await seen(waits) == set()
        assert fake.gaps == []


@pytest.mark.slow
async def test_an_update_that_polling_trips_over_does_not_end_telegram() -> None:
    """Seen failing before: polling raised KeyError ("update_id"), and Telegram was gone until a restart."""
    heard, clock = TelegramRecording(), Clock()
    async with telegram.FakeTelegram() as fake:
        alice = fake.user("alice")
        chat = on_telegram(fake, heard)
        waits = Dependencies(of_chats([chat]))
        async with kept(chat, clock):
            await fake.connected()
            fake.polling.oddly = 2
            await fake.say(alice, fake.private(alice), "/help")
            pauses = [await pausing(clock)]
            assert await seen(waits) == {"telegram"}
            pauses.append(await pausing(clock))
            assert pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE]
            await fake.settled()
            assert [came.command for came in heard.messages][-1] == "help"
            assert await seen(waits) == set()


@pytest.mark.slow
async def test_pauses_grow_while_it_goes_wrong_and_begin_anew_after_it_went_well() -> None:
    """Seen failing before: there was no second attempt."""
    clock = Clock()
    async with discord.FakeDiscord() as fake:
        guild = fake.guild()
        channel, alice = fake.channel(guild), fake.user("alice", guild)
        fake.gateway.odd_greetings = 11
        async with kept(on_discord(fake, DiscordRecording()), clock):
            pauses = [await pausing(clock) for _ in range(11)]
            assert pauses == [min(FIRST_PAUSE * 2**number, LAST_PAUSE) for number in range(11)]
            await fake.connected()
            clock.advance(LAST_PAUSE)
            fake.press_oddly(alice, channel)
            assert await pausing(clock) == FIRST_PAUSE
            await fake.connected()


@pytest.mark.slow
async def test_one_chat_that_fails_again_and_again_silences_no_other(caplog: pytest.LogCaptureFixture) -> None:
    """Both are in the same loop; one of them never comes up. A token that is refused is tried again too."""
    heard, clock = TelegramRecording(), Clock()
    async with AsyncExitStack() as stack:
        fake = await stack.enter_async_context(telegram.FakeTelegram())
        other = await stack.enter_async_context(discord.FakeDiscord())
        alice = fake.user("alice")
        wrong = on_discord(other, DiscordRecording(), "not-the-token-of-this-bot")
        right = on_telegram(fake, heard)
        await stack.enter_async_context(kept(wrong, clock))
        await stack.enter_async_context(kept(right, Clock()))
        await fake.connected()
        for number in range(1, 4):
            await pausing(clock)
            await fake.say(alice, fake.private(alice), "/help")
            await fake.settled()
            assert len(heard.messages) == number
        assert await seen(Dependencies(of_chats([wrong, right]))) == {"discord"}
    assert caplog.text.count("DISCORD_BOT_TOKEN") >= 3
    assert "not-the-token" not in caplog.text


@dataclass
class Line:
    """A connection that notes when it begins and ends."""

    token: str
    did: list[str]
    platform: str = "telegram"
    capabilities: Capabilities = CAPABILITIES
    online: bool = False
    open: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        self.did.append(f"{self.token} begins")
        self.online = True
        self.open.set()
        await self.ended.wait()

    async def close(self) -> None:
        self.did.append(f"{self.token} ends")
        self.ended.set()


async def test_another_token_takes_the_place_of_the_old_one_and_no_other_chat_notices() -> None:
    """Seen failing with the new one begun first: Telegram lets one reader in for each bot."""
    did: list[str] = []
    lines: list[Line] = []
    chats: dict[str, Chat] = {}

    def make(platform: Platform[Any], settings: Settings) -> Connected:
        lines.append(Line(getattr(settings, platform.token).get_secret_value(), did, platform.name))
        return cast("Connected", lines[-1])

    def settings(**values: str) -> Settings:
        lists = {"discord_allowed_user_ids": "1", "telegram_allowed_user_ids": "1"}
        return model_of(installed()).model_validate(lists | values)

    connected = ConnectedChats(installed(), make, chats)
    connected.make(settings(discord_bot_token="d1"))
    connected.start()
    await lines[0].open.wait()
    assert (set(chats), connected.online("telegram")) == ({"discord"}, None)
    assert await connected.change(settings(discord_bot_token="d1", telegram_bot_token="t1")) == ("telegram",)
    await lines[1].open.wait()
    assert (set(chats), connected.online("telegram")) == ({"discord", "telegram"}, True)
    assert await connected.change(settings(discord_bot_token="d1", telegram_bot_token="t2")) == ("telegram",)
    await lines[2].open.wait()
    assert await connected.change(settings(discord_bot_token="d1", vlm_model="another")) == ("telegram",)
    assert set(chats) == {"discord"}
    await connected.close()
    assert did == ["d1 begins", "t1 begins", "t1 ends", "t2 begins", "t2 ends", "d1 ends"]
