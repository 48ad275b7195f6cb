"""More than five choices: pages of an inline keyboard that are turned by buttons, also after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.cards.question import render_question
from bot.domain.address import Person, Place
from tests.bot.chats.telegram.conftest import Home
from tests.bot.chats.telegram.test_missed import service
from tests.bot.world import World
from tests.fakes.telegram import Message, Press

COLOURS = tuple(f"colour {number}" for number in range(1, 21))


async def asked(home: Home, world: World, choices: tuple[str, ...] = COLOURS) -> Message:
    """A question with these choices in the group, as the outbox sends it."""
    alice = Person("telegram", str(home.alice.id), "Alice")
    task = await world.working(person=alice, place=Place(home.address(home.group)))
    question = await world.ask(task, choices=choices)
    chat = world.chats["telegram"]
    most = chat.capabilities.menu_choices
    message = await render_question(question, task, frames=world.store.frames, now=world.clock(), menu_choices=most)
    ref = await chat.send(home.address(home.group), message, nonce="q")
    await world.task_service.question_shown(question.question.id, ref)
    return home.fake.from_bot(home.group)[-1]


def labels(message: Message) -> list[list[str]]:
    return [[label for label, _ in row] for row in message.keyboard]


async def pressed(home: Home, message: Message, label: str) -> Press:
    data = next(data for data, shown in message.buttons.items() if shown == label)
    press = await home.fake.press(home.alice, message, data)
    await home.fake.wait_until(lambda: press.answer is not None)
    return press


async def test_pages_are_turned_and_a_choice_of_the_last_is_taken_after_a_restart(home: Home, tmp_path: Path) -> None:
    async with service(home, tmp_path) as world:
        message = await asked(home, world)
        assert labels(message) == [[f"colour {one}"] for one in range(1, 9)] + [["‹", "1/3", "›"], ["Stop"]]
        assert (await pressed(home, message, "›")).answer == "Page 2."
        assert labels(message)[0] == ["colour 9"]
    async with service(home, tmp_path) as world:
        assert (await pressed(home, message, "›")).answer == "Page 3."
        assert labels(message) == [[f"colour {one}"] for one in range(17, 21)] + [["‹", "3/3", "›"], ["Stop"]]
        await pressed(home, message, "3/3")
        assert (await pressed(home, message, "›")).answer == "Page 1."
        await pressed(home, message, "‹")
        assert "colour 20" in ((await pressed(home, message, "colour 20")).answer or "")
        assert "colour 20" in ((await pressed(home, message, "›")).answer or "")


@pytest.mark.parametrize("number", [5, 8, 90, 91])
async def test_few_need_no_pages_and_too_many_are_numbers(home: Home, tmp_path: Path, number: int) -> None:
    async with service(home, tmp_path) as world:
        message = await asked(home, world, tuple(f"choice {one}" for one in range(number)))
        assert ("›" in message.buttons.values()) is (number == 90)
        assert ("90. choice 89" in message.text) is (number > 90)


async def test_a_page_that_cannot_be_shown_is_told(home: Home, tmp_path: Path) -> None:
    async with service(home, tmp_path) as world:
        message = await asked(home, world)
        home.fake.faults.flood(5, "editMessageText")
        assert "Press again" in ((await pressed(home, message, "›")).answer or "")
