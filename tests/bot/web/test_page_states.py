"""What the page tells of its service and model, and of who is wanted, in a real Chromium (`make test-page`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page, expect

from agent.models.state import Cause, ModelState, ModelStatus
from agent.ports.stores import GivenFile
from agent.questions import QuestionKind
from agent.run import NeedsModel, Outcome
from bot.domain.outgoing import Message
from bot.domain.task import TaskState
from bot.domain.task_events import Ended
from bot.monitoring.dependencies import Wait
from bot.texts import words
from bot.web.chat import HOME
from tests.bot.web.standins import ended, question, task
from tests.bot.web.test_page import open_task
from tests.bot.web.world import World
from tests.fixtures.axe import violations

pytestmark = pytest.mark.page

FAILING = ModelState(ModelStatus.FAILING, "qwen3-vl-plus", Cause.KEY_REJECTED, 1_700_000_000.0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_what_holds_everything_up_and_how_the_model_fails_stand_above_every_page(
    world: World, page: Page, scheme: str
) -> None:
    await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    banner, brain = page.locator("#banner li"), page.locator("#model")
    await expect(brain).to_contain_text("Offline pilot")
    await expect(banner).to_have_count(0)
    full = Wait("store", words("waits.store", why=words("store.no_room", reason="No space left on device")), 1.0)
    world.tables.waits = (full, Wait("discord", words("waits.chat"), 1.0))
    world.tables.model = FAILING
    await expect(banner).to_have_count(2)
    await expect(banner.first).to_contain_text("No space left on device")
    await expect(banner.last).to_contain_text("key rejected since")
    await expect(brain).to_contain_text("qwen3-vl-plus")
    for name in ("tasks", "phones", "usage", "check", ""):
        await page.evaluate("name => { location.hash = '#' + name; }", name)
        await expect(banner).to_have_count(2)
    assert await violations(page) == []
    await banner.last.get_by_role("link", name="VLM_API_KEY").click()
    assert await page.evaluate("location.hash") == "#connect-model?field=vlm_api_key"
    world.tables.model = replace(FAILING, status=ModelStatus.CONNECTED, cause=None)
    world.tables.waits = ()
    await expect(banner).to_have_count(0)
    await expect(brain).to_contain_text("connected")


async def test_who_is_wanted_stands_first_and_leads_there(world: World, page: Page) -> None:
    asks = task("5", text="order tea", state=TaskState.WAITING)
    world.tables.tasks = [task("6", text="turn on dark mode"), asks]
    world.tables.asks(question(QuestionKind.ASK, "5"))
    await expect(page.locator("#task-list li").first).to_contain_text("order tea")
    await page.locator("#banner").get_by_role("link").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("order tea")
    await expect(page.locator("#banner li")).to_have_count(0)
    world.tables.questions = []


async def test_the_name_of_a_setting_leads_to_its_field_wherever_it_is_read(world: World, page: Page) -> None:
    """Only of settings that are made in the page, and never inside of another link."""
    why = "Check VLM_API_KEY, and VLM_TIMEOUT."
    await world.chat.send(HOME, Message(body=f"`opengui` says: {why}"), nonce="h")
    world.tables.tasks = [ended("5", Outcome.FAILED, text="find teas", summary=why)]
    way = "#connect-model?field=vlm_api_key"
    await expect(page.locator("#messages .text a.setting")).to_have_attribute("href", way)
    await expect(page.locator(".task-card .setting")).to_have_count(0)
    await open_task(page, "5")
    await expect(page.locator(".result .answer a.setting")).to_have_text(["VLM_API_KEY"])


async def test_what_takes_a_model_says_so_before_it_is_sent(world: World, page: Page) -> None:
    line, hint = page.get_by_label("Command", exact=True), page.locator("#hint")
    await line.press_sequentially("/do --se")
    await expect(page.get_by_role("option")).to_contain_text(["Needs a model."])
    await line.fill("/do --search find teas")
    await expect(hint).to_contain_text("--search needs a model")
    await expect(hint.get_by_role("link")).to_have_text(["VLM_BASE_URL", "VLM_API_KEY"])
    await line.fill("/do find teas")
    await expect(hint).not_to_contain_text("needs a model")
    world.tables.tasks = [
        ended("5", Outcome.SUCCEEDED, text="find teas", origin=replace(HOME, platform="discord"), place=None)
    ]
    await open_task(page, "5")
    await expect(hint).to_contain_text("Without a model")
    world.tables.model = ModelState(ModelStatus.CONNECTED, "qwen3-vl-plus")
    await expect(hint).to_contain_text("follows up")


async def test_what_can_be_done_without_a_model_is_pressed_below_the_end(world: World, page: Page) -> None:
    """The one for the same task again stays what it is."""
    lacks = NeedsModel(choices=("open teas", "open shop"))
    world.tables.happens("5", Ended(outcome=Outcome.BLOCKED, summary="No.", needs_model=lacks))
    world.tables.tasks = [ended("5", Outcome.BLOCKED, text="compare teas", summary="No.", needs_model=lacks)]
    await open_task(page, "5")
    await page.get_by_role("button", name="open shop").click()
    await page.get_by_role("button", name="Again").click()
    await expect(page.locator("#toast")).not_to_contain_text("Not sent")
    assert [press.data for press in world.intake.presses] == ["1:instead:5:1", "1:again:5"]


async def test_files_stay_in_sight_with_what_became_of_them(world: World, page: Page) -> None:
    files = (GivenFile(name="cat.png", content="a"), GivenFile(name="list.txt", content="b"))
    world.tables.tasks = [task("5", state=TaskState.QUEUED, steps=0, files=files)]
    await open_task(page, "5")
    chips = page.locator("#messages .chip")
    await expect(chips).to_contain_text(["cat.png", "list.txt"])
    await expect(chips.first).to_contain_text("at the start")
    world.tables.tasks = [task("5", steps=2, files=files)]
    await expect(chips.first).to_contain_text("on the phone")
    world.tables.tasks = [ended("5", Outcome.CANCELLED, steps=0, files=files)]
    await expect(chips.first).to_contain_text("not put on a phone")


async def test_an_old_address_is_told_from_none(world: World, browser: Browser) -> None:
    page = await (await browser.new_context()).new_page()
    await page.goto(f"{world.url}/?token=of-the-last-start")
    await expect(page.locator("#entry")).to_contain_text("no longer valid")
    assert await page.evaluate("location.href") == f"{world.url}/#"
    await page.reload()
    await expect(page.locator("#entry")).to_contain_text("You are not signed in")
