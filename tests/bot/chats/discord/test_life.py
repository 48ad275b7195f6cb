"""The life of the connection: tokens, outages, closing, and a message before there is a connection."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from bot.chats.discord.chat import DiscordChat
from bot.domain.chat import ChatError
from bot.domain.outgoing import Message
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording
from tests.fakes.discord import TOKEN

WRONG = "not-the-token-of-this-bot"


async def test_a_wrong_token_is_a_clear_sentence_without_the_token(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    chat = DiscordChat(WRONG, intake, api_base=home.fake.api_base)
    with pytest.raises(ChatError, match="DISCORD_BOT_TOKEN") as caught:
        await asyncio.wait_for(chat.run(), 10)
    assert WRONG not in f"{caught.value!r} {caught.value.__cause__!r} {caplog.text} {chat!r}"


async def test_a_token_that_the_gateway_refuses(home: Home, intake: Recording, tmp_path: Path) -> None:
    async with running(home, intake, tmp_path):
        pass
    home.fake.gateway.token = "changed meanwhile"
    chat = DiscordChat(TOKEN, intake, api_base=home.fake.api_base)
    with pytest.raises(ChatError, match="DISCORD_BOT_TOKEN"):
        await asyncio.wait_for(chat.run(), 10)


async def test_a_gateway_that_closes_for_good(home: Home, intake: Recording) -> None:
    home.fake.gateway.refuse_with = 4013
    chat = DiscordChat(TOKEN, intake, api_base=home.fake.api_base)
    with pytest.raises(ChatError, match="code 4013"):
        await asyncio.wait_for(chat.run(), 10)


async def test_an_unreachable_discord_is_waited_for_until_closed(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    home.fake.fail("GET", "/users/@me", 503, 0, times=1)
    chat = DiscordChat(TOKEN, intake, api_base=home.fake.api_base)
    task = asyncio.create_task(chat.run())
    await home.fake.wait_until(lambda: "next attempt" in caplog.text)
    await chat.close()
    await asyncio.wait_for(task, 10)


async def test_cancelling_ends_it_with_what_it_was_doing(home: Home, intake: Recording) -> None:
    intake.hold = asyncio.Event()
    chat = DiscordChat(TOKEN, intake, api_base=home.fake.api_base)
    task = asyncio.create_task(chat.run())
    await home.fake.connected()
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)
    await chat.close()


async def test_a_message_waits_for_the_login(home: Home, intake: Recording, tmp_path: Path) -> None:
    chat = DiscordChat(TOKEN, intake, api_base=home.fake.api_base, state_directory=tmp_path)
    early = asyncio.create_task(chat.send(home.address(), Message(body="early"), nonce="early"))
    task = asyncio.create_task(chat.run())
    assert (await asyncio.wait_for(early, 10)).address == home.address()
    await chat.close()
    await asyncio.wait_for(task, 10)


async def test_a_closed_chat_says_that_it_is_closed(home: Home, chat: DiscordChat) -> None:
    await chat.close()
    with pytest.raises(ChatError, match="not sent"):
        await chat.send(home.address(), Message(body="late"), nonce="late")


async def test_what_is_being_done_ends_with_the_connection(home: Home, intake: Recording, tmp_path: Path) -> None:
    intake.hold = asyncio.Event()
    async with running(home, intake, tmp_path, register_commands=True) as chat:
        home.fake.slash(home.alice, home.channel, "devices")
        await home.fake.wait_until(lambda: intake.invocations)
        await asyncio.wait_for(chat.close(), 5)
    assert home.fake.whispers(home.channel) == []


async def test_a_discord_that_went_away_is_told_as_such(home: Home, chat: DiscordChat) -> None:
    await home.fake.stop()
    with pytest.raises(ChatError, match="could not be reached"):
        await chat.send(home.address(), Message(body="hi"), nonce="x")


async def test_the_gateway_may_be_named(home: Home, intake: Recording, tmp_path: Path) -> None:
    async with running(home, intake, tmp_path, gateway=home.fake.gateway.url):
        home.fake.say(home.alice, home.channel, "!opengui help")
        await home.fake.wait_until(lambda: intake.messages)
    assert home.fake.gateway_questions == 0


ECHO = """
import asyncio, os
from bot.domain.outgoing import Message, Reply
from bot.chats.discord.chat import DiscordChat

class Echo:
    async def message(self, incoming):
        return Reply(Message(body=f"{os.getpid()} heard {incoming.command}"))

asyncio.run(DiscordChat(os.environ["TOKEN"], Echo(), api_base=os.environ["BASE"]).run())
"""


async def test_another_process_reaches_the_fake_by_one_address(home: Home) -> None:
    environment = {**os.environ, "TOKEN": TOKEN, "BASE": home.fake.api_base}
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", ECHO, env=environment)
    try:
        await home.fake.wait_until(lambda: home.fake.gateway.connected, timeout=30)
        home.fake.say(home.alice, home.channel, "!opengui hello")
        assert (await home.answer()).content == f"{process.pid} heard hello"
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 10)
