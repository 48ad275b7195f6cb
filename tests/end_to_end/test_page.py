"""A person at the page of a real service, in a real Chromium (`make test-page`)."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Page, async_playwright, expect

from devices.virtual_phone.adbd import LinkState
from tests.end_to_end.brain import FINISH, call
from tests.end_to_end.service import Place
from tests.end_to_end.workshop import workshop_at
from tests.fixtures.axe import looks_right_everywhere

pytestmark = pytest.mark.page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
LIMIT_MS = 60_000


@asynccontextmanager
async def opened(address: str) -> AsyncIterator[Page]:
    """The printed address in a browser; any error on the page fails the test."""
    async with async_playwright() as playwright:
        # Chromium's own sandbox needs rights that containers do not give.
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(LIMIT_MS)
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        await page.goto(address)
        await expect(page.locator("#link")).to_have_text("Connected")
        yield page
        await browser.close()
        assert wrong == []


async def type_command(page: Page, command: str) -> None:
    line = page.get_by_label("Command", exact=True)
    await line.fill(command)
    await line.press("Enter")


async def test_a_newcomer_sees_it_work(place: Place) -> None:
    """Nothing is configured: the offline pilot does it."""
    async with place.service() as service, opened(service.console) as page:
        await type_command(page, "open browser and search OpenGUI")
        await expect(page.get_by_role("heading", level=1)).to_have_text("open browser and search OpenGUI")
        picture = page.get_by_label("The phone, live").locator(".screen img")
        await expect(picture).to_be_visible(timeout=LIMIT_MS)
        assert await picture.evaluate("image => image.decode().then(() => image.naturalHeight > image.naturalWidth)")
        final = page.locator(".result")
        await expect(final).to_have_count(1, timeout=LIMIT_MS)
        await expect(final.locator(".answer")).to_contain_text("OpenGUI - official site (www.opengui.example)")
        await expect(final.get_by_label("Show the screenshot")).to_be_visible()
        await final.get_by_role("button", name="Play the recap").click()
        await expect(final.locator(".thumb img")).to_have_attribute("src", re.compile("gif$"))
        await expect(page.locator(".film li")).to_have_count(3)
        # Without a model nothing follows up: what is typed now is a task of its own.
        await type_command(page, "open notes")
        await expect(page.get_by_role("heading", level=1)).to_have_text("open notes")
        await expect(final).to_have_count(1, timeout=LIMIT_MS)
        await expect(final.last.locator(".answer")).to_have_text("Opened notes.")
        assert place.phone.truth.searches == ("OpenGUI",)
        assert "token=" not in page.url
        view = page.locator("#view")
        await page.get_by_role("link", name="Phones", exact=True).click()
        await expect(view.locator(".phone img")).to_be_visible()
        await page.get_by_role("link", name="Usage").click()
        await expect(view.locator("tbody tr")).to_have_count(1)
        await page.get_by_role("link", name="Settings check").click()
        await expect(view).to_contain_text("the offline pilot is used")
    async with place.service() as service, opened(service.console) as page:
        await page.get_by_role("link", name="open browser and search OpenGUI").click()
        await page.get_by_role("link", name="Replay").click()
        await expect(page.locator("#view .screen img")).to_be_visible()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator("#view")).to_contain_text("Step 2 of")


async def test_a_phone_that_does_not_trust_the_computer_says_what_to_do(place: Place) -> None:
    await place.phone.set_link(LinkState.UNAUTHORIZED)
    await place.adb.wait_for(place.phone.address, "unauthorized")
    async with place.service() as service, opened(service.console) as page:
        await expect(page.locator("#phone-list")).to_contain_text("The phone does not trust this computer yet.")
        await page.get_by_role("link", name="Phones", exact=True).click()
        card = page.locator("#view .phone")
        await expect(card).to_contain_text("accept 'Allow USB debugging' and tick 'Always allow'")
        await looks_right_everywhere(page, "an unauthorized phone")
        await card.get_by_role("link", name="How to connect it").click()
        await expect(page.locator("#connect-phones")).to_be_visible()
        await expect(page.locator(".connect-rows .fix")).to_contain_text("accept 'Allow USB debugging'")
        await looks_right_everywhere(page, "how to connect it")
        await place.phone.set_link(LinkState.OPEN)
        await expect(page.locator(".connect-rows .badge").first).to_have_text("ready", timeout=LIMIT_MS)


async def test_a_question_is_answered_on_the_page(place: Place) -> None:
    async with workshop_at(place) as workshop, place.service() as service, opened(service.console) as page:
        workshop.brain.acts(call("ask_user", question="Which tea do you like?", choices=["green", "black"]), FINISH)
        await type_command(page, "do tea for two")
        await page.get_by_label("Your answer").fill("the green one")
        await page.get_by_role("button", name="Answer", exact=True).click()
        await expect(page.locator(".message", has_text="It is done.").last).to_contain_text("42", timeout=LIMIT_MS)
        assert any("the green one" in request.text for request in workshop.model.requests)
        await expect(page.get_by_label("Your answer")).to_have_count(0)
