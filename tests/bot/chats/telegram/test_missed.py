"""After an outage: what was typed is listed once with buttons, old presses begin nothing, a restart loses nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from agent.models.other_models import Transcriber
from bot.cards.buttons import again_button, stop_button
from bot.commands.dispatcher import Commands
from bot.config.settings import Settings
from bot.domain.address import Person, Place
from bot.domain.outgoing import Message as Outgoing
from bot.domain.outgoing import Reply
from bot.people.access import Lists, Policy
from tests.bot.chats.telegram.conftest import Home, running
from tests.bot.chats.telegram.recording import Recording
from tests.bot.world import World, a_world

OLD = 3600.0
TOO_OLD = "Bad Request: query is too old and response timeout expired or query ID is invalid"


@asynccontextmanager
async def service(
    home: Home, path: Path, transcriber: Transcriber | None = None, settings: Settings | None = None
) -> AsyncIterator[World]:
    """The commands behind the real adapter, from start to stop."""
    lists = Lists(chats=frozenset({str(home.group.id)}), users=frozenset({str(home.alice.id)}))
    async with a_world(path, policy=Policy({"telegram": lists}), settings=settings) as world:
        if transcriber is not None:
            world.commands = Commands(replace(world.services, transcriber=lambda: transcriber))
        async with running(home, world.commands) as chat:
            world.chats["telegram"] = chat
            await home.fake.settled()
            yield world


async def test_a_night_of_messages_is_one_list_a_chat_and_buttons_that_work_after_a_restart(
    home: Home, tmp_path: Path
) -> None:
    eve = home.fake.user("eve")
    await home.fake.say(home.alice, home.group, "/do open settings", age=OLD)
    await home.fake.say(home.alice, home.group, "/do@opengui_test_bot read mail", age=OLD)
    await home.fake.say(eve, home.group, "/do steal", age=OLD)
    await home.fake.say(eve, home.fake.private(eve), "/do steal", age=OLD)
    await home.fake.say(home.alice, home.private, "what is the weather", age=OLD)
    async with service(home, tmp_path) as world:
        assert home.fake.from_bot(home.group) == []
        assert await world.commands.missed.list_all()
        (listed,) = home.fake.from_bot(home.group)
        assert "Alice: /do open settings" in listed.text
        assert "read mail" in listed.text
        assert "steal" not in listed.text
        assert "what is the weather" in home.fake.from_bot(home.private)[0].text
        assert home.fake.from_bot(home.fake.private(eve)) == []
        assert await world.task_service.recent(9) == ()
    async with service(home, tmp_path) as world:
        assert await world.commands.missed.list_all()
        first, second = listed.buttons
        press = await home.fake.press(home.alice, listed, first)
        await home.fake.wait_until(lambda: press.answer is not None)
        await home.fake.wait_until(lambda: list(listed.buttons) == [second])
        (task,) = await world.task_service.recent(9)
        assert (task.text, task.origin) == ("open settings", home.address(home.group))
        refused = await home.fake.press(eve, listed, second)
        await home.fake.wait_until(lambda: refused.answer is not None)
        assert "not allowed" in (refused.answer or "")
        assert len(home.fake.from_bot(home.group)) == 1
        assert len(await world.task_service.recent(9)) == 1


@pytest.mark.parametrize("begins", [True, False])
async def test_an_old_press_begins_nothing_but_stops(home: Home, tmp_path: Path, begins: bool) -> None:
    """Seen failing without the answer that comes first for a backlog: the task was begun again."""
    alice = Person("telegram", str(home.alice.id), "Alice")
    async with service(home, tmp_path) as world:
        task = await world.working(person=alice, place=Place(home.address(home.group)))
        made = (again_button if begins else stop_button)(task.id)
        await world.chats["telegram"].send(
            home.address(home.group), Outgoing(body="card", buttons=((made,),)), nonce="c"
        )
    (card,) = home.fake.from_bot(home.group)
    await home.fake.press(home.alice, card, made.data)
    home.fake.faults.fail("answerCallbackQuery", 400, TOO_OLD)
    async with service(home, tmp_path) as world:
        if begins:
            answer = await home.answer(home.group, 2)
            assert answer.reply_to is card
            assert "while the service was down" in answer.text
        else:
            await home.fake.wait_until(lambda: "Stopped by Alice." in card.text and not card.buttons)
        assert len(await world.task_service.recent(9)) == 1


async def test_a_press_of_a_moment_ago_is_not_old(home: Home) -> None:
    intake = Recording(pressed=Reply(toast="Stopped."))
    async with running(home, intake) as chat:
        made = stop_button("7")
        await chat.send(home.address(home.group), Outgoing(body="card", buttons=((made,),)), nonce="c")
    (card,) = home.fake.from_bot(home.group)
    press = await home.fake.press(home.alice, card, made.data)
    async with running(home, intake):
        assert (await home.answer(home.group, 2)).text == "Stopped."
        assert press.answer == ""
    assert [came.stale for came in intake.presses] == [False]
