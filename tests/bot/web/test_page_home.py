"""The console itself: its box, its results and the ways around it, in a real Chromium (`make test-page`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import Page, expect

from agent.events import Todo
from agent.questions import QuestionKind
from agent.run import Outcome
from bot.domain.outgoing import Message, Reply
from bot.domain.task import TaskState
from bot.domain.task_events import Accepted, Ended
from bot.web.chat import HOME
from tests.bot.web.standins import PHONE, address, ended, picture, question, task
from tests.bot.web.test_page import open_task
from tests.bot.web.test_page_replay import step
from tests.bot.web.world import World
from tests.fixtures.axe import violations

pytestmark = pytest.mark.page


async def test_a_task_is_typed_with_its_files_and_its_phone(world: World, page: Page) -> None:
    """The examples, the menu of commands, files by choice and by paste, the phone, and the arrow keys."""
    line = page.get_by_label("Command", exact=True)
    await expect(page.locator(".strip")).to_contain_text("No model is connected.")
    await expect(page.locator("#welcome .examples button")).to_have_count(6)
    await page.get_by_role("button", name="open settings and turn on dark mode").click()
    await expect(line).to_have_value("open settings and turn on dark mode")
    await line.fill("")
    await line.press_sequentially("/scr")
    await expect(page.get_by_role("option")).to_have_text(["/screenTake a screenshot of a phone"])
    await line.press("Tab")
    await expect(page.get_by_role("option")).to_contain_text(["Pixel 7"])
    await line.press("Tab")
    await expect(line).to_have_value('/screen "Pixel 7" ')
    world.tables.phones = [PHONE, replace(PHONE, id="other", name="Moto")]
    await page.get_by_label("Phone", exact=True).select_option("Moto")
    await page.locator("#file").set_input_files({"name": "cat.png", "mimeType": "image/png", "buffer": picture()})
    await page.evaluate(
        """() => {
            const carried = new DataTransfer();
            carried.items.add(new File(['words'], 'list.txt', { type: 'text/plain' }));
            const pasted = new ClipboardEvent('paste', { clipboardData: carried, cancelable: true });
            document.getElementById('line').dispatchEvent(pasted);
        }"""
    )
    await expect(page.locator("#chips .chip")).to_contain_text(["cat.png", "list.txt"])
    await line.fill("post this")
    await line.press("Enter")
    await expect(line).to_have_value("")
    await expect(page.locator("#chips .chip")).to_have_count(0)
    (said,) = world.intake.messages
    assert (said.text, said.command, said.device) == ("post this", None, "other")
    assert [(file.name, file.data) for file in said.attachments] == [("cat.png", picture()), ("list.txt", b"words")]
    await expect(page.locator(".message.operator .footer")).to_contain_text("cat.png")
    await line.press("ArrowUp")
    await expect(line).to_have_value("post this")


async def test_the_console_shows_results_below_what_asked_for_them(world: World, page: Page) -> None:
    world.intake.reply = lambda _: Reply(Message(body="Task 5 is accepted."), task="5")
    world.tables.tasks = [task("5", text="find teas", anchor="1", todos=(Todo(title="Look", state="in progress"),))]
    line = page.get_by_label("Command", exact=True)
    await line.fill("find teas")
    await line.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("find teas")
    await expect(page.locator(".plan li")).to_have_text(["In progress: Look"])
    await page.get_by_role("link", name="Home").click()
    card = page.locator(".task-card")
    await expect(card).to_contain_text("Look")
    world.tables.tasks = [ended("5", Outcome.SUCCEEDED, text="find teas", anchor="1", summary="Found.", data="Oolong")]
    await expect(card.locator(".answer")).to_have_text("Oolong")
    assert "accepted" not in await page.locator("#messages").inner_text()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("teas")
    await expect(page.get_by_role("option")).to_have_count(1)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("find teas")


async def test_what_follows_up_a_task_stands_behind_it_with_its_own_steps(world: World, page: Page) -> None:
    frame = await world.frames.save(picture(size=(540, 1200)), suffix="png")
    first = ended("5", Outcome.SUCCEEDED, text="find teas", steps=1)
    second = ended(
        "6", Outcome.FAILED, text="the second", steps=1, place=address("t5"), origin=address("t5"), follows="5"
    )
    world.tables.does(replace(step(1, frame), task="5", mark=(270, 600)))
    world.tables.happens("5", Ended(outcome=Outcome.SUCCEEDED, summary="Found."))
    world.tables.happens("6", Accepted(text="the second"))
    world.tables.does(replace(step(1, frame), task="6"))
    world.tables.happens("6", Ended(outcome=Outcome.FAILED, summary="None left."))
    world.tables.tasks = [replace(second, summary="None left."), replace(first, summary="Found.")]
    await open_task(page, "6")
    await expect(page.locator(".result .answer")).to_have_text(["Found.", "None left."])
    await expect(page.locator(".message.operator")).to_have_text(["the second"])
    await expect(page.locator(".film")).to_have_count(2)
    await expect(page.locator(".film .ring circle")).to_have_count(2)
    await page.locator(".film .shot").first.click()
    await expect(page.locator("#viewer .ring circle")).to_have_count(2)


async def test_a_title_tells_that_somebody_is_wanted(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    one = question(QuestionKind.SECRET, "5")
    world.tables.asks(replace(one, question=one.question.model_copy(update={"again": True})))
    await expect(page).to_have_title("(1) OpenGUI console")
    await open_task(page, "5")
    await expect(page.get_by_text("The phone did not accept the last one.")).to_be_visible()
    world.tables.questions = []
    await expect(page).to_have_title("open settings · OpenGUI")


async def test_two_hundred_tasks_are_there_at_once(world: World, page: Page) -> None:
    """Half a second is the limit; this counts the page's own work, without that of the machine beside it."""
    world.tables.tasks = [ended(str(number), Outcome.SUCCEEDED, text=f"task {number}") for number in range(200, 0, -1)]
    await expect(page.locator(".task-card").first).to_be_attached()
    await page.evaluate("location.hash = '#tasks'")
    await page.get_by_role("button", name="Show older tasks").click()
    await expect(page.locator(".history li")).to_have_count(200)
    await page.evaluate("location.hash = '#usage'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    client = await page.context.new_cdp_session(page)
    await client.send("Performance.enable")

    async def worked() -> float:
        metrics = (await client.send("Performance.getMetrics"))["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

    before = await worked()
    await page.evaluate("location.hash = '#tasks'")
    await expect(page.locator(".history li")).to_have_count(200)
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert await worked() - before <= 0.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_on_any_page(world: World, page: Page, scheme: str) -> None:
    """axe-core: names, roles, contrast, order of headings."""
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    frame = await world.frames.save(picture(), suffix="png")
    await world.chat.send(HOME, Message(heading="Phones", body="Pixel 7: ready"), nonce="h")
    world.tables.does(replace(step(1, frame), task="4"))
    world.tables.tasks = [task("5", state=TaskState.WAITING), ended("4", Outcome.SUCCEEDED, steps=1, frame=frame)]
    world.tables.asks(question(QuestionKind.SECRET, "5"))
    for name in ("", "task-5", "task-4", "replay-4", "tasks", "phones", "usage", "check"):
        await page.evaluate("name => { location.hash = '#' + name; }", name)
        await expect(page.locator("#title")).not_to_be_empty()
        if name == "":
            await page.get_by_label("Command", exact=True).press_sequentially("/s")
            await expect(page.get_by_role("option").first).to_be_visible()
        assert (name, await violations(page)) == (name, [])
