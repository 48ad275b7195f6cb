"""Signing in to the page in a real Chromium (`make test-page`)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, Route, expect
from yarl import URL

from bot.domain.outgoing import Message
from bot.web.chat import HOME
from bot.web.exposure import Exposure
from tests.bot.web.test_sign_in import PASSWORD, quick
from tests.bot.web.world import World, open_world

pytestmark = pytest.mark.page


@pytest.fixture
async def opened(real_world: None, tmp_path: Path) -> AsyncIterator[World]:  # noqa: ARG001
    """A console with a password, opened without the start token."""
    async with open_world(tmp_path, door=Exposure("127.0.0.1", None, quick(PASSWORD))) as world:
        yield world


async def sign_in(page: Page) -> None:
    await page.get_by_label("Password").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await expect(page.locator("#link")).to_have_text("Connected")
    await expect(page.locator("#entry")).not_to_be_visible()


async def test_signing_in_and_out_with_the_keyboard(opened: World, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(opened.url)
    await expect(page.get_by_label("Password")).to_be_focused()
    await page.keyboard.type("wrong")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("alert").filter(has_text="Wrong password")).to_be_visible()
    await sign_in(page)
    assert await page.evaluate("document.cookie") == ""
    await expect(page.get_by_label("Command", exact=True)).to_be_focused()
    await page.keyboard.type("help")
    await page.keyboard.press("Enter")
    await expect(page.locator(".message.operator")).to_have_text("help")
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_label("Password")).to_be_visible()
    await expect(page.locator(".message")).to_have_count(0)


async def test_a_restart_signs_nobody_out_and_another_password_everybody(opened: World, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(opened.url)
    await sign_in(page)
    await opened.chat.send(HOME, Message(body="before"), nonce="0")
    await page.get_by_label("Command", exact=True).fill("half a command")
    await expect(page.locator(".message")).to_have_text(["before"])
    await opened.console.stop()
    await opened.chat.send(HOME, Message(body="meanwhile"), nonce="1")
    port = URL(opened.url).port or 0
    for password, signed_in in ((PASSWORD, True), (PASSWORD + "!", False)):
        door = Exposure("127.0.0.1", None, quick(password))
        another = opened.another(door, port)
        await another.start()
        try:
            if signed_in:
                await expect(page.locator(".message")).to_have_text(["before", "meanwhile"])
                await expect(page.locator("#link")).to_have_text("Connected")
                await expect(page.locator("#entry")).not_to_be_visible()
            else:
                await expect(page.get_by_label("Password")).to_be_focused()
                await page.keyboard.type(password)
                await page.keyboard.press("Enter")
            await expect(page.locator("#link")).to_have_text("Connected")
            await expect(page.get_by_label("Command", exact=True)).to_have_value("half a command")
        finally:
            await another.stop()


async def test_all_others_are_signed_out(opened: World, browser: Browser) -> None:
    mine, other = await (await browser.new_context()).new_page(), await (await browser.new_context()).new_page()
    for page in (mine, other):
        await page.goto(opened.url)
        await sign_in(page)
    await mine.get_by_role("link", name="Settings check").click()
    await expect(mine.locator(".sessions li")).to_have_count(2)
    await mine.get_by_role("button", name="Sign out everywhere else").click()
    await expect(mine.locator("#toast")).to_have_text("Signed out: 1")
    await expect(mine.locator(".sessions li")).to_contain_text(["this browser"])
    await expect(other.get_by_label("Password")).to_be_visible()
    await expect(mine.locator("#link")).to_have_text("Connected")


async def test_after_an_update_the_page_is_loaded_anew_and_what_was_typed_stays(world: World, page: Page) -> None:
    """The other version is made by the mark alone. Seen failing without `back`: the old page had gone on."""
    await page.get_by_label("Command", exact=True).fill("half a command")
    await page.evaluate("window.old = true")
    await world.console.stop()
    await expect(page.get_by_role("alert")).to_contain_text("The service is offline")

    async def updated(route: Route) -> None:
        await route.fulfill(status=200, headers={"ETag": '"another"'})

    await page.route(f"{world.url}/", updated, times=1)
    again = world.another(Exposure("127.0.0.1"), URL(world.url).port or 0)
    await again.start()
    try:
        await page.wait_for_event("load")
        await expect(page.locator("#link")).to_have_text("Connected")
        await expect(page.get_by_label("Command", exact=True)).to_have_value("half a command")
        assert await page.evaluate("window.old") is None
        await page.get_by_label("Command", exact=True).fill("")
        assert await page.evaluate("sessionStorage.length") == 0
    finally:
        await again.stop()
