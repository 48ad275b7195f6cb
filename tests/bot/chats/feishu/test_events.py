"""What comes in over the long connection: whose words count, once each, and what becomes of everything else."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.chats.feishu.chat import FeishuChat
from bot.domain.address import MessageRef
from bot.domain.incoming import Press
from bot.domain.outgoing import Button, Message, Reply
from bot.people.access import Lists, Policy
from bot.texts import say, speaking
from tests.bot.chats.feishu.conftest import QUICK, Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.bot.world import a_world
from tests.fakes.feishu.gateway import SERVICE
from tests.fakes.feishu.wire import WireFrame
from tests.fakes.feishu.world import ELSEWHERE

with speaking("zh"):  # as people read on feishu.cn
    UNSEEN = say("chats.unseen")

NUMBERS = (SERVICE, 1, 2)
"""As the fake numbers its frames: it looks for them in the answers."""


async def heard_last(home: Home, intake: Recording) -> list[str]:
    """All texts that were heard, once a last one has come."""
    await home.fake.say(home.alice, home.private, "/whoami")
    await home.fake.wait_until(lambda: any(one.command == "whoami" for one in intake.messages))
    await home.settled()
    return [one.text for one in intake.messages if one.command != "whoami"]


async def test_an_event_that_comes_again_is_heard_once(home: Home, chat: FeishuChat, intake: Recording) -> None:
    """Seen failing without what remembers events and messages: Feishu delivers again what was answered late."""
    message = await home.fake.say(home.alice, home.private, "/do open settings")
    await home.heard(intake)
    event = home.fake.event_of(message)
    await home.fake.gateway.again(event)  # the same message by an event of another id
    await home.fake.gateway.again(event)
    assert await heard_last(home, intake) == ["/do open settings"]
    card = await chat.send(home.address(home.private), Message(body="?", buttons=((Button("a", "1:x"),),)), nonce="n")
    shown = home.fake.messages[card.message]
    press = home.fake.press_event(home.alice, shown, {"tag": "button", "value": shown.actions[0]["value"]})
    for _ in range(3):
        await home.fake.gateway.again(press)
    await heard_last(home, intake)
    assert len(intake.presses) == 1


async def test_a_message_that_comes_again_after_a_restart_begins_no_second_task(home: Home, tmp_path: Path) -> None:
    """When nothing but the record knows the first. Seen failing with the id of the event for that of the message."""
    listed = Policy({"feishu": Lists(users=frozenset({home.alice.id}))})
    async with a_world(tmp_path, policy=listed) as world:
        async with running(home, world.commands):
            said = await home.fake.say(home.alice, home.private, "/do open settings")
            await home.settled()
        assert len(await world.task_service.recent(9)) == 1
        world.commands._seen.clear()  # as a new process
        async with running(home, world.commands):
            await home.fake.gateway.deliver(home.fake.event_of(said))
            await home.settled()
        assert len(await world.task_service.recent(9)) == 1


@pytest.mark.parametrize("lists", [Lists(), Lists(admins=frozenset({"ou_else"}))])
async def test_without_lists_nobody_is_let_in(home: Home, tmp_path: Path, lists: Lists) -> None:
    """Seen failing (the group is answered) without the look at whether anybody is listed."""
    async with a_world(tmp_path, policy=Policy({"feishu": lists})) as world, running(home, world.commands):
        await home.fake.say(home.alice, home.group, "do open settings")
        await home.fake.say(home.alice, home.private, "/do open settings")
        await home.settled()
        assert not await world.task_service.recent(9)
        assert home.fake.from_bot(home.group) == []


async def test_a_changed_message_is_not_done_again(home: Home, chat: FeishuChat, intake: Recording) -> None:  # noqa: ARG001
    message = await home.fake.say(home.alice, home.private, "/do open settings")
    await home.heard(intake)
    message.content = {"text": "/do delete everything"}
    await home.fake.gateway.deliver(home.fake.event_of(message))
    edited = home.fake.event_of(message)
    edited["header"]["event_type"] = "im.message.updated_v1"
    edited["event"]["message"]["message_id"] = "om_other"
    await home.fake.gateway.deliver(edited)
    assert await heard_last(home, intake) == ["/do open settings"]


def from_an_app(event: dict[str, Any]) -> None:
    event["event"]["sender"]["sender_type"] = "app"


def of_another_app(event: dict[str, Any]) -> None:
    event["header"]["app_id"] = "cli_another"


def from_elsewhere(event: dict[str, Any]) -> None:
    event["event"]["sender"]["tenant_key"] = ELSEWHERE


def from_nowhere(event: dict[str, Any]) -> None:
    event["event"]["sender"]["tenant_key"] = None


def without_a_sender(event: dict[str, Any]) -> None:
    event["event"]["sender"]["sender_id"] = None


def with_a_path_for_an_id(event: dict[str, Any]) -> None:
    event["event"]["message"]["message_id"] = "../../auth/v3/app_ticket"


@pytest.mark.parametrize(
    "forged", [from_an_app, of_another_app, from_elsewhere, from_nowhere, without_a_sender, with_a_path_for_an_id]
)
async def test_who_is_not_a_person_of_the_company_is_not_heard(
    home: Home, chat: FeishuChat, intake: Recording, forged: Any
) -> None:
    """Seen failing without each check."""
    del chat
    for place in (home.private, home.group):
        message = await home.fake.say(home.alice, place, "/do open settings")
        await home.heard(intake)
        await home.settled()
        event = home.fake.event_of(message)
        event["event"]["message"]["message_id"] = f"om_new{place.id}"
        forged(event)
        await home.fake.gateway.deliver(event)
        await home.settled()
    assert await heard_last(home, intake) == ["/do open settings"] * 2


async def test_presses_of_other_companies_are_not_heard(home: Home, chat: FeishuChat, intake: Recording) -> None:
    card = await chat.send(home.address(home.group), Message(body="?", buttons=((Button("a", "1:x"),),)), nonce="n")
    mallory = home.fake.user("mallory", tenant=ELSEWHERE)
    await home.fake.press(mallory, home.fake.messages[card.message], "1:x")
    await home.settled()
    assert intake.presses == []


async def test_a_company_that_is_listed_is_heard(home: Home, intake: Recording) -> None:
    guest = home.fake.user("guest", tenant=ELSEWHERE)
    async with running(home, intake, tenants=(ELSEWHERE,)):
        await home.fake.say(guest, home.group, "do open settings")
        heard = await home.heard(intake)
        assert heard.person.id == guest.id
        assert heard.place.address == home.address(home.group)


@pytest.mark.parametrize(
    ("text", "mention", "command"),
    [
        ("do open settings", True, "do open settings"),
        ("/do open settings", True, "do open settings"),
        ("/opengui do open settings", False, "do open settings"),
        ("/do open settings", False, "do open settings"),
        ("/weather in Bonn", False, None),
        ("open settings", True, "open settings"),
        ("", True, ""),
        ("open settings", False, None),
    ],
)
async def test_what_is_a_command_in_a_group(
    home: Home, chat: FeishuChat, intake: Recording, text: str, mention: bool, command: str | None
) -> None:
    del chat
    await home.fake.say(home.alice, home.group, text, mention=mention)
    assert (await home.heard(intake)).command == command


async def test_a_mention_in_a_thread_or_a_reply_is_an_answer(home: Home, chat: FeishuChat, intake: Recording) -> None:
    """In groups people have to mention the bot to be heard at all."""
    root = await home.fake.say(home.alice, home.group, "do open settings")
    await home.heard(intake)
    place = await chat.open_place(home.address(home.group), root.id, "Task 1")
    question = await chat.send(place, Message(heading="Which?"), nonce="q")
    await home.fake.say(home.alice, home.group, "the blue one", reply_to=root, in_thread=True)
    plain = await home.heard(intake, 2)
    assert (plain.command, plain.text, plain.reply_to) == (None, "the blue one", None)
    assert plain.place.address == place
    await home.fake.say(home.alice, home.group, "the red one", reply_to=home.fake.messages[question.message])
    pointed = await home.heard(intake, 3)
    assert (pointed.command, pointed.text, pointed.reply_to) == (None, "the red one", question)
    assert pointed.to_bot
    await home.fake.say(home.alice, home.group, "cancel", reply_to=root, in_thread=True)
    assert (await home.heard(intake, 4)).command == "cancel"


async def test_a_thread_on_a_card_answers_the_card_also_after_a_restart(home: Home, intake: Recording) -> None:
    async with running(home, intake) as chat:
        card = await chat.send(home.address(home.group), Message(heading="Which?"), nonce="q")
    async with running(home, intake):
        shown = home.fake.messages[card.message]
        await home.fake.say(home.alice, home.group, "this one", reply_to=shown, in_thread=True)
        heard = await home.heard(intake)
        assert (heard.reply_to, heard.to_bot) == (card, True)


async def test_names_stand_for_people_in_a_task_and_ids_elsewhere(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    del chat
    await home.fake.say(home.alice, home.group, "do write to {0}", others=[home.bob])
    assert (await home.heard(intake)).command == "do write to @bob"
    await home.fake.say(home.alice, home.group, "people approve {0}", others=[home.bob])
    assert (await home.heard(intake, 2)).command == f"people approve <@{home.bob.id}>"


async def test_a_text_with_pictures_brings_both(home: Home, chat: FeishuChat, intake: Recording) -> None:
    del chat
    key = home.fake.file("", b"a picture")
    parts = [
        [{"tag": "text", "text": "/do post "}, {"tag": "img", "image_key": key}],
        [{"tag": "text", "text": "this"}],
    ]
    await home.fake.post(home.alice, home.private, "post", {"title": "", "content": parts})
    heard = await home.heard(intake)
    assert heard.command == "do post \nthis"
    assert [(file.name, file.data) for file in heard.attachments] == [("photo.jpg", b"a picture")]


async def test_a_file_without_a_word_is_asked_about_and_not_fetched(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    del chat
    await home.fake.send_file(home.alice, home.private, "notes.txt", b"abc")
    heard = await home.heard(intake)
    assert (heard.wordless, heard.attachments, heard.carries) == ("/do", (), True)
    assert not any("resources" in path for _, path in home.fake.calls)


async def test_strangers_cause_no_calls_but_for_their_names(home: Home, intake: Recording) -> None:
    """Seen failing when files are fetched for everybody: strangers would fill the memory."""
    async with running(home, intake, welcome=lambda _person, _place: False):
        file = await home.fake.send_file(home.bob, home.private, "notes.txt", b"abc")
        await home.fake.say(home.bob, home.private, "/do this", reply_to=file)
        await home.fake.post(home.bob, home.private, "merge_forward", {}, inner=[file])
        await home.settled()
        assert all("contact" in path or "bot/v3" in path for _, path in home.fake.calls)


async def test_a_file_that_is_too_large_is_left_out_and_said(home: Home, chat: FeishuChat, intake: Recording) -> None:
    del chat
    intake.replies = lambda _: Reply(Message(body="yes"))
    file = await home.fake.send_file(home.alice, home.private, "film.mp4", b"x" * (20 * 1024 * 1024 + 1))
    await home.fake.say(home.alice, home.private, "/do this", reply_to=file)
    assert (await home.heard(intake, 2)).attachments == ()
    await home.fake.wait_until(lambda: any("film.mp4" in one.text for one in home.fake.from_bot(home.private)))


async def test_a_do_in_a_thread_takes_the_files_that_it_began_with(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    """Seen failing with the files of replies outside of threads alone."""
    del chat
    file = await home.fake.send_file(home.alice, home.group, "notes.txt", b"abc")
    await home.fake.say(home.alice, home.group, "do send this", reply_to=file, in_thread=True)
    came = await home.heard(intake)
    assert [(one.name, one.data) for one in came.attachments] == [("notes.txt", b"abc")]
    assert came.reply_to is None
    await home.fake.say(home.alice, home.group, "look", reply_to=file, in_thread=True)
    assert (await home.heard(intake, 2)).attachments == ()


@pytest.mark.parametrize("in_thread", [True, False])
async def test_files_that_cannot_be_looked_at_are_said(
    home: Home, chat: FeishuChat, intake: Recording, in_thread: bool
) -> None:
    """Seen failing with a failed look taken for a message without files."""
    del chat
    intake.replies = lambda _: Reply(Message(body="yes"))
    file = await home.fake.send_file(home.alice, home.group, "notes.txt", b"abc")
    home.fake.refuse(f"im/v1/messages/{file.id}$", 230027)
    await home.fake.say(home.alice, home.group, "do send this", reply_to=file, in_thread=in_thread)
    assert (await home.heard(intake)).attachments == ()
    await home.fake.wait_until(lambda: any(UNSEEN in one.text for one in home.fake.messages.values()))


async def test_files_of_what_is_forwarded_in_a_bundle_are_said(home: Home, chat: FeishuChat, intake: Recording) -> None:
    """And so is a bundle that cannot be read. Seen failing without each of the two sentences."""
    del chat
    intake.replies = lambda _: Reply(Message(body="yes"))
    said = await home.fake.say(home.bob, home.group, "look", mention=False)
    file = await home.fake.send_file(home.bob, home.group, "notes.txt", b"abc")
    await home.fake.post(home.alice, home.private, "merge_forward", {}, inner=[said, file])
    await home.fake.wait_until(lambda: any("notes.txt" in one.text for one in home.fake.from_bot(home.private)))
    home.fake.refuse("im/v1/messages/om", 230027)
    await home.fake.post(home.alice, home.private, "merge_forward", {}, inner=[said, file])
    await home.fake.wait_until(lambda: any(UNSEEN in one.text for one in home.fake.from_bot(home.private)))


async def test_who_writes_where_the_bot_may_not_is_answered_privately(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    del chat
    intake.replies = lambda _: Reply(Message(body="pong"))
    home.fake.refuse("im/v1/messages/.*/reply", 230018)
    await home.fake.say(home.alice, home.group, "whoami")
    assert (await home.answer(home.private)).text == "pong"
    assert home.fake.from_bot(home.group) == []


async def test_a_file_of_json_is_no_answer_of_the_api(home: Home, chat: FeishuChat, intake: Recording) -> None:
    """What is fetched is told from a refusal by the status of the answer, whatever its type."""
    del chat
    file = await home.fake.send_file(home.alice, home.private, "data.json", b'{"code": 99}')
    await home.fake.say(home.alice, home.private, "/do this", reply_to=file)
    (given,) = (await home.heard(intake, 2)).attachments
    assert (given.name, given.data) == ("data.json", b'{"code": 99}')


async def test_a_voice_message_is_fetched_when_it_is_wanted(home: Home, chat: FeishuChat, intake: Recording) -> None:
    del chat
    key = home.fake.file("voice", b"OggS")
    await home.fake.post(home.alice, home.private, "audio", {"file_key": key, "duration": 2500})
    voice = (await home.heard(intake)).voice
    assert voice is not None
    assert voice.seconds == 2.5
    assert await voice.fetch() == b"OggS"


async def test_what_comes_late_is_stale(home: Home, chat: FeishuChat, intake: Recording) -> None:
    card = await chat.send(home.address(home.private), Message(body="?", buttons=((Button("a", "1:x"),),)), nonce="n")
    await home.fake.say(home.alice, home.private, "/do open settings", age=3600)
    await home.fake.press(home.alice, home.fake.messages[card.message], "1:x", age=3600)
    assert (await home.heard(intake)).stale
    assert (await home.pressed(intake)).stale


async def test_what_an_earlier_process_may_have_done_is_decided_by_a_person(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    """Feishu delivers again what was not answered. Seen failing without a look at when this process began."""
    del chat
    for text, age in (("the blue one", 60), ("/status", 60), ("/do open settings", 60), ("the red one", 0)):
        await home.fake.say(home.alice, home.private, text, age=age)
    await home.heard(intake, 4)
    assert [one.stale for one in intake.messages] == [True, True, False, False]


async def test_a_press_is_answered_in_time_though_its_work_takes_long(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    intake.hold, intake.pressed = asyncio.Event(), Reply(toast="Stopped.")
    card = await chat.send(home.address(home.private), Message(body="?", buttons=((Button("a", "1:x"),),)), nonce="n")
    event = await home.fake.press(home.alice, home.fake.messages[card.message], "1:x")
    await home.settled()
    assert home.fake.gateway.answers[event] == {}
    intake.hold.set()
    assert (await home.answer(home.private, 2)).text == "Stopped."
    intake.hold = None
    event = await home.fake.press(home.alice, home.fake.messages[card.message], "1:x")
    await home.settled()
    assert home.fake.gateway.answers[event] == {"toast": {"type": "info", "content": "Stopped."}}
    assert len(home.fake.from_bot(home.private)) == 2


async def test_a_name_that_does_not_come_costs_no_press_its_time(home: Home, intake: Recording) -> None:
    """One time is for the name and the work together. A late name is not waited for again for a while."""
    home.fake.stuck = "contact/v3/users"
    async with running(home, intake, times=replace(QUICK, answer=1.2)) as chat:
        intake.hold = asyncio.Event()
        message = Message(body="?", buttons=((Button("a", "1:x"),),))
        card = home.fake.messages[(await chat.send(home.address(home.group), message, nonce="n")).message]
        began = time.monotonic()
        await home.fake.press(home.alice, card, "1:x")
        await home.settled()
        assert time.monotonic() - began < 1.8
        await home.fake.press(home.bob, card, "1:x")
        assert (await home.pressed(intake, 2)).person.name == ""
        intake.hold.set()
    assert sum(path.startswith("contact") for _, path in home.fake.calls) == 1


async def test_too_many_tokens_keep_nobody_from_being_heard(home: Home, intake: Recording) -> None:
    """Neither is the message lost nor the press left unanswered while no name can be asked for."""
    home.fake.token_seconds = 0
    async with running(home, intake) as chat:
        message = Message(body="?", buttons=((Button("a", "1:x"),),))
        card = home.fake.messages[(await chat.send(home.address(home.group), message, nonce="n")).message]
        home.fake.flood(1, path="tenant_access_token")
        await home.fake.say(home.alice, home.private, "/do open settings")
        assert (await home.heard(intake)).person.name == ""
        home.fake.faults.clear()
    async with running(home, intake):
        home.fake.flood(1, path="tenant_access_token")
        await home.fake.press(home.bob, card, "1:x")
        await home.pressed(intake)
        await home.settled()


async def test_what_fails_is_answered_and_in_the_log(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    """It is acknowledged, so that it does not come again for hours, and the log tells of it."""

    class Broken(Recording):
        async def press(self, press: Press) -> Reply:
            del press
            raise ZeroDivisionError

    async with running(home, Broken()) as chat:
        message = Message(body="?", buttons=((Button("a", "1:x"),),))
        card = home.fake.messages[(await chat.send(home.address(home.group), message, nonce="n")).message]
        await home.fake.press(home.alice, card, "1:x")
        await home.settled()
    assert "ZeroDivisionError" in caplog.text


async def test_a_pressed_card_reads_as_the_answer_says(home: Home, chat: FeishuChat, intake: Recording) -> None:
    asked = Message(heading="Which?", body="one", buttons=((Button("a", "1:x"),),))
    card = await chat.send(home.address(home.private), asked, nonce="n")
    shown = home.fake.messages[card.message]
    intake.pressed = Reply(toast="Thanks.", shown=Message(heading="Which?", body="Answered: a"))
    await home.fake.press(home.alice, shown, "1:x")
    await home.fake.wait_until(lambda: "Answered: a" in shown.text)
    assert shown.buttons == {}
    other = home.fake.messages[(await chat.send(home.address(home.private), asked, nonce="m")).message]
    intake.pressed = Reply(toast="Over.", dead=True)
    await home.fake.press(home.alice, other, "1:x")
    await home.fake.wait_until(lambda: other.buttons == {})
    assert "one" in other.text


async def test_a_card_of_a_private_chat_pressed_elsewhere_is_pressed_there(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    """What a card says of its place holds only for the person whose private chat it was sent to."""
    ref = await chat.send(home.address(home.private), Message(body="?", buttons=((Button("a", "1:x"),),)), nonce="n")
    card = home.fake.messages[ref.message]
    card.chat = home.group
    await home.fake.press(home.bob, card, "1:x")
    press = await home.pressed(intake)
    assert not press.place.private
    assert press.message == MessageRef(home.address(home.group), card.id)


async def test_stop_is_not_held_up_by_what_takes_long(home: Home, chat: FeishuChat, intake: Recording) -> None:
    """Seen failing when each event waits for the end of the one before."""
    intake.hold = asyncio.Event()
    card = await chat.send(home.address(home.private), Message(body="?", buttons=((Button("a", "1:x"),),)), nonce="n")
    for _ in range(3):
        await home.fake.say(home.alice, home.private, "/screen")
    async with asyncio.timeout(1.0):
        await home.fake.press(home.alice, home.fake.messages[card.message], "1:x")
        await home.pressed(intake)
    intake.hold.set()


async def test_a_chat_that_the_bot_is_thrown_out_of_is_told(home: Home, intake: Recording) -> None:
    told = []

    async def lost(place: Any) -> None:
        told.append(place)

    async with running(home, intake, lost=lost):
        for kind in ("im.chat.member.bot.deleted_v1", "im.chat.disbanded_v1"):
            await home.fake.gateway.deliver(home.fake.chat_event(kind, home.group))
        await home.settled()
    assert told == [home.address(home.group)] * 2


async def test_events_in_several_frames_are_put_together(home: Home, chat: FeishuChat, intake: Recording) -> None:
    del chat
    home.fake.gateway.parts = 5
    await home.fake.say(home.alice, home.private, "/do open settings")
    assert (await home.heard(intake)).command == "do open settings"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 40,
        WireFrame(7).encode(),
        WireFrame(1, {"type": "event", "sum": "x"}).encode(),
        WireFrame(1, {"type": "event", "sum": "9", "seq": "-1"}, b"{").encode(),
        WireFrame(1, {"type": "event", "sum": "99999999", "seq": "1"}, b"{").encode(),
        WireFrame(1, {"type": "event", "message_id": "m"}, b"[" * 100_000, *NUMBERS).encode(),
        WireFrame(
            1, {"type": "event", "message_id": "m"}, json.dumps({"header": {"event_type": []}}).encode(), *NUMBERS
        ).encode(),
        WireFrame(0, {"type": "pong"}, b"nonsense").encode(),
        WireFrame(0, {"type": "pong"}, b'{"PingInterval": -1}').encode(),
    ],
)
async def test_odd_frames_change_nothing(home: Home, chat: FeishuChat, intake: Recording, data: bytes) -> None:
    await home.fake.gateway.send_bytes(data)
    assert await heard_last(home, intake) == []
    assert chat.online
    assert home.fake.gateway.opened == 1
