"""The connection's life: coming, going, tokens, refusals, and an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from bot.chats.feishu.chat import FeishuChat
from bot.chats.feishu.connection import Frame, Method
from bot.chats.feishu.limits import Times
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait
from bot.domain.outgoing import Button, Menu, Message, Picture
from bot.texts import LANGUAGES, speaking
from devices.wording import said, sentence_of
from tests.bot.chats.feishu.conftest import QUICK, Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.feishu import APP, SECRET, FakeFeishu
from tests.fakes.feishu.wire import WireFrame


async def test_a_lost_connection_is_opened_again_and_nothing_is_lost(
    home: Home, chat: FeishuChat, intake: Recording
) -> None:
    for number in range(3):
        await home.fake.gateway.drop()
        await home.fake.say(home.alice, home.private, f"/do number {number}")
        assert (await home.heard(intake, number + 1)).command == f"do number {number}"
    assert chat.online
    assert home.fake.gateway.opened == 4


async def test_a_connection_that_answers_no_ping_is_made_anew(home: Home, intake: Recording) -> None:
    """Seen failing without the time limit: bots have been deaf for hours behind connections that looked alive."""
    home.fake.gateway.silent, home.fake.gateway.ping_interval = True, 1
    async with running(home, intake, times=Times(first_retry=0.01, last_retry=0.05, pong=-1.9)):
        await home.fake.wait_until(lambda: home.fake.gateway.opened > 2)


async def test_it_waits_out_a_feishu_that_is_away(home: Home, intake: Recording) -> None:
    home.fake.hang_up("bot/v3/info", times=2)
    home.fake.refuse("callback/ws/endpoint", 1, "system busy", status=200, times=2)
    home.fake.gateway.refusal = (514, "auth failed")
    async with asyncio.TaskGroup() as group:

        async def mend() -> None:
            await home.fake.wait_until(lambda: not home.fake.faults)
            home.fake.gateway.refusal = None

        group.create_task(mend())
        async with running(home, intake) as chat:
            await home.fake.say(home.alice, home.private, "/whoami")
            await home.heard(intake)
            assert chat.online


async def test_logins_wait_for_as_long_as_feishu_says(home: Home, intake: Recording) -> None:
    """Seen failing with the pauses of an unreachable Feishu."""
    home.fake.flood(1, path="bot/v3/info")
    home.fake.flood(1, path="callback/ws/endpoint")
    began = time.monotonic()
    async with running(home, intake):
        assert time.monotonic() - began >= 2.0


async def test_no_secret_is_in_the_log(home: Home, intake: Recording, caplog: pytest.LogCaptureFixture) -> None:
    """Seen failing with the text of aiohttp's errors, which names the address with its ticket."""
    caplog.set_level(logging.DEBUG, logger="bot")
    home.fake.gateway.refusal = (514, "auth failed")
    task = asyncio.create_task(_until_opened(home))
    async with running(home, intake) as chat:
        await chat.send(home.address(home.group), Message(body="hello"), nonce="n")
    await task
    told = caplog.text
    assert "auth failed" in told
    for secret in (SECRET, "ticket-", "key-secret", *home.fake.tokens):
        assert secret not in told


async def _until_opened(home: Home) -> None:
    await home.fake.wait_until(lambda: home.fake.gateway.refused)
    home.fake.gateway.refusal = None


@pytest.mark.parametrize("options", [{"secret": "wrong"}, {"app": "cli_other"}, {"app": ""}])
async def test_a_wrong_app_is_refused_in_words(home: Home, intake: Recording, options: dict[str, str]) -> None:
    with pytest.raises(ChatError) as caught:
        async with running(home, intake, **options):
            pass
    english = str(caught.value)
    assert "FEISHU_APP_ID" in english
    for language in LANGUAGES:
        with speaking(language):
            assert "FEISHU_APP_ID" in said(sentence_of(caught.value))
    assert "wrong" not in english.split()


async def test_an_app_without_a_bot_is_refused_in_words(home: Home, intake: Recording) -> None:
    home.fake.has_bot = False
    with pytest.raises(ChatError, match="bot capability"):
        async with running(home, intake):
            pass


async def test_a_secret_that_is_changed_ends_it(home: Home, intake: Recording) -> None:
    chat = FeishuChat(APP, SECRET, intake, root=home.fake.base_url, times=QUICK)
    run = asyncio.create_task(chat.run())
    await home.fake.connected()
    home.fake.secret = "another"
    await home.fake.gateway.drop()
    with pytest.raises(ChatError, match="FEISHU_APP_SECRET"):
        await asyncio.wait_for(run, 10)


async def test_tokens_are_made_anew_when_they_end(home: Home, chat: FeishuChat) -> None:
    """Seen failing without the second attempt."""
    place = home.address(home.group)
    await chat.send(place, Message(body="one"), nonce="1")
    assert len(home.fake.tokens) == 1
    home.fake.tokens.append("t-somebody-has-made-another")
    await chat.send(place, Message(body="two"), nonce="2")
    assert len(home.fake.tokens) == 3
    assert [one.text for one in home.fake.from_bot(home.group)] == ["one", "two"]


async def test_a_short_token_is_asked_for_again_before_it_ends(home: Home, intake: Recording) -> None:
    home.fake.token_seconds = 0
    async with running(home, intake) as chat:
        await chat.send(home.address(home.group), Message(body="one"), nonce="1")
        await chat.send(home.address(home.group), Message(body="two"), nonce="2")
    assert len(home.fake.tokens) > 2


@pytest.mark.parametrize(
    ("code", "status", "reset", "seconds"),
    [
        (99991400, 429, 7, 7),
        (99991400, 400, 7, 7),
        (230020, 400, None, 2),
        (1, 429, None, 2),
        (99991400, 429, 10**9, 3600),
    ],
)
async def test_too_many_calls_are_a_silence(
    home: Home, chat: FeishuChat, code: int, status: int, reset: int | None, seconds: float
) -> None:
    home.fake.flood(reset, code=code, status=status)
    with pytest.raises(FloodWait) as caught:
        await chat.send(home.address(home.group), Message(body="one"), nonce="1")
    assert caught.value.seconds == seconds
    assert home.fake.from_bot(home.group) == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [(230002, ChatGone), (230013, ChatGone), (230031, ChatGone), (230025, ChatRefused), (230099, ChatRefused)],
)
async def test_refusals_say_whether_repeating_helps(
    home: Home, chat: FeishuChat, code: int, kind: type[ChatError]
) -> None:
    home.fake.refuse("im/v1/messages", code, "secret words of Feishu")
    with pytest.raises(kind) as caught:
        await chat.send(home.address(home.group), Message(body="one"), nonce="1")
    assert type(caught.value) is kind
    assert "secret words" not in str(caught.value)


async def test_a_missing_scope_is_named(home: Home, chat: FeishuChat) -> None:
    home.fake.scopes.discard("im:message:send_as_bot")
    with pytest.raises(ChatError, match="im:message:send_as_bot"):
        await chat.send(home.address(home.group), Message(body="one"), nonce="1")


@pytest.mark.parametrize("scope", ["im:message.reactions:write_only", "contact:user.base:readonly"])
async def test_scopes_that_are_not_needed_are_not_missed(
    home: Home, chat: FeishuChat, intake: Recording, scope: str
) -> None:
    home.fake.scopes.discard(scope)
    await home.fake.say(home.alice, home.private, "/whoami")
    heard = await home.heard(intake)
    assert heard.person.id == home.alice.id
    await chat.send(home.address(home.private), Message(body="one"), nonce="1")


async def test_a_sending_that_broke_off_is_shown_once(home: Home, chat: FeishuChat) -> None:
    files = tuple(Picture(f"{number}.csv", b"a") for number in range(2))
    long = Message(body="\n".join(f"line {number} " + "x" * 50 for number in range(150)), files=files)
    home.fake.hang_up("im/v1/files")
    with pytest.raises(ChatError):
        await chat.send(home.address(home.group), long, nonce="1")
    await chat.send(home.address(home.group), long, nonce="1")
    shown = home.fake.from_bot(home.group)
    assert [one.kind for one in shown] == ["interactive", "interactive", "interactive", "file", "file"]


async def test_a_picture_is_uploaded_once(home: Home, chat: FeishuChat) -> None:
    picture = Picture("a.jpg", b"a picture")
    ref = await chat.send(home.address(home.group), Message(body="one", picture=picture), nonce="1")
    await chat.edit(ref, Message(body="two", picture=picture))
    assert sum(path == "im/v1/images" for _, path in home.fake.calls) == 1


async def test_a_change_that_is_too_long_says_so(home: Home, chat: FeishuChat) -> None:
    ref = await chat.send(home.address(home.group), Message(body="one", footer="12 s"), nonce="1")
    await chat.edit(ref, Message(heading="Done", body="word " * 5000, footer="13 s"))
    text = home.fake.messages[ref.message].text
    assert "too long" in text
    assert text.endswith("13 s")


async def test_what_is_said_in_a_thread_never_goes_to_the_whole_chat(home: Home, chat: FeishuChat) -> None:
    root = await home.fake.say(home.alice, home.group, "do open settings")
    place = await chat.open_place(home.address(home.group), root.id, "Task 1")
    root.recalled = True
    with pytest.raises(ChatGone):
        await chat.send(place, Message(body="a code"), nonce="1")
    assert home.fake.from_bot(home.group) == []


@pytest.mark.parametrize(
    "text",
    [
        '<at user_id="all">all</at>',
        "<at id=all></at>",
        "<at id=ou_1></at>",
        "**b** [x](http://x) <font color=red>",
        "@all",
    ],
)
async def test_words_are_words_wherever_they_stand(home: Home, chat: FeishuChat, text: str) -> None:
    """Seen failing with `lark_md` for the body: it rings for everybody. The fake refuses markup of ours as well."""
    message = Message(text, text, text, buttons=((Button(text, "1:x"),),), menu=Menu((Button(text, "1:y"),), text))
    ref = await chat.send(home.address(home.group), message, nonce="1")
    await chat.edit(ref, message)
    shown = home.fake.messages[ref.message]
    assert shown.rung == []
    assert shown.text.count(text) == 3


async def test_closing_leaves_nothing_running(home: Home, intake: Recording) -> None:
    before = asyncio.all_tasks()
    intake.hold = asyncio.Event()
    async with running(home, intake) as chat:
        await home.fake.say(home.alice, home.private, "/screen")
        await home.heard(intake)
        online = chat.online
    assert (online, chat.online) == (True, False)
    await home.fake.wait_until(lambda: not home.fake.gateway.sockets)
    left = asyncio.all_tasks() - before
    assert [task for task in left if "feishu" in repr(task.get_coro()) and "fakes" not in repr(task.get_coro())] == []
    with pytest.raises(ChatError):
        await chat.send(home.address(home.private), Message(body="late"), nonce="n")


def test_frames_are_those_of_the_official_client() -> None:
    """The bytes are what lark-oapi 1.7.5 makes of a ping."""
    ping = bytes.fromhex("08001000188681801020002a0c0a0474797065120470696e67")
    assert Frame(Method.CONTROL, 33554566, {"type": "ping"}).serialize() == ping
    assert Frame.parse(ping) == Frame(Method.CONTROL, 33554566, {"type": "ping"})
    frame = Frame(Method.DATA, 7, {"type": "event", "sum": "1"}, b"{}", 2**63, 5)
    assert Frame.parse(frame.serialize()) == frame
    wire = WireFrame.decode(frame.serialize())
    assert (wire.headers, wire.payload, wire.sequence, wire.log) == ({"type": "event", "sum": "1"}, b"{}", 2**63, 5)


async def test_the_token_is_led_to_no_other_host(home: Home, chat: FeishuChat) -> None:
    """Seen failing when redirects are followed."""
    async with FakeFeishu() as elsewhere:
        for path in ("im/v1/messages", "resources"):
            home.fake.refuse(path, 0, status=307, headers={"Location": f"{elsewhere.base_url}/open-apis/{path}"})
        with pytest.raises(ChatError):
            await chat.send(home.address(home.group), Message(body="one"), nonce="1")
        await home.fake.say(home.alice, home.private, "/whoami")
        file = await home.fake.send_file(home.alice, home.private, "a.txt", b"abc")
        await home.fake.say(home.alice, home.private, "/do this", reply_to=file)
        await home.settled()
        assert elsewhere.calls == []
        assert elsewhere.tokens == []
