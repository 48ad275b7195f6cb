from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.bot.chats.web.world import World, open_world

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A running console on real SQLite, with a tiny intake behind it."""
    async with open_world(tmp_path) as opened:
        yield opened


@pytest.fixture
async def client(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    """A caller who carries the token, as the command line does."""
    headers = {"Authorization": f"Bearer {world.token}"}
    async with aiohttp.ClientSession(world.url, headers=headers, timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield session


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    # Chromium's own sandbox needs rights that containers do not give.
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest.fixture
async def page(browser: Browser, world: World) -> AsyncIterator[Page]:
    """The console, opened by its printed address; any error on the page fails the test."""
    page = await browser.new_page(viewport={"width": 1440, "height": 900})
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    await page.goto(world.entry)
    await expect(page.locator("#link")).to_have_text("Connected")
    yield page
    assert wrong == []
