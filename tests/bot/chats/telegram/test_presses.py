"""Buttons: every press is answered, whatever happens."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.cards.buttons import stop_button
from bot.chats.telegram.chat import TelegramChat
from bot.domain.address import Person
from bot.domain.incoming import Press
from bot.domain.outgoing import Message as Outgoing
from bot.domain.outgoing import Reply
from tests.bot.chats.contract import card
from tests.bot.chats.telegram.conftest import QUICK, Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.fakes.telegram import Message
from tests.fakes.telegram import Press as Pressed

STOP = stop_button("7").data


async def shown(home: Home, chat: TelegramChat, thread: int = 0) -> Message:
    place = home.forum if thread else home.group
    await chat.send(home.address(place, thread), card("Step 1"), nonce="c7")
    return home.fake.from_bot(place)[-1]


async def test_a_press_reaches_the_intake_and_is_answered(home: Home, chat: TelegramChat, intake: Recording) -> None:
    topic = home.fake.topic(home.forum, "phones")
    message = await shown(home, chat, topic)
    intake.pressed = Reply(toast="Stopped.")
    press = await home.fake.press(home.alice, message, STOP)
    await home.fake.wait_until(lambda: press.answer is not None)
    assert (press.answer, press.alert) == ("Stopped.", False)
    (came,) = intake.presses
    assert isinstance(came, Press)
    assert (came.person, came.data) == (Person("telegram", str(home.alice.id), "Alice"), STOP)
    assert came.place.address == came.message.address == home.address(home.forum, topic)
    assert came.message.message == str(message.id)
    assert len(home.fake.from_bot(home.forum)) == 1


async def test_long_notices_are_alerts_and_cut(home: Home, chat: TelegramChat, intake: Recording) -> None:
    message = await shown(home, chat)
    intake.pressed = Reply(toast="no " * 100)
    press = await home.fake.press(home.alice, message, STOP)
    await home.fake.wait_until(lambda: press.answer is not None)
    assert press.alert
    assert len(press.answer or "") == 200


async def test_a_message_in_answer_to_a_press(home: Home, chat: TelegramChat, intake: Recording) -> None:
    message = await shown(home, chat)
    intake.pressed = Reply(Outgoing("Tasks", "older"))
    press = await home.fake.press(home.alice, message, STOP)
    answer = await home.answer(home.group, 2)
    assert (answer.text, answer.reply_to) == ("Tasks\nolder", message)
    assert press.answer == ""


async def test_a_task_that_was_begun_by_a_press_needs_no_message(
    home: Home, chat: TelegramChat, intake: Recording
) -> None:
    message = await shown(home, chat)
    intake.pressed = Reply(Outgoing(body="accepted"), task="8")
    press = await home.fake.press(home.alice, message, STOP)
    await home.fake.wait_until(lambda: press.answer is not None)
    await home.fake.say(home.alice, home.group, "/help")
    await home.fake.wait_until(lambda: intake.messages)
    assert len(home.fake.from_bot(home.group)) == 1


async def test_a_slow_press_is_answered_first_and_told_later(home: Home, intake: Recording) -> None:
    async with running(home, intake, times=replace(QUICK, press=0.05)) as chat:
        message = await shown(home, chat)
        intake.hold = asyncio.Event()
        intake.pressed = Reply(toast="Stopped at last.")
        press = await home.fake.press(home.alice, message, STOP)
        await home.fake.wait_until(lambda: press.answer is not None)
        assert press.answer == ""
        intake.hold.set()
        answer = await home.answer(home.group, 2)
        assert (answer.text, answer.reply_to) == ("Stopped at last.", message)


async def test_a_press_on_a_message_that_telegram_has_forgotten(
    home: Home, chat: TelegramChat, intake: Recording
) -> None:
    message = await shown(home, chat)
    press = await home.fake.press(home.alice, message, STOP, forgotten=True)
    await home.fake.wait_until(lambda: press.answer is not None)
    assert intake.presses[0].message.message == str(message.id)


class Broken(Recording):
    async def press(self, press: Press) -> Reply:
        raise ValueError(f"a fault in the program at {press.data}")


async def test_a_fault_is_answered_too(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    """Seen failing with the toast moved out of `finally`: the button waited for ever."""
    async with running(home, Broken()) as chat:
        press = await home.fake.press(home.alice, await shown(home, chat), STOP)
        await home.fake.wait_until(lambda: press.answer is not None and "fault in the program" in caplog.text)


async def test_an_answer_that_comes_too_late_is_no_fault(
    home: Home, chat: TelegramChat, intake: Recording, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    message = await shown(home, chat)
    home.fake.faults.fail("answerCallbackQuery", 400, "Bad Request: query is too old and response timeout expired")
    await home.fake.press(home.alice, message, STOP)
    await home.fake.wait_until(lambda: "query is too old" in caplog.text)
    assert len(intake.presses) == 1


async def test_a_press_that_belongs_to_no_chat_is_answered(home: Home, intake: Recording) -> None:
    """Presses below inline results come so; the bot makes none."""
    async with running(home, intake):
        press = home.fake.world.presses["77"] = Pressed("77")
        query = {"id": "77", "from": home.alice.payload(), "chat_instance": "1", "inline_message_id": "1", "data": "x"}
        home.fake.polling.put("callback_query", query)
        await home.fake.wait_until(lambda: press.answer is not None)
    assert intake.presses == []


async def test_a_press_changes_the_message_at_once(home: Home, chat: TelegramChat, intake: Recording) -> None:
    """Seen failing before: the buttons stayed until the outbox came round."""
    message = await shown(home, chat)
    intake.pressed = Reply(toast="Stopped.", shown=Outgoing("Task 7", "Cancelled"))
    press = await home.fake.press(home.alice, message, STOP)
    await home.fake.wait_until(lambda: message.text == "Task 7\nCancelled")
    assert message.buttons == {}
    assert press.answer == "Stopped."
    assert len(home.fake.from_bot(home.group)) == 1


async def test_a_dead_button_says_so_and_disappears(home: Home, chat: TelegramChat, intake: Recording) -> None:
    message = await shown(home, chat)
    before = message.text
    intake.pressed = Reply(toast="That question is no longer open.", dead=True)
    press = await home.fake.press(home.alice, message, STOP)
    await home.fake.wait_until(lambda: not message.buttons)
    assert (press.answer, message.text) == ("That question is no longer open.", before)


async def test_a_message_that_a_press_changed_slowly_needs_no_other(home: Home, intake: Recording) -> None:
    async with running(home, intake, times=replace(QUICK, press=0.05)) as chat:
        message = await shown(home, chat)
        intake.hold = asyncio.Event()
        intake.pressed = Reply(toast="Stopped at last.", shown=Outgoing("Task 7", "Cancelled"))
        press = await home.fake.press(home.alice, message, STOP)
        await home.fake.wait_until(lambda: press.answer is not None)
        intake.hold.set()
        await home.fake.wait_until(lambda: "Cancelled" in message.text)
        await home.fake.say(home.alice, home.group, "/help")
        await home.fake.wait_until(lambda: intake.messages)
        assert len(home.fake.from_bot(home.group)) == 1
