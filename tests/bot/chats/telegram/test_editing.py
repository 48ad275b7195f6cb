"""Messages that are changed in place."""

from __future__ import annotations

import pytest

from bot.cards.buttons import stop_button
from bot.chats.telegram.chat import TelegramChat
from bot.domain.chat import ChatGone, FloodWait
from bot.domain.outgoing import Message, Picture
from tests.bot.chats.contract import card, screenshot
from tests.bot.chats.telegram.conftest import Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.bot.chats.telegram.test_sending import picture


async def test_a_picture_is_uploaded_only_when_it_is_another_one(home: Home, chat: TelegramChat) -> None:
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    await chat.edit(ref, card("two"))
    assert home.fake.called("editMessageMedia") == []
    (shown,) = home.fake.from_bot(home.group)
    assert "two" in shown.text
    assert next(iter(shown.buttons)) == stop_button("7").data
    other = picture((50, 80), "screen.jpg", "JPEG")
    await chat.edit(ref, Message("Task 7", "three", picture=other))
    assert (shown.photo, shown.text) == (other.data, "Task 7\nthree")
    assert shown.buttons == {}
    await chat.edit(ref, Message("Task 7", "four", picture=other))
    assert len(home.fake.called("editMessageMedia")) == 1
    assert shown.text == "Task 7\nfour"


async def test_a_picture_that_is_not_mentioned_any_more_stays(home: Home, chat: TelegramChat) -> None:
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    await chat.edit(ref, Message("Task 7", "The card moved down."))
    (shown,) = home.fake.from_bot(home.group)
    assert shown.photo is not None
    assert (shown.text, shown.buttons) == ("Task 7\nThe card moved down.", {})


async def test_messages_of_an_earlier_process(home: Home, intake: Recording) -> None:
    async with running(home, intake) as before:
        photo = await before.send(home.address(home.group), card("one"), nonce="c7")
        text = await before.send(home.address(home.group), Message("Question", "which?"), nonce="o1")
    async with running(home, intake) as after:
        await after.edit(photo, Message("Task 7", "x" * 2000))
        await after.edit(text, Message("Question", "answered"))
        await after.edit(photo, card("two"))
    first, second = home.fake.from_bot(home.group)
    assert first.photo is not None
    assert "two" in first.text
    assert second.text == "Question\nanswered"


async def test_what_is_too_long_for_an_edit_is_cut(home: Home, chat: TelegramChat) -> None:
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    await chat.edit(ref, Message("Task 7", "x" * 5000, "12 s", screenshot()))
    (shown,) = home.fake.from_bot(home.group)
    assert shown.text.endswith("too long to show here.\n12 s")
    assert 900 < len(shown.text) <= 1024


async def test_nothing_changed_is_success_for_pictures_too(home: Home, intake: Recording) -> None:
    async with running(home, intake) as chat:
        ref = await chat.send(home.address(home.group), card("same"), nonce="c7")
        await chat.edit(ref, card("same"))
    async with running(home, intake) as chat:
        await chat.edit(ref, card("same"))
    assert home.fake.from_bot(home.group)[0].edits == 0


async def test_plain_text_for_captions_and_pictures(home: Home, chat: TelegramChat) -> None:
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    refusal = "Bad Request: can't parse entities: whatever"
    home.fake.faults.fail("editMessageCaption", 400, refusal)
    home.fake.faults.fail("editMessageMedia", 400, refusal)
    await chat.edit(ref, card("1 < 2"))
    (shown,) = home.fake.from_bot(home.group)
    assert "1 < 2" in shown.text
    await chat.edit(ref, Message("Task 7", "2 < 3", picture=Picture("s.gif", screenshot().data + b"x")))
    assert (shown.text, shown.entities) == ("Task 7\n2 < 3", [])


async def test_a_message_that_cannot_be_edited_any_more_is_gone(home: Home, chat: TelegramChat) -> None:
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    home.fake.methods.uneditable.add(home.fake.from_bot(home.group)[0])
    with pytest.raises(ChatGone, match="cannot be edited"):
        await chat.edit(ref, card("two"))


async def test_an_edit_waits_for_silence_as_sends_do(home: Home, chat: TelegramChat) -> None:
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    home.fake.faults.flood(30, "editMessageCaption")
    for _ in range(3):
        with pytest.raises(FloodWait):
            await chat.edit(ref, card("two"))
    with pytest.raises(FloodWait):
        await chat.send(home.address(home.group), card("two"), nonce="c8")
    assert len(home.fake.called("editMessageCaption")) == 1


async def test_a_group_that_takes_texts_only(home: Home, chat: TelegramChat) -> None:
    refusal = "Bad Request: not enough rights to send photos to the chat"
    home.fake.faults.fail("sendPhoto", 400, refusal)
    home.fake.faults.fail("editMessageMedia", 400, refusal, times=2)
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    (shown,) = home.fake.from_bot(home.group)
    assert (shown.photo, len(shown.buttons)) == (None, 2)
    for body in ("two", "three"):
        await chat.edit(ref, card(body))
        assert body in shown.text
    assert home.fake.from_bot(home.group) == [shown]


async def test_a_message_that_reads_so_already_costs_no_call(home: Home, chat: TelegramChat) -> None:
    """A press has changed it, and then the outbox comes round with the same."""
    ref = await chat.send(home.address(home.group), card("one"), nonce="c7")
    turns = 0

    async def turn() -> None:
        nonlocal turns
        turns += 1

    for body in ("two", "two", "three"):
        await chat.edit(ref, Message("Task 7", body), turn=turn)
    assert turns == 2
    (shown,) = home.fake.from_bot(home.group)
    assert shown.text == "Task 7\nthree"
