"""Phones, queue, usage and settings check in a real Chromium (`make test-page`)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from playwright.async_api import Page, expect

from agent.models.base import Usage
from bot.domain.address import Address, Person
from bot.domain.task import TaskState
from bot.domain.task_request import Origin, TaskRequest
from bot.store.tasks import Tasks
from bot.web.chat import HOME, OPERATOR
from devices.phone import Health
from tests.bot.web.standins import PHONE, picture, task
from tests.bot.web.world import World

pytestmark = pytest.mark.page


async def test_phones_are_shown_with_what_they_do_and_need(world: World, page: Page) -> None:
    discord = Address("discord", "bot", "c")
    frame = await world.frames.save(picture("red"), suffix="png")
    old = replace(PHONE, id="old", name="Old", health=Health.UNAUTHORIZED, reason="No trust yet.", fix="Press Allow.")
    world.tables.phones = [PHONE, replace(PHONE, id="galaxy", name="Galaxy"), old]
    ann = Person("discord", "1", "Ann")
    world.tables.tasks = [
        task("6", text="later", state=TaskState.QUEUED, phone="galaxy", person=ann, origin=discord),
        task("5", text="dark mode", phone="galaxy", frame=frame),
    ]
    world.tables.places = {"6": 1}
    await page.evaluate("location.hash = '#phones'")
    cards = page.locator("#view .phone")
    await expect(cards).to_have_count(3)
    await expect(cards.nth(2)).to_contain_text("ready")
    await expect(cards.nth(2).locator("img")).to_be_visible()
    await expect(cards.nth(0)).to_contain_text("1 in the queue")
    await expect(cards.nth(0).locator("img")).to_have_attribute("src", f"/api/frames/{frame}")
    await expect(cards.nth(1)).to_contain_text("Press Allow.")
    await expect(cards.nth(1).locator("img")).to_have_count(0)
    await expect(page.locator("#view .queue")).to_contain_text("Ann in Discord")
    assert set(world.tables.glances) == {"pixel"}
    await cards.nth(0).get_by_role("link", name="dark mode").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("dark mode")


async def test_no_page_that_looks_no_picture_taken(page: Page) -> None:
    """The timer is the page's own; it ends when another page of the console is opened."""
    await page.clock.install()
    await page.evaluate("location.hash = '#phones'")
    await expect(page.locator("#view .phone img")).to_be_visible()
    await page.evaluate("location.hash = '#usage'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/glance") else None)
    await page.clock.run_for(60_000)
    assert asked == []
    await page.evaluate("location.hash = '#phones'")
    await expect(page.locator("#view .phone img")).to_be_visible()
    assert len(asked) == 1


async def test_the_app_that_is_named_is_the_one_that_is_shown(world: World, page: Page) -> None:
    """Seen failing with the app of the last question to the phone, beside an older picture and beside a run's own."""
    await page.evaluate("location.hash = '#phones'")
    card = page.locator("#view .phone")
    await expect(card).to_contain_text("shows Settings")
    world.tables.phones = [replace(PHONE, app="com.example.shop", app_name="Shop", battery=80)]
    await expect(card).to_contain_text("80 %")
    await expect(card).to_contain_text("shows Settings")
    world.tables.tasks = [task("5", text="dark mode", frame=await world.frames.save(picture(), suffix="png"))]
    await expect(card).to_contain_text("dark mode")
    await expect(card).not_to_contain_text("shows")


async def test_usage_is_drawn_and_can_be_grouped(world: World, page: Page) -> None:
    tasks = Tasks(world.database)

    async def used(transaction: Any) -> None:
        kept = await tasks.add(transaction, TaskRequest("x", OPERATOR, Origin(HOME, "e1")), now=time.time())
        await tasks.save(transaction, task(kept.id, steps=4, phone="pixel"), now=time.time())

    await page.evaluate("location.hash = '#usage'")
    await expect(page.locator("#view")).to_contain_text("No usage yet")
    await world.database.write(used)
    await page.get_by_role("button", name="7 days").click()
    await expect(page.locator("#view .chart rect.in")).to_have_count(1)
    await expect(page.locator("#view .bar-of-day")).to_have_count(7)
    await expect(page.locator("#view tbody tr")).to_contain_text("1.3k")
    await page.get_by_role("button", name="Phone", exact=True).click()
    await expect(page.get_by_role("button", name="Phone", exact=True)).to_have_attribute("aria-pressed", "true")
    await expect(page.locator("#view tbody th")).to_have_text("Pixel 7")
    await expect(page.locator("#view .chart")).to_have_count(0)


@pytest.mark.parametrize(("used", "ticks"), [(1, ["0", "1"]), (2, ["0", "1", "2"]), (5, ["0", "1", "3", "4", "5"])])
async def test_an_axis_repeats_no_number(world: World, page: Page, used: int, ticks: list[str]) -> None:
    """Seen failing with four lines whatever stands at them: 1, 1, 1, 0, 0."""
    tasks = Tasks(world.database)

    async def spent(transaction: Any) -> None:
        kept = await tasks.add(transaction, TaskRequest("x", OPERATOR, Origin(HOME, "e1")), now=time.time())
        row = task(kept.id, steps=4, phone="pixel", usage=Usage(input=used, output=0))
        await tasks.save(transaction, row, now=time.time())

    await world.database.write(spent)
    await page.evaluate("location.hash = '#usage'")
    await expect(page.locator("#view .chart text[x='38']")).to_have_text(ticks)


async def test_the_settings_check(page: Page) -> None:
    await page.evaluate("location.hash = '#check'")
    await expect(page.get_by_role("status").filter(has_text="To fix: 1")).to_be_visible()
    await expect(page.locator("#view .finding.bad")).to_contain_text("Make room.")
    await expect(page.locator("#view")).not_to_contain_text("accepts pictures")
    await page.get_by_role("button", name="Test the model and chats").click()
    await expect(page.locator("#view")).to_contain_text("my-model accepts pictures.")
    await expect(page.locator("#view .settings").first).to_contain_text("set, hidden")
    assert "hush-hush" not in await page.content()


async def test_what_could_not_be_asked_is_asked_when_the_service_is_back(world: World, page: Page) -> None:
    for name, path, shown in (
        ("usage", "**/api/v1/statistics*", "No usage yet"),
        ("check", "**/api/check", "Make room."),
    ):
        await page.route(path, lambda route: route.abort())
        await page.evaluate("name => { location.hash = '#' + name; }", name)
        await expect(page.locator("#view [role=alert]")).to_have_text("The service cannot be reached.")
        await page.unroute(path)
        world.tables.tasks = [task("5", text=name)]
        await expect(page.locator("#view")).to_contain_text(shown)
        await expect(page.locator("#view [role=alert]")).not_to_be_visible()
