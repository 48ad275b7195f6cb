from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from subprocess import DEVNULL, PIPE

import aiohttp
import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

from tests.bot.web.world import World, open_world

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"


@pytest.fixture
async def world(real_world: None, tmp_path: Path) -> AsyncIterator[World]:  # noqa: ARG001
    """A running console on real SQLite, with a tiny intake behind it."""
    async with open_world(tmp_path) as opened:
        yield opened


@pytest.fixture
async def client(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    """A caller who carries the token, as the command line does."""
    headers = {"Authorization": f"Bearer {world.token}"}
    async with aiohttp.ClientSession(world.url, headers=headers, timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield session


@pytest.fixture(scope="session")
def chromium(real_world: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:  # noqa: ARG001
    """One browser for all tests, by the address of its debugger: to start one takes longer than a test."""
    profile = tmp_path_factory.mktemp("chromium")
    # Chromium's own sandbox needs rights that containers do not give.
    arguments = [
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
    ]
    with subprocess.Popen([CHROMIUM, *arguments, "about:blank"], stdout=DEVNULL, stderr=PIPE, text=True) as process:
        assert process.stderr is not None
        listening = (re.search(r"DevTools listening on (\S+)", line) for line in process.stderr)
        address = next(found[1] for found in listening if found)
        # Nobody reads what else it says; a full pipe would stop it.
        reader = threading.Thread(target=process.stderr.read, daemon=True)
        reader.start()
        yield address
        process.terminate()
        process.wait(30)
        reader.join(30)


@pytest.fixture
async def browser(chromium: str) -> AsyncIterator[Browser]:
    """The shared browser; each page opened in it by `new_page` or `new_context` has nothing of the others'."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(chromium)
        yield browser
        for context in browser.contexts[1:]:
            await context.close()


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
