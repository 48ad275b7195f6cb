"""What is read and pressed in a task's view, in a real Chromium (`make test-page`)."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from agent.questions import QuestionKind
from bot.chats.address import Person
from bot.chats.outgoing import Button, Message, Picture
from bot.chats.web.chat import address
from bot.tasks.model import TaskState
from tests.bot.chats.web.standins import picture, question, task
from tests.bot.chats.web.test_page import open_task
from tests.bot.chats.web.world import World

pytestmark = pytest.mark.page


async def test_signs_that_turn_words_about_are_written_out(world: World, page: Page) -> None:
    """Seen failing without `inOrder`: the file that was asked about looked like a picture."""
    turned = "send \u202egnp.exe\u2066 it"
    told = "send ‹U+202E›gnp.exe‹U+2066› it"
    ref = await world.chat.send(
        address("t5"), Message(body=turned, buttons=((Button(turned, "1:x:y"),),), notify=True), nonce="q"
    )
    world.tables.tasks = [task("5", text=turned, person=Person("discord", "1", turned), state=TaskState.WAITING)]
    world.tables.questions = [question(QuestionKind.ASK, "5", ref)]
    await open_task(page, "5")
    for place in ("h1", ".item b", ".message .text", ".message button:not(.primary)"):
        await expect(page.locator(place).filter(has_text="gnp.exe")).to_have_text(told)
    await expect(page).to_have_title(f"{told} · OpenGUI")
    for name in ("tasks", "phones", "replay-5"):
        await page.evaluate("name => { location.hash = '#' + name; }", name)
        await expect(page.locator("#title")).not_to_be_empty()
        assert "\u202e" not in await page.evaluate("document.body.innerText"), name


async def test_the_keyboard_goes_on_after_an_answer(world: World, page: Page) -> None:
    """What had the focus is gone with the answer. Seen failing with the focus nowhere; and the question stands last."""
    buttons = ((Button("Allow", "1:a:q", "success"), Button("Deny", "1:d:q", "danger")),)
    ref = await world.chat.send(address("t5"), Message(body="May I?", buttons=buttons, notify=True), nonce="q")
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    world.tables.questions = [question(QuestionKind.APPROVE, "5", ref)]
    await open_task(page, "5")
    await expect(page.locator(".message.question")).to_be_visible()
    await page.get_by_role("button", name="Allow").focus()
    await world.chat.send(address("t5"), Message(body="told late", picture=Picture("a.png", picture())), nonce="s")
    await expect(page.locator(".message .text")).to_have_text(["told late", "May I?"])
    await expect(page.get_by_role("button", name="Allow")).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Allow")).to_be_enabled()
    assert [press.data for press in world.intake.presses] == ["1:a:q"]
    world.tables.questions = []
    await world.chat.edit(ref, Message(body="May I?", footer="Allowed by operator"))
    await expect(page.get_by_role("button", name="Allow")).to_have_count(0)
    await expect(page.get_by_label("Note to the running task")).to_be_focused()


async def test_a_long_task_is_shown_whole_on_demand(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", text="a very long task, " * 55), task("4", text="short")]
    await open_task(page, "5")
    title = page.get_by_role("heading", level=1)
    more = page.get_by_role("button", name="Show the whole task")
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
