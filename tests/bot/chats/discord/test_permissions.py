"""Permissions that the bot lacks: named one by one, worked around, told once in each place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.chats.discord.chat import DiscordChat
from bot.chats.discord.permissions import REMEMBERED_SECONDS, WANTED, Permissions
from bot.domain.address import MessageRef
from bot.domain.chat import ChatGone
from bot.domain.outgoing import Message, Picture, Reply
from bot.texts import say
from tests.bot.chats.discord.conftest import Home, running
from tests.bot.chats.discord.recording import Recording

CARD = Message("Task", "card", picture=Picture("a.png", b"a"))
KNOWN = pytest.mark.parametrize("announced", [True, False], ids=["known", "found out"])
"""Whether Discord's events told of the missing permission, or only its refusal does."""


async def take(home: Home, intake: Recording, *permissions: str, announced: bool) -> None:
    home.fake.deny(home.channel, *permissions, announced=announced)
    before = len(intake.messages)
    home.fake.say(home.alice, home.channel, "so that the change has arrived")
    await home.fake.wait_until(lambda: len(intake.messages) > before)


def told(home: Home) -> list[str]:
    """What the bot said of its permissions in the channel."""
    return [m.content for m in home.fake.from_bot(home.channel) if "Permissions I'm missing" in m.content]


@KNOWN
async def test_without_attach_files_the_text_comes_alone(
    home: Home, intake: Recording, chat: DiscordChat, caplog: pytest.LogCaptureFixture, announced: bool
) -> None:
    await take(home, intake, "attach_files", announced=announced)
    for number in range(3):
        ref = await chat.send(home.address(), CARD, nonce=f"card{number}")
        assert home.fake.message(home.channel, ref.message).attachments == []
    await chat.edit(ref, CARD)
    (notice,) = told(home)
    assert "#general" in notice
    assert say("discord.lacks.attach_files") in notice.replace("\\", "")
    assert caplog.text.count("the bot lacks") == 1
    refused = [body for body in home.fake.sent("POST", "/messages") if body and body.get("attachments")]
    assert len(refused) == (0 if announced else 1), "what was refused is not tried each time"


async def test_without_attach_files_a_long_text_is_sent_in_more_messages(
    home: Home, intake: Recording, chat: DiscordChat
) -> None:
    await take(home, intake, "attach_files", announced=True)
    words = [f"word{number}" for number in range(2000)]
    await chat.send(home.address(), Message("Result", " ".join(words)), nonce="long")
    sent = [message.content for message in home.fake.from_bot(home.channel)]
    assert set(words) <= set(" ".join(sent).split())
    await chat.send(home.address(), Message("Result", " ".join(words * 2)), nonce="longer")
    assert say("chats.cut") in home.fake.from_bot(home.channel)[-1].content


@KNOWN
async def test_without_history_there_are_no_replies_and_threads_begin_on_no_message(
    home: Home, intake: Recording, chat: DiscordChat, announced: bool
) -> None:
    await take(home, intake, "read_message_history", announced=announced)
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    for number in range(2):
        ref = MessageRef(home.address(), str(said.id))
        sent = await chat.send(home.address(), Message(body="hi", reply_to=ref), nonce=f"x{number}")
        assert home.fake.message(home.channel, sent.message).reference is None
    assert len(told(home)) == 1
    place = await chat.open_place(home.address(), str(said.id), "open settings")
    (thread,) = home.fake.threads(home.channel)
    assert thread.name == "open settings"
    assert place == home.address(str(thread.id))
    assert place.thread != str(said.id)


@KNOWN
@pytest.mark.parametrize("permission", ["create_public_threads", "send_messages_in_threads"])
async def test_without_threads_the_channel_is_the_place(
    home: Home, intake: Recording, chat: DiscordChat, permission: str, announced: bool
) -> None:
    await take(home, intake, permission, announced=announced)
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    place = await chat.open_place(home.address(), str(said.id), "x")
    if permission == "send_messages_in_threads" and not announced:
        with pytest.raises(ChatGone, match="permission Send Messages in Threads"):
            await chat.send(place, CARD, nonce="card")
        place = await chat.open_place(home.address(), str(said.id), "x")
    assert place == home.address()
    await chat.send(place, CARD, nonce="card")
    (notice,) = told(home)
    assert say("discord.lacks.create_public_threads").split(":")[0] in notice or permission != "create_public_threads"
    assert say("discord.lacks.send_messages_in_threads").split(":")[0] in notice or "create" in permission


@KNOWN
async def test_without_send_messages_a_task_still_gets_its_thread(
    home: Home, intake: Recording, chat: DiscordChat, announced: bool
) -> None:
    await take(home, intake, "send_messages", announced=announced)
    said = home.fake.say(home.alice, home.channel, "!opengui do x")
    typed = await chat.open_place(home.address(), str(said.id), "typed")
    assert typed.thread == str(said.id)
    if not announced:
        with pytest.raises(ChatGone, match="permission Send Messages in"):
            await chat.open_place(home.address(), None, "slash")
    slash = await chat.open_place(home.address(), None, "slash")
    assert slash.thread
    ref = await chat.send(slash, CARD, nonce="card")
    thread = next(one for one in home.fake.threads(home.channel) if one.name == "slash")
    assert home.fake.message(thread, ref.message).attachments
    assert sum("Send Messages" in m.content for m in home.fake.from_bot(thread)) == 1


@KNOWN
async def test_without_send_messages_the_answer_comes_privately(
    home: Home, intake: Recording, chat: DiscordChat, announced: bool
) -> None:
    await take(home, intake, "send_messages", announced=announced)
    intake.replies = lambda m: Reply(Message(body="two phones") if m.command == "devices" else None)
    private = home.fake.private(home.alice)
    home.fake.say(home.alice, home.channel, "!opengui devices")
    assert (await home.answer(private)).content == "two phones"
    assert "Send Messages" in (await home.answer(private, 2)).content
    home.fake.say(home.alice, home.channel, "!opengui devices")
    assert (await home.answer(private, 3)).content == "two phones"
    assert chat.platform == "discord"


async def test_without_view_channel_it_is_said_so(home: Home, intake: Recording, chat: DiscordChat) -> None:
    ref = await chat.send(home.address(), CARD, nonce="card")
    await take(home, intake, "view_channel", announced=False)
    with pytest.raises(ChatGone, match="View Channel"):
        await chat.send(home.address(), CARD, nonce="again")
    with pytest.raises(ChatGone, match="View Channel"):
        await chat.edit(ref, CARD)


async def test_what_is_missing_is_told_again_only_when_more_is_missing(
    home: Home, intake: Recording, tmp_path: Path
) -> None:
    for _ in range(2):
        async with running(home, intake, tmp_path) as chat:
            await take(home, intake, "attach_files", announced=True)
            await chat.send(home.address(), CARD, nonce=f"card{len(home.fake.requests)}")
            assert len(told(home)) == 1, "a restart tells it again"
    async with running(home, intake, tmp_path) as chat:
        await take(home, intake, "attach_files", "create_public_threads", announced=True)
        await chat.send(home.address(), CARD, nonce="more")
        assert len(told(home)) == 2
        assert "Create Public Threads" in told(home)[1]
        home.fake.allow(home.channel)
        await take(home, intake, announced=True)
        await chat.send(home.address(), CARD, nonce="fine")
        assert len(told(home)) == 2
        assert home.fake.from_bot(home.channel)[-1].attachments


async def test_the_right_to_delete_is_told_to_the_operator_alone(
    home: Home, intake: Recording, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(home, intake, tmp_path) as chat:
        await take(home, intake, "manage_messages", announced=True)
        await chat.send(home.address(), CARD, nonce="card")
    assert told(home) == []
    assert "Manage Messages: a code" in caplog.text


async def test_a_missing_intent_is_told_where_the_bot_is_talked_to(
    home: Home, intake: Recording, tmp_path: Path
) -> None:
    intake.replies = lambda m: Reply(Message(body="yes") if m.command else None)
    home.fake.gateway.message_content_approved = False
    async with running(home, intake, tmp_path, language="zh", prefix="!phone"):
        for number in (1, 3):
            home.fake.say(home.alice, home.channel, f"<@{home.fake.bot.id}> help")
            await home.answer(number=number)
    (notice,) = [m.content for m in home.fake.from_bot(home.channel) if "Message Content Intent" in m.content]
    assert "!phone" in notice
    assert "开发者门户" in notice


async def test_a_notice_that_cannot_be_sent_loses_nothing_else(
    home: Home, intake: Recording, chat: DiscordChat, caplog: pytest.LogCaptureFixture
) -> None:
    await take(home, intake, "attach_files", announced=True)
    first = Message(body="first")
    home.fake.limits.limit = 1
    home.fake.limits.seconds = 60.0
    assert (await chat.send(home.address(), first, nonce="first")).message
    assert "missing permissions could not be sent" in caplog.text


def test_a_refused_permission_is_tried_again_after_a_while() -> None:
    now = 0.0
    permissions = Permissions(lambda: now)
    channel = type("Somewhere", (), {"id": 7})()
    assert permissions.missing(channel) == ()
    for name in WANTED:
        permissions.refused(channel, name)
    assert permissions.missing(channel) == WANTED
    now = REMEMBERED_SECONDS
    assert permissions.missing(channel) == ()
