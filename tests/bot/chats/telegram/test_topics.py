"""A topic for each task where the bot may make one, and no task without a place where it may not."""

from __future__ import annotations

import logging

import pytest

from bot.chats.telegram.chat import TelegramChat
from bot.domain.chat import FloodWait
from bot.domain.outgoing import Message
from tests.bot.chats.telegram.conftest import Home

TITLE = "7 · open settings"


async def test_a_task_in_general_gets_a_topic_and_a_link_to_it(home: Home, chat: TelegramChat) -> None:
    home.forum.manages_topics = True
    asked = await home.fake.say(home.alice, home.forum, "/do open settings")
    place = await chat.open_place(home.address(home.forum), str(asked.id), TITLE + " again" * 40)
    topic = int(place.thread)
    assert home.forum.topics[topic].startswith(TITLE)
    assert len(home.forum.topics[topic]) == 128
    (told,) = home.fake.from_bot(home.forum, 0)
    assert told.reply_to is asked
    assert f"https://t.me/c/{str(home.forum.id)[4:]}/{topic}" in told.text
    await chat.send(place, Message(body="Step 1"), nonce="c7")
    assert [message.text for message in home.fake.from_bot(home.forum, topic)] == ["Step 1"]
    await chat.close_place(place)
    await chat.close_place(place)
    assert home.forum.closed == {topic}


async def test_a_task_that_begins_in_a_closed_topic_opens_it(home: Home, chat: TelegramChat) -> None:
    """Seen failing without `reopen`: nobody but admins could have answered a question there."""
    home.forum.manages_topics = True
    place = await chat.open_place(home.address(home.forum), None, TITLE)
    await chat.close_place(place)
    for _ in range(2):
        assert await chat.open_place(place, None, TITLE) == place
        assert home.forum.closed == set()
    home.forum.manages_topics = False
    assert await chat.open_place(place, None, TITLE) == place, "the right is no condition"
    before = len(home.fake.called("reopenForumTopic"))
    assert await chat.open_place(place, "77", TITLE) == place
    assert len(home.fake.called("reopenForumTopic")) == before, "whoever writes there can"


async def test_without_the_right_the_task_stays_where_it_was_asked(
    home: Home, chat: TelegramChat, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    asked = await home.fake.say(home.alice, home.forum, "/do open settings")
    for _ in range(2):
        assert await chat.open_place(home.address(home.forum), str(asked.id), TITLE) == home.address(home.forum)
    assert len(home.fake.called("createForumTopic")) == 1
    assert "Let the bot manage topics" in caplog.text
    await chat.send(home.address(home.forum), Message(body="Step 1"), nonce="c7")
    assert home.fake.from_bot(home.forum)[0].reply_to is asked


async def test_other_places_are_asked_nothing(home: Home, chat: TelegramChat) -> None:
    home.forum.manages_topics = True
    topic = home.fake.topic(home.forum, "phones")
    supergroup = home.fake.supergroup()
    for origin in (home.address(home.forum, topic), home.address(home.group), home.address(home.private)):
        assert await chat.open_place(origin, None, TITLE) == origin
    assert home.fake.called("getChat") == []
    for _ in range(2):
        assert await chat.open_place(home.address(supergroup), None, TITLE) == home.address(supergroup)
    assert len(home.fake.called("getChat")) == 1
    assert home.fake.called("createForumTopic") == []


async def test_a_flood_is_for_the_outbox_and_a_lost_link_is_no_loss(home: Home, chat: TelegramChat) -> None:
    home.forum.manages_topics = True
    home.fake.faults.fail("sendMessage", 400, "Bad Request: odd")
    assert (await chat.open_place(home.address(home.forum), "5", TITLE)).thread
    home.fake.faults.flood(30, "createForumTopic")
    with pytest.raises(FloodWait):
        await chat.open_place(home.address(home.forum), "5", TITLE)
