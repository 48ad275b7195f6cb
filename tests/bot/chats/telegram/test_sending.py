"""What the adapter sends: texts, pictures, files, places, replies, and what it does when Telegram refuses."""

from __future__ import annotations

import io
import json

import pytest
from PIL import Image

from bot.cards.buttons import stop_button
from bot.chats.telegram.chat import TelegramChat
from bot.domain.address import MessageRef, Person
from bot.domain.chat import ChatError, ChatGone, FloodWait
from bot.domain.outgoing import Button, Message, Picture
from tests.bot.chats.contract import card, screenshot
from tests.bot.chats.telegram.conftest import Home


def picture(size: tuple[int, int], name: str, kind: str) -> Picture:
    target = io.BytesIO()
    Image.new("RGB", size).save(target, kind)
    return Picture(name, target.getvalue())


async def test_the_first_message_of_a_task_replies_to_what_was_asked(home: Home, chat: TelegramChat) -> None:
    asked = await home.fake.say(home.alice, home.group, "/do open settings")
    origin = home.address(home.group)
    assert await chat.open_place(origin, str(asked.id), "Task 7") == origin
    await chat.send(origin, card("Step 1"), nonce="c7-1")
    await chat.send(origin, Message(body="later"), nonce="o1")
    first, second = home.fake.from_bot(home.group)
    assert first.reply_to is asked
    assert second.reply_to is None


async def test_a_refused_first_message_keeps_its_place_below_what_was_asked(home: Home, chat: TelegramChat) -> None:
    asked = await home.fake.say(home.alice, home.group, "/do open settings")
    origin = home.address(home.group)
    await chat.open_place(origin, str(asked.id), "Task 7")
    home.fake.faults.fail("sendMessage", 400, "Bad Request: odd")
    with pytest.raises(ChatError, match="odd"):
        await chat.send(origin, Message(body="card"), nonce="c7")
    await chat.send(origin, Message(body="card"), nonce="c7")
    assert home.fake.from_bot(home.group)[0].reply_to is asked


async def test_a_reply_to_a_message_that_is_gone_is_sent_without(home: Home, chat: TelegramChat) -> None:
    origin = home.address(home.group)
    await chat.send(origin, Message(body="hi", reply_to=MessageRef(origin, "999")), nonce="o1")
    assert home.fake.from_bot(home.group)[0].reply_to is None


async def test_a_reply_never_points_into_another_chat(home: Home, chat: TelegramChat) -> None:
    elsewhere = await home.fake.say(home.alice, home.private, "/help")
    above = MessageRef(home.address(home.private), str(elsewhere.id))
    await chat.send(home.address(home.group), Message(body="hi", reply_to=above), nonce="o1")
    assert "reply_parameters" not in home.fake.called("sendMessage")[0]


async def test_topics_get_their_messages_and_the_general_topic_none_of_them(home: Home, chat: TelegramChat) -> None:
    topic = home.fake.topic(home.forum, "phones")
    await chat.send(home.address(home.forum, topic), Message(body="there"), nonce="o1")
    await chat.send(home.address(home.forum), Message(body="general"), nonce="o2")
    await chat.send(home.address(home.forum, 1), Message(body="general too"), nonce="o3")
    assert [one.text for one in home.fake.from_bot(home.forum, topic)] == ["there"]
    assert [one.text for one in home.fake.from_bot(home.forum, 0)] == ["general", "general too"]


async def test_a_topic_that_is_gone(home: Home, chat: TelegramChat) -> None:
    with pytest.raises(ChatGone, match="topic"):
        await chat.send(home.address(home.forum, 77), Message(body="there"), nonce="o1")


async def test_a_picture_with_a_long_text_is_a_photo_and_texts(home: Home, chat: TelegramChat) -> None:
    body = "\n".join(f"line {number}" for number in range(300))
    message = Message("Done", body, "12 s", screenshot(), buttons=((stop_button("7"),),), notify=True)
    ref = await chat.send(home.address(home.group), message, nonce="o1")
    first, second = home.fake.from_bot(home.group)
    assert ref.message == str(first.id)
    assert first.photo is not None
    assert second.photo is None
    assert first.text.startswith("Done\nline 0")
    assert second.text.endswith("line 299\n12 s")
    assert (len(first.buttons), len(second.buttons)) == (1, 0)
    assert (first.silent, second.silent) == (False, True)


async def test_a_very_long_text_is_a_file(home: Home, chat: TelegramChat) -> None:
    body = "word " * 9000
    await chat.send(home.address(home.group), Message("Done", body, "12 s"), nonce="o1")
    text, file = home.fake.from_bot(home.group)
    assert "message.txt" in text.text
    assert text.text.endswith("12 s")
    assert file.file is not None
    assert (file.file.name, file.file.data.decode()) == ("message.txt", body)


async def test_files_go_as_documents_and_several_as_albums(home: Home, chat: TelegramChat) -> None:
    files = tuple(Picture(f"{number}.txt", b"data") for number in range(11))
    await chat.send(home.address(home.group), Message("Files", files=files), nonce="o1")
    text, *album, last = home.fake.from_bot(home.group)
    assert text.text == "Files"
    assert len(album) == 10
    assert len({one.album for one in album}) == 1
    assert (last.album, last.file and last.file.name) == ("", "10.txt")


async def test_an_animation_stays_one(home: Home, chat: TelegramChat) -> None:
    await chat.send(home.address(home.group), Message(picture=picture((9, 9), "recap.gif", "GIF")), nonce="o1")
    (shown,) = home.fake.from_bot(home.group)
    assert shown.file is not None
    assert (shown.file.kind, shown.text) == ("animation", "")


async def test_a_photo_that_telegram_does_not_take_is_a_document(home: Home, chat: TelegramChat) -> None:
    tall = picture((10, 900), "tall.png", "PNG")
    ref = await chat.send(home.address(home.group), Message("Tall", picture=tall), nonce="o1")
    (shown,) = home.fake.from_bot(home.group)
    assert shown.file is not None
    assert (shown.file.kind, shown.text) == ("document", "Tall")
    await chat.edit(ref, Message("Taller", picture=picture((10, 950), "tall.png", "PNG")))
    assert shown.file.kind == "document"
    assert shown.text == "Taller"


async def test_a_file_that_is_too_large_is_told(home: Home, chat: TelegramChat) -> None:
    huge = Picture("film.mkv", bytes(51 * 1024 * 1024))
    await chat.send(home.address(home.group), Message("Files", "two", files=(huge, Picture("a.txt", b"a"))), nonce="o1")
    (shown,) = home.fake.from_bot(home.group)
    assert "film.mkv was left out" in shown.text
    assert shown.file is not None
    assert (shown.file.kind, shown.file.name) == ("document", "a.txt"), "one message with its caption"


async def test_a_photo_above_ten_megabytes_is_a_document(home: Home, chat: TelegramChat) -> None:
    large = Picture("big.png", screenshot().data + bytes(10 * 1024 * 1024))
    await chat.send(home.address(home.group), Message(picture=large), nonce="o1")
    (shown,) = home.fake.from_bot(home.group)
    assert shown.file is not None
    assert shown.file.kind == "document"


async def test_what_telegram_cannot_parse_is_sent_once_more_as_plain_text(home: Home, chat: TelegramChat) -> None:
    home.fake.faults.fail("sendMessage", 400, "Bad Request: can't parse entities: whatever")
    ref = await chat.send(home.address(home.group), Message("Head", "1 < 2 & 3", notify=True), nonce="o1")
    (shown,) = home.fake.from_bot(home.group)
    assert (shown.text, shown.entities) == ("Head\n1 < 2 & 3", [])
    home.fake.faults.fail("editMessageText", 400, "Bad Request: can't parse entities: whatever")
    await chat.edit(ref, Message("Head", "<b>"))
    assert shown.text == "Head\n<b>"
    home.fake.faults.fail("sendMessage", 400, "Bad Request: can't parse entities: whatever", times=9)
    with pytest.raises(ChatError, match="parse"):
        await chat.send(home.address(home.group), Message("Head"), nonce="o2")
    assert len(home.fake.called("sendMessage")) == 4


async def test_only_the_meant_person_is_named_and_previews_are_off(home: Home, chat: TelegramChat) -> None:
    elsewhere = Person("discord", str(home.alice.id), "Alice")
    await chat.send(home.address(home.group), Message(body="@alice http://127.0.0.1/", mention=elsewhere), nonce="o1")
    meant = Person("telegram", str(home.alice.id), "Alice")
    await chat.send(home.address(home.group), Message(body="you", mention=meant, notify=True), nonce="o2")
    first, second = home.fake.from_bot(home.group)
    assert (first.mentions, first.preview, first.silent) == ([], False, True)
    assert (second.mentions, second.text) == ([str(home.alice.id)], "Alice you")


async def test_buttons_keep_rows_and_colours_and_bad_ones_are_left_out(
    home: Home, chat: TelegramChat, caplog: pytest.LogCaptureFixture
) -> None:
    long = Button("too long", "1:x:" + "y" * 61)
    rows = ((stop_button("7"), Button("More", "1:more:7")), (long,), (Button("", "1:empty"),))
    await chat.send(home.address(home.group), Message(body="hi", buttons=rows), nonce="o1")
    (shown,) = home.fake.from_bot(home.group)
    assert [[data for _, data in row] for row in shown.keyboard] == [[stop_button("7").data, "1:more:7"]]
    sent = json.loads(home.fake.called("sendMessage")[0]["reply_markup"])["inline_keyboard"][0]
    assert [button.get("style") for button in sent] == ["danger", None]
    assert "65 bytes" in caplog.text


async def test_a_chat_that_wants_silence_is_not_called_again(home: Home, chat: TelegramChat) -> None:
    origin = home.address(home.group)
    home.fake.faults.flood(41, "sendMessage")
    with pytest.raises(FloodWait) as first:
        await chat.send(origin, Message(body="one"), nonce="o1")
    with pytest.raises(FloodWait) as second:
        await chat.send(origin, Message(body="one"), nonce="o1")
    assert first.value.seconds == 41
    assert 40 <= second.value.seconds <= 41
    assert len(home.fake.called("sendMessage")) == 1
    await chat.send(home.address(home.private), Message(body="elsewhere"), nonce="o2")


async def test_a_sending_that_broke_off_goes_on_where_it_stopped(home: Home, chat: TelegramChat) -> None:
    body = "\n".join(f"line {number}" for number in range(900))
    origin = home.address(home.group)
    home.fake.faults.fail("sendMessage", 400, "Bad Request: odd", skip=1)
    with pytest.raises(ChatError, match="odd"):
        await chat.send(origin, Message("Done", body), nonce="o1")
    assert len(home.fake.from_bot(home.group)) == 1
    ref = await chat.send(origin, Message("Done", body), nonce="o1")
    shown = home.fake.from_bot(home.group)
    assert ref.message == str(shown[0].id)
    assert "\n".join(one.text for one in shown) == f"Done\n{body}"


async def test_an_answer_that_is_lost_is_told_as_uncertain(home: Home, chat: TelegramChat) -> None:
    home.fake.faults.break_off("sendMessage", after=True)
    with pytest.raises(ChatError, match="may or may not"):
        await chat.send(home.address(home.group), Message(body="hi"), nonce="o1")
    assert len(home.fake.from_bot(home.group)) == 1


async def test_telegram_away_is_told_without_the_token(home: Home, chat: TelegramChat) -> None:
    await home.fake.stop()
    with pytest.raises(ChatError, match="could not be reached") as caught:
        await chat.send(home.address(home.group), Message(body="hi"), nonce="o1")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("description", "code", "gone", "words"),
    [
        ("Forbidden: bot was blocked by the user", 403, True, "bot was blocked by the user"),
        ("Bad Request: TOPIC_CLOSED", 400, True, "topic is closed"),
        ("Bad Request: not enough rights to send text messages to the chat", 400, True, "may not write"),
        ("Bad Request: something new", 400, False, "something new"),
        ("Internal Server Error", 500, False, "could not be reached"),
        ("Unauthorized", 401, False, "token is not accepted"),
        ("Conflict: odd", 409, False, "not understood"),
    ],
)
async def test_refusals_as_sentences(
    home: Home, chat: TelegramChat, description: str, code: int, gone: bool, words: str
) -> None:
    home.fake.faults.fail("sendMessage", code, description)
    with pytest.raises(ChatError, match=words) as caught:
        await chat.send(home.address(home.group), Message(body="hi"), nonce="o1")
    assert isinstance(caught.value, ChatGone) == gone


async def test_a_group_that_became_a_supergroup_is_told_with_its_new_id(home: Home, chat: TelegramChat) -> None:
    home.group.migrated_to = -1009
    with pytest.raises(ChatError, match="-1009") as caught:
        await chat.send(home.address(home.group), Message(body="hi"), nonce="o1")
    assert not isinstance(caught.value, ChatGone)  # what could not be sent is sent again, to the new id


async def test_deleting(home: Home, chat: TelegramChat) -> None:
    secret = await home.fake.say(home.alice, home.group, "/answer 1234")
    ref = MessageRef(home.address(home.group), str(secret.id))
    home.fake.methods.uneditable.add(secret)
    with pytest.raises(ChatError, match="right to delete"):
        await chat.delete(ref)
    home.fake.methods.uneditable.clear()
    await chat.delete(ref)
    await chat.delete(ref)
    assert home.fake.messages(home.group) == []
