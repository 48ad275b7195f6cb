"""The life of the connection: tokens, outages, other pollers, deafness, closing, and what the log tells."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from bot.chats.telegram.chat import TelegramChat
from bot.chats.telegram.manifest import TELEGRAM, TelegramSettings
from bot.config.settings import load_settings
from bot.domain.address import MessageRef
from bot.domain.chat import ChatError
from bot.domain.outgoing import Message, Reply
from bot.logs.setup import set_up_logs
from tests.bot.chats.telegram.conftest import QUICK, Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.telegram import TOKEN

SECRET = TOKEN.partition(":")[2]


@pytest.mark.parametrize("token", ["", "nonsense", "123:with blank", "7000:AAwrong-token-of-somebody-else-12"])
async def test_a_wrong_token_is_a_clear_sentence_without_the_token(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture, token: str
) -> None:
    chat = TelegramChat(token, intake, base_url=home.fake.base_url, times=QUICK)
    caplog.set_level(logging.INFO, "bot")
    with pytest.raises(ChatError, match="TELEGRAM_BOT_TOKEN") as caught:
        await asyncio.wait_for(chat.run(), 10)
    told = f"{caught.value!r} {caught.value.__cause__!r} {caplog.text if token else ''} {chat!r}"
    assert not token or token not in told.replace(home.fake.base_url, "")


async def test_a_token_that_is_taken_back_ends_it(home: Home, intake: Recording) -> None:
    chat = TelegramChat(TOKEN, intake, base_url=home.fake.base_url, times=replace(QUICK, poll=0.05))
    task = asyncio.create_task(chat.run())
    await home.fake.connected()
    home.fake.token = "700000001:another"
    with pytest.raises(ChatError, match="TELEGRAM_BOT_TOKEN"):
        await asyncio.wait_for(task, 10)


async def test_a_menu_that_is_refused_is_a_line_in_the_log(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    home.fake.faults.fail("setMyCommands", 400, "Bad Request: BOT_COMMAND_INVALID")
    async with running(home, intake):
        await home.fake.wait_until(lambda: "bot_command_invalid" in caplog.text)
        await home.fake.say(home.alice, home.private, "/help")
        await home.fake.wait_until(lambda: intake.messages)


async def test_an_unreachable_telegram_is_waited_for_at_login(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    home.fake.faults.fail("getMe", 502, "Bad Gateway", times=2)
    home.fake.faults.flood(1, "getMe")
    async with running(home, intake):
        assert caplog.text.count("next attempt") == 3


async def test_closing_does_not_wait_for_telegram(home: Home, intake: Recording) -> None:
    base_url = home.fake.base_url
    await home.fake.stop()
    chat = TelegramChat(TOKEN, intake, base_url=base_url, times=replace(QUICK, first_retry=60.0))
    task = asyncio.create_task(chat.run())
    await asyncio.sleep(0)
    await asyncio.wait_for(chat.close(), 5)
    await asyncio.wait_for(task, 5)


async def test_outages_while_polling_are_waited_out(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    home.fake.faults.fail("getUpdates", 502, "Bad Gateway", times=2)
    home.fake.faults.page("getUpdates", 502, f"<html>https://127.0.0.1/bot{TOKEN}/getUpdates</html>")
    home.fake.faults.break_off("getUpdates")
    async with running(home, intake):
        await home.fake.say(home.alice, home.private, "/help")
        await home.fake.wait_until(lambda: intake.messages)
        await home.fake.wait_until(lambda: "connected again" in caplog.text)
    assert caplog.text.count("next attempt") == 4
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


async def test_a_flood_of_polls_is_obeyed(home: Home, intake: Recording, caplog: pytest.LogCaptureFixture) -> None:
    home.fake.faults.flood(1, "getUpdates")
    async with running(home, intake):
        await home.fake.wait_until(lambda: home.fake.polling.now)
    assert "next attempt in 1.0 s" in caplog.text


async def test_another_poller_is_told_once_and_waited_out(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    home.fake.faults.fail("getUpdates", 409, "Conflict: terminated by other getUpdates request", times=5)
    async with running(home, intake):
        await home.fake.say(home.alice, home.private, "/help")
        await home.fake.wait_until(lambda: intake.messages)
    assert caplog.text.count("somebody else") == 1


async def test_two_services_with_one_token_notice_each_other(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(home, intake), running(home, Recording()):
        await home.fake.wait_until(lambda: "somebody else" in caplog.text)
    home.fake.polling.most = 1  # that was the point of this test


async def test_one_chat_is_never_run_twice(chat: TelegramChat) -> None:
    with pytest.raises(RuntimeError, match="running already"):
        await chat.run()


async def test_polls_that_never_come_back_make_a_new_connection(
    home: Home, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen failing without the time limit around a poll: the second poll never came."""
    home.fake.polling.hearing.clear()
    times = replace(QUICK, poll=60.0, stall=0.2)
    async with running(home, intake, times=times):
        await home.fake.wait_until(lambda: home.fake.polling.started == 2)
        assert "reconnecting" in caplog.text
        home.fake.polling.hearing.set()
        await home.fake.say(home.alice, home.private, "/help")
        await home.fake.wait_until(lambda: intake.messages)


async def test_what_was_handled_is_confirmed_and_what_was_not_comes_again(home: Home, intake: Recording) -> None:
    intake.hold = asyncio.Event()
    await home.fake.say(home.alice, home.private, "/help")
    await home.fake.say(home.alice, home.private, "/screen")
    chat = TelegramChat(TOKEN, intake, base_url=home.fake.base_url, times=QUICK)
    task = asyncio.create_task(chat.run())
    await home.fake.wait_until(lambda: len(intake.messages) == 2)
    task.cancel()
    await asyncio.wait({task}, timeout=10)
    assert task.cancelled()
    intake.hold = None
    async with running(home, intake):
        await home.fake.settled()
    assert [came.command for came in intake.messages] == ["help", "screen", "help", "screen"]
    assert intake.messages[0].event == intake.messages[2].event


async def test_an_update_that_nobody_understands_stops_nothing(
    home: Home, chat: TelegramChat, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    """Seen failing (a fault in the program) for a press on a message without a chat, which the library lets pass."""
    del chat
    home.fake.polling.put("message", {"message_id": "odd", "text": "my password"})
    home.fake.polling.put("callback_query", {"id": "1"})
    person = {"id": 7, "is_bot": False, "first_name": ""}
    no_chat = {"message_id": 1, "date": 1_700_000_000}
    home.fake.polling.put("callback_query", {"id": "2", "chat_instance": "", "from": person, "message": no_chat})
    await home.fake.say(home.alice, home.private, "/help")
    await home.fake.wait_until(lambda: intake.messages)
    assert "An update from Telegram (message)" in caplog.text
    assert "my password" not in caplog.text
    assert "a fault in the program" not in caplog.text


async def test_a_message_waits_for_the_login(home: Home, intake: Recording) -> None:
    chat = TelegramChat(TOKEN, intake, base_url=home.fake.base_url + "/", times=QUICK)
    early = asyncio.create_task(chat.send(home.address(home.group), Message(body="early"), nonce="early"))
    task = asyncio.create_task(chat.run())
    assert (await asyncio.wait_for(early, 10)).address == home.address(home.group)
    await chat.close()
    await asyncio.wait_for(task, 10)


async def test_a_closed_chat_says_that_it_is_closed(home: Home, chat: TelegramChat) -> None:
    await chat.close()
    with pytest.raises(ChatError, match="not sent"):
        await chat.send(home.address(home.group), Message(body="late"), nonce="late")


async def test_what_is_being_done_ends_with_the_connection(home: Home, intake: Recording) -> None:
    intake.hold = asyncio.Event()
    intake.replies = lambda _: Reply(toast="too late")
    async with running(home, intake) as chat:
        await home.fake.say(home.alice, home.private, "/screen")
        await home.fake.wait_until(lambda: intake.messages)
        await asyncio.wait_for(chat.close(), 5)
    assert home.fake.from_bot(home.private) == []


async def test_the_token_and_texts_stay_out_of_the_log(
    home: Home, intake: Recording, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the chattiest level, through the log as it is set up for the service.

    Seen failing without "telegram" among the libraries that are kept quiet (the answer was in the log), and without
    "httpx" and the redaction (the token was).
    """
    environment = tmp_path / ".env"
    environment.write_text(f"TELEGRAM_BOT_TOKEN={TOKEN}\nLOG_LEVEL=DEBUG\n")
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        set_up_logs(
            load_settings(environment, TelegramSettings), quiet=False, forms=TELEGRAM.secrets, chatty=TELEGRAM.chatty
        )
        intake.replies = lambda _: Reply(toast="an answer to one person")
        async with running(home, intake) as chat:
            await home.fake.say(home.alice, home.private, "/answer hunter2", document=("a.bin", b"x"))
            await home.answer(home.private)
            home.fake.faults.break_off("editMessageText")
            with pytest.raises(ChatError):
                await chat.edit(MessageRef(home.address(home.private), "99"), Message(body="x"))
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    told = capsys.readouterr().err
    assert "logged in as @opengui_test_bot" in told
    assert "hunter2" not in told
    assert "an answer to one person" not in told
    assert SECRET not in told
