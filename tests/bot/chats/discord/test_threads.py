"""A thread per task, and what happens where there can be none."""

from __future__ import annotations

import pytest
from simcord.enums import ChannelType

from bot.chats.discord.chat import DiscordChat, thread_name
from bot.domain.address import MessageRef
from bot.domain.outgoing import Message
from tests.bot.chats.discord.conftest import Home


async def test_a_task_gets_a_thread_on_the_asking_message(home: Home, chat: DiscordChat) -> None:
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    place = await chat.open_place(home.address(), str(said.id), "open  the\nsettings " + "and more " * 20)
    (thread,) = home.fake.threads(home.channel)
    assert place == home.address(str(thread.id))
    assert thread.name is not None
    assert thread.name.startswith("open the settings and more")
    assert len(thread.name) <= 100
    await chat.send(place, Message(body="card"), nonce="card")
    assert [m.content for m in home.fake.from_bot(thread)] == ["card"]


async def test_opening_it_again_after_a_crash_finds_it(home: Home, chat: DiscordChat) -> None:
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    first = await chat.open_place(home.address(), str(said.id), "x")
    assert await chat.open_place(home.address(), str(said.id), "x") == first
    assert len(home.fake.threads(home.channel)) == 1


async def test_a_slash_command_gets_a_message_to_begin_the_thread_on(home: Home, chat: DiscordChat) -> None:
    place = await chat.open_place(home.address(), None, "open *settings*")
    (thread,) = home.fake.threads(home.channel)
    (starter,) = home.fake.from_bot(home.channel)
    assert place.thread == str(thread.id) == str(starter.id)
    assert starter.content == "**open \\*settings\\***"


async def test_threads_and_private_chats_stay_where_they_are(home: Home, chat: DiscordChat) -> None:
    thread = home.fake.thread(home.channel, "talk", home.alice)
    inside = home.address(str(thread.id))
    assert await chat.open_place(inside, None, "x") == inside
    assert await chat.open_place(home.private(), None, "x") == home.private()


async def test_a_refusal_that_was_not_foreseen_is_worked_around(
    home: Home, chat: DiscordChat, caplog: pytest.LogCaptureFixture
) -> None:
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    home.fake.fail("POST", "*/threads", 400, 160006, "Maximum number of active threads reached")
    assert await chat.open_place(home.address(), str(said.id), "x") == home.address()
    assert "Maximum number of active threads" in caplog.text


async def test_channels_without_threads_are_places_themselves(home: Home, chat: DiscordChat) -> None:
    voice = home.fake.channel(home.guild, "voice", kind=ChannelType.VOICE)
    await chat.send(home.address(), Message(body="after the channel was announced"), nonce="x")
    origin = MessageRef(home.address(), "0").address
    place = type(origin)("discord", origin.account, str(voice.id), origin.guild)
    assert await chat.open_place(place, None, "x") == place


async def test_a_finished_task_archives_its_thread_and_a_message_opens_it_again(home: Home, chat: DiscordChat) -> None:
    place = await chat.open_place(home.address(), None, "x")
    thread = home.fake.threads(home.channel)[0]
    await chat.close_place(place)
    assert thread.thread_metadata is not None
    assert thread.thread_metadata.archived
    await chat.close_place(place)
    await chat.send(place, Message(body="again"), nonce="again")
    assert not thread.thread_metadata.archived


async def test_somebody_elses_thread_stays_open(home: Home, chat: DiscordChat) -> None:
    thread = home.fake.thread(home.channel, "talk", home.alice)
    await chat.close_place(home.address(str(thread.id)))
    assert thread.thread_metadata is not None
    assert not thread.thread_metadata.archived
    await chat.close_place(home.address())


async def test_closing_a_thread_that_is_gone_is_no_error(home: Home, chat: DiscordChat) -> None:
    await chat.close_place(home.address("12345"))


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("", "task"),
        ("  a \n b ", "a b"),
        ("x" * 101, "x" * 99 + "…"),
        ("打开" * 60, "打开" * 49 + "打…"),
        ("😀" * 60, "😀" * 49 + "…"),
        ("a" * 95 + "👩‍👩‍👧", "a" * 95 + "👩…"),
    ],
)
def test_names_of_threads(title: str, name: str) -> None:
    assert thread_name(title) == name
