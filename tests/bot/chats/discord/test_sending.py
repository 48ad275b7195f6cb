"""What goes out: cards, pictures, edits, nonces, refusals."""

from __future__ import annotations

import pytest

from bot.chats.discord.chat import DiscordChat
from bot.domain.address import MessageRef, Person
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait
from bot.domain.outgoing import Button, Message, Picture
from tests.bot.chats.discord.conftest import Home

SILENT = 1 << 12


async def test_a_card_with_a_picture_is_edited_in_place(home: Home, chat: DiscordChat) -> None:
    first = Message("Task 1", "step 1/20", "3 s", Picture("screen.png", b"one"), buttons=((Button("Stop", "1:s:1"),),))
    ref = await chat.send(home.address(), first, nonce="card")
    card = home.fake.message(home.channel, ref.message)
    assert card.content == "**Task 1**\nstep 1/20\n-# 3 s"
    assert home.fake.files(card) == {"screen.png": b"one"}
    await chat.edit(ref, Message("Task 1", "step 2/20", picture=Picture("screen.jpg", b"two")))
    assert card.content == "**Task 1**\nstep 2/20"
    assert home.fake.files(card) == {"screen.jpg": b"two"}
    assert home.fake.buttons(card) == {}
    await chat.edit(ref, Message("Task 1", "done"))
    assert home.fake.files(card) == {}
    assert len(home.fake.from_bot(home.channel)) == 1


async def test_a_long_edit_is_cut(home: Home, chat: DiscordChat) -> None:
    ref = await chat.send(home.address(), Message(body="short"), nonce="card")
    await chat.edit(ref, Message(body="word " * 1000))
    card = home.fake.message(home.channel, ref.message)
    assert len(card.content) <= 2000
    assert "too long" in card.content
    assert len(home.fake.from_bot(home.channel)) == 1


async def test_the_same_nonce_shows_once(home: Home, chat: DiscordChat) -> None:
    message = Message(body="final " * 500)
    first = await chat.send(home.address(), message, nonce="final:task-1")
    assert await chat.send(home.address(), message, nonce="final:task-1") == first
    assert len(home.fake.from_bot(home.channel)) == 2, "two parts, each once"
    other = await chat.send(home.address(), message, nonce="final:task-2")
    assert other != first


async def test_only_what_should_ring_rings_and_only_the_asker_is_mentioned(home: Home, chat: DiscordChat) -> None:
    """Seen failing (everyone was pinged) with `allowed_mentions` taken out of `sending._post` and of the client."""
    bob = home.fake.user("bob", home.guild)
    evil = f"@everyone <@{bob.id}> says"
    asker = Person("discord", str(home.alice.id))
    ref = await chat.send(home.address(), Message("Which?", evil, notify=True, mention=asker), nonce="question")
    question = home.fake.message(home.channel, ref.message)
    assert question.content.startswith(f"<@{home.alice.id}> **Which?**\n")
    assert question.ping_user_ids == [home.alice.id]
    assert not question.mention_everyone
    assert not question.flags & SILENT
    await chat.edit(ref, Message(body=evil))
    assert question.ping_user_ids == []
    assert not question.mention_everyone


async def test_a_person_of_another_platform_is_not_mentioned(home: Home, chat: DiscordChat) -> None:
    ref = await chat.send(home.address(), Message(body="hi", mention=Person("telegram", "5")), nonce="x")
    assert home.fake.message(home.channel, ref.message).content == "hi"


async def test_a_very_long_text_becomes_a_file(home: Home, chat: DiscordChat) -> None:
    body = "\n".join(f"line {number} of *many*" for number in range(2000))
    await chat.send(home.address(), Message("Result", body, picture=Picture("s.png", b"p")), nonce="long")
    (sent,) = home.fake.from_bot(home.channel)
    assert home.fake.files(sent) == {"s.png": b"p", "message.txt": body.encode()}
    assert len(sent.content) <= 2000
    assert sent.content.endswith("The full text is in message.txt.")


async def test_more_files_than_fit_go_on_in_another_message(home: Home, chat: DiscordChat) -> None:
    files = tuple(Picture(f"{number}.txt", b"x") for number in range(12))
    await chat.send(home.address(), Message(body="files", files=files), nonce="files")
    first, second = home.fake.from_bot(home.channel)
    assert (len(first.attachments), len(second.attachments)) == (10, 2)


async def test_an_empty_message_is_still_a_message(home: Home, chat: DiscordChat) -> None:
    ref = await chat.send(home.address(), Message(), nonce="empty")
    assert home.fake.message(home.channel, ref.message).content == "…"


async def test_a_persons_message_can_be_deleted_and_twice_is_fine(home: Home, chat: DiscordChat) -> None:
    said = home.fake.say(home.alice, home.channel, "1234")
    ref = MessageRef(home.address(), str(said.id))
    await chat.delete(ref)
    assert home.fake.messages(home.channel) == []
    await chat.delete(ref)


async def test_deleting_without_the_right_says_so(home: Home, chat: DiscordChat) -> None:
    said = home.fake.say(home.alice, home.channel, "1234")
    home.fake.deny(home.channel, "manage_messages")
    with pytest.raises(ChatGone, match="permission Manage Messages"):
        await chat.delete(MessageRef(home.address(), str(said.id)))


@pytest.mark.parametrize(
    ("status", "code", "error", "said"),
    [
        (404, 10003, ChatGone, "channel does not exist"),
        (404, 10008, ChatGone, "message does not exist"),
        (400, 50083, ChatGone, "archived"),
        (400, 160005, ChatGone, "locked"),
        (400, 200000, ChatRefused, "AutoMod"),
        (400, 30046, ChatError, "older than an hour"),
        (413, 40005, ChatRefused, "larger than this server allows"),
        (400, 99999, ChatError, "error 99999"),
    ],
)
async def test_refusals_are_told_apart(
    home: Home, chat: DiscordChat, status: int, code: int, error: type[ChatError], said: str
) -> None:
    ref = await chat.send(home.address(), Message(body="card"), nonce="card")
    home.fake.fail("PATCH", "/channels/*", status, code)
    with pytest.raises(error, match=said) as caught:
        await chat.edit(ref, Message(body="new"))
    assert type(caught.value) is error


async def test_a_long_flood_is_reported_and_not_slept_through(home: Home, chat: DiscordChat) -> None:
    home.fake.limits.flood("POST", "/channels/*", 120.0, 1)
    with pytest.raises(FloodWait) as caught:
        await chat.send(home.address(), Message(body="hi"), nonce="x")
    assert caught.value.seconds == 120.0


async def test_a_ban_is_a_minute_of_silence(home: Home, chat: DiscordChat) -> None:
    home.fake.fail("POST", "/channels/*", 429, 0)
    with pytest.raises(FloodWait) as caught:
        await chat.send(home.address(), Message(body="hi"), nonce="x")
    assert caught.value.seconds == 60.0


async def test_a_short_flood_is_waited_for(home: Home, chat: DiscordChat) -> None:
    home.fake.limits.flood("POST", "/channels/*", 0.05, 1)
    await chat.send(home.address(), Message(body="hi"), nonce="x")
    assert home.fake.limits.refused == 1
    assert len(home.fake.from_bot(home.channel)) == 1


async def test_headers_keep_the_client_below_the_limit(home: Home, chat: DiscordChat) -> None:
    home.fake.limits.limit, home.fake.limits.seconds = 2, 0.2
    for number in range(6):
        await chat.send(home.address(), Message(body=str(number)), nonce=str(number))
    assert [m.content for m in home.fake.from_bot(home.channel)] == list("012345")
    assert home.fake.limits.refused == 0


async def test_private_chats_take_messages(home: Home, chat: DiscordChat) -> None:
    await chat.send(home.private(), Message(body="psst"), nonce="x")
    assert (await home.answer(home.fake.private(home.alice))).content == "psst"
