"""What goes out to Slack: pieces, pictures, files, refusals, and the answers to presses."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from bot.chats.slack import limits
from bot.chats.slack.chat import SlackChat
from bot.chats.slack.sending import drafts_of, without_buttons
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait
from bot.domain.outgoing import Button, Menu, Message, Picture, Reply
from tests.bot.chats.contract import HOSTILE, card, screenshot
from tests.bot.chats.discord.recording import Recording
from tests.bot.chats.slack.conftest import Home, running

STOP = Message(body="Working", buttons=((Button("Stop", "1:stop:7", "danger"),),))


async def test_no_text_rings_or_links_by_what_it_holds(home: Home, chat: SlackChat) -> None:
    """Seen failing with the fallback text as it is."""
    hostile = f"{HOSTILE} <!channel> <!here|x> <@{home.alice.id}> <http://a.example|b> &lt;!channel&gt; :tada:"
    shown = Message(heading=hostile[:190], body=hostile, footer=hostile, buttons=((Button(hostile, "1:a"),),))
    await chat.send(home.address(), shown, nonce="o1")
    (message,) = home.fake.from_bot(home.channel)
    assert hostile in message.shown
    assert message.mentions == []
    assert "<" not in message.text
    posted = home.fake.called("chat.postMessage")[0]
    assert posted["mrkdwn"] in {False, "false", "0", "False"}


def test_addresses_are_links_where_slack_takes_them() -> None:
    body = "see https://example.com/a?b=1. and http://127.0.0.1/ or (https://a.example)"
    (draft,), _ = drafts_of(Message(body=body))
    elements = draft.blocks[0]["elements"][0]["elements"]
    assert [one["url"] for one in elements if one["type"] == "link"] == [
        "https://example.com/a?b=1",
        "https://a.example",
    ]
    assert "".join(one.get("text") or one["url"] for one in elements) == body


@pytest.mark.parametrize("message", [Message(), Message(body=" \n"), Message(body="\ud800\0"), Message(footer="f")])
def test_no_message_is_empty(message: Message) -> None:
    drafts, _ = drafts_of(message)
    for draft in drafts:
        assert draft.text
        assert draft.with_picture("")
        repr(draft).encode()


async def test_a_picture_waits_until_slack_has_read_it(home: Home, chat: SlackChat) -> None:
    home.fake.slow_files = 3
    await chat.send(home.address(), card("Step 1"), nonce="c1")
    assert home.fake.from_bot(home.channel)[0].pictures
    assert len(home.fake.called("files.info")) == 4


async def test_a_picture_that_slack_refuses_leaves_the_rest(home: Home, chat: SlackChat) -> None:
    home.fake.fail("files.getUploadURLExternal", "missing_scope", needed="files:write")
    ref = await chat.send(home.address(), card("Step 1"), nonce="c1")
    (message,) = home.fake.from_bot(home.channel)
    assert (message.pictures, list(message.buttons)) == ([], ["1:stop:7", "1:pause:7"])
    home.fake.fail("chat.update", "invalid_blocks")
    await chat.edit(ref, card("Step 2"))
    assert "Step 2" in message.shown
    assert message.pictures == []


async def test_the_same_picture_is_uploaded_once(home: Home, chat: SlackChat) -> None:
    ref = await chat.send(home.address(), card("Step 1"), nonce="c1")
    await chat.edit(ref, card("Step 2"))
    assert len(home.fake.called("files.getUploadURLExternal")) == 1
    await chat.edit(ref, replace(card("Step 3"), picture=None))
    assert home.fake.from_bot(home.channel)[0].pictures == []


async def test_an_upload_goes_to_slack_alone(home: Home, chat: SlackChat) -> None:
    """Seen failing without `Hosts.own`."""
    home.fake.upload_to = "http://127.0.0.1:1"
    with pytest.raises(ChatError, match="not its own"):
        await chat.send(home.address(), Message(body="x", files=(Picture("a.csv", b"a"),)), nonce="o1")


async def test_a_sending_goes_on_where_it_broke_off(home: Home, chat: SlackChat) -> None:
    message = Message(body="a" * 2 * limits.TEXT, files=(Picture("a.csv", b"a"),))
    home.fake.fail("files.completeUploadExternal", "internal_error")
    with pytest.raises(ChatError, match="internal_error"):
        await chat.send(home.address(), message, nonce="o1")
    before = len(home.fake.from_bot(home.channel))
    ref = await chat.send(home.address(), message, nonce="o1")
    shown = home.fake.from_bot(home.channel)
    assert (len(shown), shown[0].ts) == (before + 1, ref.message)
    assert [file.name for file in shown[-1].files] == ["a.csv"]


async def test_files_go_into_the_thread_of_their_task(home: Home, chat: SlackChat) -> None:
    place = await chat.open_place(home.address(), None, "Task 7")
    await chat.send(place, Message(body="found", files=(Picture("a.csv", b"a"),)), nonce="o1")
    assert {message.thread for message in home.fake.from_bot(home.channel)[1:]} == {place.thread}


async def test_a_very_long_edit_is_cut_and_says_so(home: Home, chat: SlackChat) -> None:
    ref = await chat.send(home.address(), Message(body="short"), nonce="c1")
    await chat.edit(ref, Message(heading="Task 7", body="word " * 5000, footer="12 s"))
    (message,) = home.fake.from_bot(home.channel)
    assert "too long to show" in message.shown
    assert message.shown.endswith("12 s")


REFUSALS = [
    ("not_in_channel", ChatGone, "/invite"),
    ("is_archived", ChatGone, "archived"),
    ("channel_not_found", ChatGone, "not exist"),
    ("msg_too_long", ChatRefused, "too long"),
    ("missing_scope", ChatError, "chat:write"),
    ("fatal_error", ChatError, "fatal_error"),
]


@pytest.mark.parametrize(("code", "kind", "words"), REFUSALS)
async def test_refusals_say_what_is_wrong(
    home: Home, chat: SlackChat, code: str, kind: type[ChatError], words: str
) -> None:
    home.fake.fail("chat.postMessage", code, needed="chat:write")
    with pytest.raises(ChatError, match=words) as caught:
        await chat.send(home.address(), Message(body="hi"), nonce="o1")
    assert type(caught.value) is kind


@pytest.mark.parametrize(("headers", "seconds"), [({"Retry-After": "7"}, 7), ({}, 30), ({"Retry-After": "soon"}, 30)])
async def test_a_flood_on_the_way_of_a_picture_is_one(
    home: Home, chat: SlackChat, headers: dict[str, str], seconds: float
) -> None:
    home.fake.fail("files.completeUploadExternal", "ratelimited", status=429, headers=headers)
    with pytest.raises(FloodWait) as caught:
        await chat.send(home.address(), card("Step 1"), nonce="c1")
    assert caught.value.seconds == seconds
    assert home.fake.from_bot(home.channel) == []


async def test_a_press_changes_its_message_and_whispers_the_rest(
    home: Home, intake: Recording, chat: SlackChat
) -> None:
    ref = await chat.send(home.address(), STOP, nonce="c1")
    message = home.fake.world.messages[home.channel.id][ref.message]
    intake.pressed = Reply(toast="Stopping", shown=Message(body="Stopped"))
    home.fake.press(home.alice, message, "1:stop:7")
    await home.fake.wait_until(lambda: message.edits)
    assert message.shown == "Stopped"
    await home.fake.settled()
    assert home.fake.whispers() == []


async def test_a_dead_button_goes_and_says_so(home: Home, intake: Recording, chat: SlackChat) -> None:
    asked = replace(STOP, menu=Menu((Button("a", "1:b"),)), picture=screenshot())
    ref = await chat.send(home.address(), asked, nonce="c1")
    message = home.fake.world.messages[home.channel.id][ref.message]
    intake.pressed = Reply(toast="This is over.", dead=True)
    home.fake.press(home.alice, message, "1:b")
    assert (await home.whisper()).shown == "This is over."
    assert (message.shown, message.buttons, message.choices) == ("Working", {}, [])
    assert message.pictures


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_press_that_cannot_change_its_message_is_answered(
    home: Home, intake: Recording, chat: SlackChat, deleted: bool
) -> None:
    ref = await chat.send(home.address(), STOP, nonce="c1")
    intake.pressed = Reply(toast="Stopping", shown=Message(body="Stopped"))
    message = home.fake.world.messages[home.channel.id][ref.message]
    if deleted:
        del home.fake.world.messages[home.channel.id][ref.message]
    else:
        home.fake.flood(30, "chat.update")
    home.fake.press(home.alice, message, "1:stop:7")
    assert (await home.whisper()).shown == "Stopping"


async def test_a_whispered_picture_is_shown(home: Home, intake: Recording) -> None:
    intake.replies = lambda _: Reply(Message(heading="pixel", picture=screenshot()))
    async with running(home, intake):
        home.fake.slash(home.alice, home.channel, "screen")
        assert (await home.whisper()).pictures
        intake.replies = lambda _: Reply(Message(body="here", files=(Picture("a.csv", b"a"),)))
        home.fake.slash(home.alice, home.channel, "file a.csv")
        await home.answer(home.private, 2)
    assert [file.name for one in home.fake.from_bot(home.private) for file in one.files] == ["a.csv"]
    assert home.fake.from_bot(home.channel) == []


async def test_a_code_that_a_person_typed_stays_and_that_is_said(home: Home, chat: SlackChat) -> None:
    said = home.fake.say(home.alice, home.channel, "246810")
    assert not chat.capabilities.deletes
    with pytest.raises(ChatError, match="no bot delete"):
        await chat.delete(await chat.send(home.address(), Message(body="x"), nonce="o1"))
    assert said.ts in home.fake.world.messages[home.channel.id]


async def test_a_flood_on_the_way_of_an_upload_is_one(home: Home, chat: SlackChat) -> None:
    """Seen failing with every refusal of the upload host taken for an outage."""
    home.fake.flood(7, "upload")
    with pytest.raises(FloodWait) as caught:
        await chat.send(home.address(), Message(body="x", files=(Picture("a.csv", b"a"),)), nonce="o1")
    assert caught.value.seconds == 7
    home.fake.flood(8, "upload")
    with pytest.raises(FloodWait) as caught:
        await chat.send(home.address(), card("Step 1"), nonce="c1")
    assert caught.value.seconds == 8
    assert [one.shown for one in home.fake.from_bot(home.channel)] == ["x"]


async def test_an_upload_that_is_refused_leaves_the_rest(home: Home, chat: SlackChat) -> None:
    home.fake.fail("upload", "no", status=500)
    await chat.send(home.address(), card("Step 1"), nonce="c1")
    (message,) = home.fake.from_bot(home.channel)
    assert message.pictures == []


async def test_a_whisper_waits_through_a_short_flood(home: Home, intake: Recording, chat: SlackChat) -> None:
    """Seen failing with the flood taken for blocks that Slack does not take: it was asked again at once."""
    del chat
    intake.replies = lambda _: Reply(Message(body="pong", picture=screenshot()))
    home.fake.flood(1, "respond")
    began = time.monotonic()
    home.fake.slash(home.alice, home.channel, "ping")
    assert (await home.whisper()).pictures
    assert time.monotonic() - began >= 1.0


@pytest.mark.parametrize("told", [None, {}, {"url": "https://files.slack.com/x"}])
def test_a_picture_that_slack_does_not_name_is_left_out(told: dict[str, str] | None) -> None:
    """Seen failing with the picture sent without its file: Slack refuses the whole message then."""
    kept = {"type": "image", "slack_file": {"id": "F1", "url": "https://files.slack.com/x"}, "image_width": 90}
    text = {"type": "rich_text", "elements": [], "block_id": "b0"}
    image = {"type": "image", "alt_text": "a", "image_url": "https://x.example"}
    shown = without_buttons([text, image if told is None else image | {"slack_file": told}, kept, {"type": "actions"}])
    assert [one["type"] for one in shown] == ["rich_text", "image"]
    assert shown[1]["slack_file"] == {"id": "F1"}


@pytest.mark.parametrize("code", ["not_in_channel", "restricted_action_read_only_channel", "is_archived"])
async def test_who_writes_where_the_bot_may_not_is_answered_privately(
    home: Home, intake: Recording, chat: SlackChat, code: str
) -> None:
    """Seen failing without the private answer."""
    del chat
    intake.replies = lambda _: Reply(Message(body="pong"))
    home.fake.fail("chat.postMessage", code)
    home.fake.say(home.alice, home.channel, "@opengui ping")
    assert (await home.answer(home.private)).shown == "pong"
    assert home.fake.from_bot(home.channel) == []
