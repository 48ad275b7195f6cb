"""Private texts that may be something else: a task by a press, kept with their files, once, and not for ever."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.domain.incoming import Attachment
from bot.domain.outgoing import Reply
from bot.people.access import Policy
from bot.store.chats import KEEP_SECONDS
from tests.bot.commands.test_answers import words
from tests.bot.world import ANNA, BEN, PRIVATE, World, a_world

CAT = Attachment("cat.png", b"meow")


async def offered(world: World, text: str = "post-2", *files: Attachment) -> tuple[Reply, str]:
    incoming = replace(world.incoming(text, ANNA, PRIVATE, attachments=files), carries=bool(files))
    reply = await world.commands.message(incoming)
    assert reply.message is not None
    return reply, reply.message.buttons[0][0].data


async def test_the_files_go_along_also_after_a_restart(tmp_path: Path) -> None:
    async with a_world(tmp_path) as world:
        reply, run = await offered(world, "post-2", CAT, Attachment("cat.png", b"purr"))
        assert words(reply) == "Is this a task?\nFiles that go with it: cat.png, cat-2.png"
        assert await world.task_service.recent(9) == ()
    async with a_world(tmp_path) as world:
        world._numbers = itertools.count(100)
        pressed = await world.press(run, place=PRIVATE)
        task = await world.task_service.known(pressed.task)
        assert (task.text, task.person, [file.name for file in task.request.files]) == (
            "post-2",
            ANNA,
            ["cat.png", "cat-2.png"],
        )
        assert await world.store.frames.load(task.request.files[1].content) == b"purr"
        assert "has expired" in (await world.press(run, place=PRIVATE)).toast
        assert len(await world.task_service.recent(9)) == 1


async def test_what_is_refused_can_be_pressed_for_again(tmp_path: Path) -> None:
    """Seen failing without the second `add` in `FreeTextHandler._taken`: the offer was gone."""
    settings = Settings.model_validate({"tiers": {"basic": {"tasks": 1}}, "default_tier": "basic"})
    async with a_world(tmp_path, settings=settings) as world:
        await world.do("open settings")
        world.clock.advance(86_400.0 - world.clock() % 86_400.0 - 60.0)
        _, run = await offered(world, "post-2", CAT)
        assert "1 of 1 tasks" in (await world.press(run, place=PRIVATE)).toast
        world.clock.advance(61.0)
        assert (await world.press(run, place=PRIVATE)).task


async def test_it_is_nobody_else_s(world: World) -> None:
    _, run = await offered(world)
    assert "for somebody else" in (await world.press(run, BEN, PRIVATE)).toast
    assert (await world.press(run, ANNA, PRIVATE)).task


async def test_who_may_do_nothing_any_more_begins_nothing(tmp_path: Path) -> None:
    """The rights of the moment of the press count, not those of when the text was written."""
    async with a_world(tmp_path) as world:
        _, run = await offered(world)
    async with a_world(tmp_path, policy=Policy()) as world:
        world._numbers = itertools.count(100)
        assert "not allowed" in (await world.press(run, place=PRIVATE)).toast
        assert await world.task_service.recent(9) == ()


async def test_after_a_day_it_is_gone_and_so_is_the_text(world: World) -> None:
    _, run = await offered(world, "private-1")
    world.clock.advance(KEEP_SECONDS + 1.0)
    assert "has expired" in (await world.press(run, place=PRIVATE)).toast
    await world.store.offers.forget_old(now=world.clock.now)
    assert b"private-1" not in (await rows(world))


async def rows(world: World) -> bytes:
    found = await world.store.write(lambda transaction: transaction.fetch("SELECT text FROM offers"))
    return "\n".join(row["text"] for row in found).encode()


async def test_more_than_goes_with_a_task_is_refused_at_once(world: World) -> None:
    incoming = world.incoming("post-these-2", ANNA, PRIVATE, attachments=tuple(replace(CAT) for _ in range(11)))
    assert "11 files" in words(await world.commands.message(incoming))
    assert await rows(world) == b""


async def test_a_file_that_is_kept_no_more_is_told(world: World) -> None:
    _, run = await offered(world, "post-2", CAT)
    for file in world.store.frames._root.rglob("*.bin"):
        file.unlink()
    assert "cat.png" in (await world.press(run, place=PRIVATE)).toast
    assert await world.task_service.recent(9) == ()


@pytest.mark.parametrize("told", ["answer", "steer", "tell"])
async def test_a_file_beside_an_answer_or_a_word_is_told_to_stay_behind(world: World, told: str) -> None:
    task = await world.working(place=PRIVATE)
    if told == "answer":
        await world.ask(task)
        reply = await world.commands.message(
            replace(world.incoming("the blue one", ANNA, PRIVATE, attachments=(CAT,)), carries=True)
        )
        assert words(reply).startswith("Answered by Anna: the blue one\nThe attachments were left out")
    elif told == "steer":
        thread = await world.in_thread(task)
        reply = await world.commands.message(replace(world.incoming("the blue one", ANNA, thread), carries=True))
        assert words(reply).startswith("Task 1 will read that before its next step.\nThe attachments were left out")
    else:
        await world.task_service.set_place(task.id, PRIVATE.address)
        offer, _ = await offered(world, "the blue one", CAT)
        assert offer.message is not None
        pressed = await world.press(offer.message.buttons[0][1].data, place=PRIVATE)
        assert "were left out" in pressed.toast
        assert ("steer 1", "the blue one") in world.agent.asked


async def test_a_command_without_its_beginning_is_told_how_it_is_written(world: World) -> None:
    for lead, line in (("/", "/help"), ("!opengui ", "!opengui help")):
        reply = await world.commands.message(replace(world.incoming("Help", ANNA, PRIVATE), lead=lead))
        assert words(reply) == f"Is this a task?\nIf you mean the command, write {line}"
    assert (await world.say("help me", place=PRIVATE)).task


@pytest.mark.parametrize("text", ["", " \n\n", "\x00", "x" * 5000])
async def test_what_can_be_no_task_is_told_at_once(world: World, text: str) -> None:
    reply = await world.say(text, place=PRIVATE)
    assert reply.message is not None
    assert reply.message.buttons == ()
    assert await rows(world) == b""
