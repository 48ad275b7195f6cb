"""Messages that people write: commands, mentions, files, replies, private chats and threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.chats.discord.chat import DiscordChat
from bot.chats.discord.incoming import command_in
from bot.domain.address import MessageRef, Person
from bot.domain.incoming import Attachment
from bot.domain.outgoing import Message, Reply
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording

BOT = 42


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("!opengui do open settings", "do open settings"),
        ("  !OpenGUI   help ", "help"),
        ("!opengui", ""),
        ("!opengui\ndo a\nb", "do a\nb"),
        ("!openguido x", None),
        ("please !opengui do x", None),
        ("<@42> status", "status"),
        ("<@!42> status", "status"),
        ("hello <@42>", None),
        ("<@43> status", None),
        ("", None),
    ],
)
def test_a_command_begins_with_the_prefix_or_a_mention(text: str, command: str | None) -> None:
    assert command_in(text, "!opengui", BOT) == command


def test_the_role_that_discord_made_for_the_bot_is_the_bot() -> None:
    assert command_in("<@&7> do x", "!opengui", BOT, [7]) == "do x"
    assert command_in("<@&8> do x", "!opengui", BOT, [7]) is None


async def test_a_mention_of_the_bot_s_role_is_a_mention_of_the_bot(
    home: Home, intake: Recording, tmp_path: Path
) -> None:
    role = home.fake.backend.create_role(home.guild.id, "opengui", managed=True)
    home.fake.give(home.fake.bot, home.guild, role)
    async with running(home, intake, tmp_path):
        home.fake.say(home.alice, home.channel, f"<@&{role.id}> status")
        await home.fake.wait_until(lambda: intake.messages)
    assert intake.messages[0].command == "status"


@pytest.mark.usefixtures("chat")
async def test_a_forwarded_message_answers_nothing(home: Home, intake: Recording) -> None:
    above = home.fake.say(home.alice, home.channel, "look")
    forwarded = {"type": 1, "channel_id": str(home.channel.id), "message_id": str(above.id)}
    home.fake.backend.create_message(home.channel.id, home.alice.id, "see this", reference=forwarded)
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert intake.messages[1].reply_to is None


@pytest.mark.usefixtures("chat")
async def test_a_prefix_command_comes_in_with_place_person_and_files(home: Home, intake: Recording) -> None:
    said = home.fake.say(home.alice, home.channel, "!opengui do look at it", attachments=[("cat.png", b"meow")])
    await home.fake.wait_until(lambda: intake.messages)
    incoming = intake.messages[0]
    assert incoming.command == "do look at it"
    assert incoming.text == "!opengui do look at it"
    assert incoming.person == Person("discord", str(home.alice.id), "alice")
    assert incoming.place.address == home.address()
    assert not incoming.place.private
    assert incoming.event == str(said.id)
    assert incoming.message == MessageRef(home.address(), str(said.id))
    assert incoming.attachments == (Attachment("cat.png", b"meow"),)
    assert not incoming.stale


@pytest.mark.usefixtures("chat")
async def test_the_reply_is_a_quiet_answer_below_the_message(home: Home, intake: Recording) -> None:
    intake.replies = lambda _: Reply(Message(heading="Hello", body="two *phones* @everyone"))
    said = home.fake.say(home.alice, home.channel, "!opengui devices")
    answer = await home.answer()
    assert answer.content == "**Hello**\ntwo \\*phones\\* @everyone"
    assert answer.reference is not None
    assert answer.reference["message_id"] == str(said.id)
    assert not answer.ping_user_ids
    assert not answer.mention_everyone
    assert answer.flags & (1 << 12), "not silent"
    assert answer.flags & (1 << 2), "link previews are not suppressed"


@pytest.mark.usefixtures("chat")
async def test_the_card_is_answer_enough_for_an_accepted_task(home: Home, intake: Recording) -> None:
    intake.replies = lambda m: Reply(Message(body="accepted"), task="1") if m.command == "do x" else Reply(toast="hi")
    home.fake.say(home.alice, home.channel, "!opengui do x")
    home.fake.say(home.alice, home.channel, "!opengui hi")
    assert (await home.answer()).content == "hi"


@pytest.mark.usefixtures("chat")
async def test_silence_where_the_intake_says_nothing(home: Home, intake: Recording) -> None:
    other = home.fake.guild("Elsewhere")
    channel = home.fake.channel(other)
    mallory = home.fake.user("mallory", other)
    home.fake.say(mallory, channel, "!opengui do evil")
    home.fake.say(home.alice, home.channel, "!opengui help")
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert home.fake.from_bot(channel) == []
    assert not home.fake.sent("POST", "/messages")


@pytest.mark.usefixtures("chat")
async def test_bots_and_the_bot_itself_are_ignored(home: Home, intake: Recording) -> None:
    robot = home.fake.user("robot", home.guild, bot=True)
    home.fake.say(robot, home.channel, "!opengui do x")
    home.fake.say(home.fake.bot, home.channel, "!opengui do x")
    home.fake.say(home.alice, home.channel, "!opengui help")
    await home.fake.wait_until(lambda: intake.messages)
    assert [m.person.name for m in intake.messages] == ["alice"]


@pytest.mark.usefixtures("chat")
async def test_a_private_chat(home: Home, intake: Recording) -> None:
    intake.replies = lambda _: Reply(Message(body="yes"))
    private = home.fake.private(home.alice)
    home.fake.say(home.alice, private, "open the door")
    assert (await home.answer(private)).content == "yes"
    assert intake.messages[0].place.private
    assert intake.messages[0].place.address == home.private()
    assert intake.messages[0].command is None


@pytest.mark.usefixtures("chat")
async def test_a_message_of_a_server_that_is_not_known_yet_is_passed_over(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody can tell its channel from a private chat, or whose roles count."""
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    home.fake.gateway.again("MESSAGE_CREATE", said.id, id="77", guild_id="999", channel_id="998")
    await home.fake.wait_until(lambda: "was ignored because Discord" in caplog.text)
    assert [incoming.event for incoming in intake.messages] == [str(said.id)]


@pytest.mark.usefixtures("chat")
async def test_a_thread_is_told_as_a_thread_of_its_channel(home: Home, intake: Recording) -> None:
    thread = home.fake.thread(home.channel, "talk", home.alice)
    first = home.fake.say(home.alice, thread, "not that one")
    home.fake.say(home.alice, thread, "the blue", reply_to=first)
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    assert intake.messages[0].place.address == home.address(str(thread.id))
    assert intake.messages[1].reply_to == MessageRef(home.address(str(thread.id)), str(first.id))


@pytest.mark.usefixtures("chat")
async def test_what_arrives_much_too_late_is_marked(home: Home, intake: Recording) -> None:
    home.fake.backend.clock.advance(-600)
    home.fake.say(home.alice, home.channel, "!opengui do x")
    await home.fake.wait_until(lambda: intake.messages)
    assert intake.messages[0].stale


@pytest.mark.usefixtures("chat")
async def test_an_answer_that_cannot_be_delivered_is_logged(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    intake.replies = lambda _: Reply(Message(body="yes"))
    home.fake.fail("POST", "/channels/*", 403, 50013, times=2)  # there, and privately
    home.fake.say(home.alice, home.channel, "!opengui help")
    await home.fake.wait_until(lambda: "was not delivered" in caplog.text)
    home.fake.say(home.alice, home.channel, "!opengui help")
    assert (await home.answer()).content == "yes"


async def test_a_dropped_gateway_resumes_and_does_nothing_twice(
    home: Home, intake: Recording, chat: DiscordChat
) -> None:
    """Seen failing (two messages came in) with the check of `Messages._first_time` taken out."""
    intake.replies = lambda m: Reply(Message(body=f"got {m.command}"))
    home.fake.say(home.alice, home.channel, "!opengui one")
    await home.answer()
    home.fake.gateway.accepting.clear()
    await home.fake.gateway.drop()
    second = home.fake.say(home.alice, home.channel, "!opengui two")
    home.fake.gateway.accepting.set()
    await home.answer(number=2)
    home.fake.gateway.again("MESSAGE_CREATE", second.id)
    home.fake.say(home.alice, home.channel, "!opengui three")
    await home.answer(number=3)
    assert [m.command for m in intake.messages] == ["one", "two", "three"]
    assert (home.fake.gateway.identifies, home.fake.gateway.resumes) == (1, 1)
    assert chat.platform == "discord"


async def test_without_the_message_content_intent_mentions_still_work(
    home: Home, intake: Recording, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    home.fake.gateway.message_content_approved = False
    async with running(home, intake, tmp_path, register_commands=True):
        home.fake.say(home.alice, home.channel, "!opengui help")
        home.fake.say(home.alice, home.channel, f"<@{home.fake.bot.id}> help")
        home.fake.slash(home.alice, home.channel, "help")
        await home.fake.wait_until(lambda: len(intake.messages) == 2 and intake.invocations)
    assert [m.command for m in intake.messages] == [None, "help"]
    assert "Message Content Intent" in caplog.text
    assert "DO NOT WORK" in caplog.text
