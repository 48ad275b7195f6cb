"""What is read and pressed in a task's view, in a real Chromium (`make test-page`)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from playwright.async_api import Page, Route, expect

from agent.questions import QuestionKind
from agent.run import Outcome
from bot.domain.address import Person
from bot.domain.outgoing import Message, Picture
from bot.domain.task import TaskState, locator
from bot.domain.task_events import Noted
from bot.web.chat import HOME
from devices.phone import Health
from tests.bot.web.standins import PHONE, ended, picture, question, task
from tests.bot.web.test_page import cut_connections, open_task
from tests.bot.web.test_page_replay import step
from tests.bot.web.world import World

pytestmark = pytest.mark.page


async def test_signs_that_turn_words_about_are_written_out(world: World, page: Page) -> None:
    """Seen failing without `inOrder`: the file that was asked about looked like a picture."""
    turned = "send \u202egnp.exe\u2066 it"
    told = "send ‹U+202E›gnp.exe‹U+2066› it"
    world.tables.tasks = [task("5", text=turned, person=Person("discord", "1", turned), state=TaskState.WAITING)]
    one = question(QuestionKind.ASK, "5")
    text = {"text": turned, "detail": turned, "choices": (turned,)}
    world.tables.asks(replace(one, question=one.question.model_copy(update=text)))
    await open_task(page, "5")
    for place in ("h1", ".item b", ".message h2", ".message .text", ".message button:not(.primary)"):
        await expect(page.locator(place).filter(has_text="gnp.exe")).to_have_text(told)
    await expect(page).to_have_title(f"(1) {told} · OpenGUI")
    for name in ("tasks", "phones", "replay-5"):
        await page.evaluate("name => { location.hash = '#' + name; }", name)
        await expect(page.locator("#title")).not_to_be_empty()
        assert "\u202e" not in await page.evaluate("document.body.innerText"), name


async def test_the_keyboard_goes_on_after_an_answer(world: World, page: Page) -> None:
    """What had the focus is gone with the answer. Seen failing with the focus nowhere; and the question stands last."""
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    one = question(QuestionKind.APPROVE, "5")
    world.tables.asks(replace(one, question=one.question.model_copy(update={"detail": "May I?"})))
    await open_task(page, "5")
    await expect(page.locator(".message.question")).to_be_visible()
    await page.get_by_role("button", name="Allow").focus()
    world.tables.happens("5", Noted(text="told late", by="operator"))
    await expect(page.locator(".message .text")).to_have_text(["told late", "May I?"])
    await expect(page.get_by_role("button", name="Allow")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Allow")).to_be_enabled()
    assert [press.data for press in world.intake.presses] == [f"1:ans:{locator('q5')}:allow"]
    world.tables.questions = []
    await expect(page.get_by_role("button", name="Allow")).to_have_count(0)
    await expect(page.get_by_label("Note to the running task")).to_be_focused()


async def test_a_long_task_is_shown_whole_on_demand(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", text="a very long task, " * 55), task("4", text="short")]
    await open_task(page, "5")
    title = page.get_by_role("heading", level=1)
    more = page.get_by_role("button", name="Show full task")
    await more.focus()
    low = await title.bounding_box()
    await page.keyboard.press("Enter")
    less = page.get_by_role("button", name="Show less")
    await expect(less).to_be_focused()
    high = await title.bounding_box()
    assert low is not None
    assert high is not None
    assert high["height"] > 3 * low["height"]
    await open_task(page, "4")
    await expect(title).to_have_text("short")
    for button in (more, less):
        await expect(button).to_have_count(0)


async def test_pictures_that_were_not_there_are_loaded_when_the_service_is_back(world: World, page: Page) -> None:
    """Seen failing with the reference taken for shown: the phone had stayed black until its next picture."""
    world.tables.tasks = [task("5", frame=await world.frames.save(picture(), suffix="png"))]
    shown = Message(body="told", picture=Picture("a.png", picture("red")), notify=True)
    await world.chat.send(replace(HOME, thread="t5"), shown, nonce="m")
    await page.route("**/api/frames/**", lambda route: route.abort())
    await open_task(page, "5")
    await expect(page.locator("#stage .screen")).to_contain_text("No longer stored")
    await page.unroute("**/api/frames/**")
    cut_connections(world)
    await expect(page.locator("#stage .screen img")).to_be_visible()
    await expect(page.locator(".message .thumb img")).to_be_visible()


async def test_a_phone_that_is_away_is_told_beside_its_task(world: World, page: Page) -> None:
    away = replace(PHONE, health=Health.OFFLINE, reason="It is not connected.", fix="Plug it in.")
    world.tables.tasks = [task("6", state=TaskState.QUEUED, text="later"), task("5", text="now")]
    world.tables.phones = [away]
    await open_task(page, "5")
    await expect(page.locator("#stage .trouble")).to_have_text("It is not connected. Plug it in.")
    await expect(page.locator("#phone-list")).to_contain_text("offline · busy with task 5")
    await open_task(page, "6")
    await expect(page.locator("#messages")).to_contain_text("The task is queued")
    await expect(page.locator("#stage .screen")).to_contain_text("as soon as the phone is free")


async def test_a_part_of_a_task_that_is_over_shows_its_steps(world: World, page: Page) -> None:
    """It has no messages of its own. Seen failing with the words for a task that is still queued."""
    world.tables.tasks = [ended("6", Outcome.SUCCEEDED, place=None)]
    world.tables.does(replace(step(1, None), task="6"))
    await open_task(page, "6")
    await expect(page.locator("#messages")).to_contain_text("Step 1 of it")
    await expect(page.locator("#messages")).not_to_contain_text("queued")


async def test_what_was_read_of_another_record_is_not_shown(world: World, page: Page) -> None:
    """A backup was put back while a log was read. Seen failing (nothing is shown) with `reading` not cleared by
    `forget`, and (the old note is shown) with what was read before that kept.
    """
    world.tables.epoch, world.tables.tasks = "0a", [task("5")]
    world.tables.happens("5", Noted(text="of the record before", by="operator"))
    cut_connections(world)
    held, released = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        if held.is_set():
            await route.continue_()
            return
        response = await route.fetch()
        held.set()
        await released.wait()
        await route.fulfill(response=response)

    await page.route("**/api/console/log?**", hold)
    await open_task(page, "5")
    await asyncio.wait_for(held.wait(), 10)
    world.tables.epoch = "0b"
    world.tables.events.clear()
    world.tables.happens("5", Noted(text="of this record", by="operator"))
    cut_connections(world)
    await expect(page.locator("#messages")).to_contain_text("of this record")
    async with page.expect_response("**/api/console/log?**"):
        released.set()
    await page.evaluate("new Promise((done) => setTimeout(done))")
    await expect(page.locator("#messages")).not_to_contain_text("of the record before")
