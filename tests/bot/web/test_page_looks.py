"""How the page looks, in a real Chromium (`make test-page`)."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from bot.domain.outgoing import Button, Message, Picture
from tests.bot.web.standins import address, picture, task
from tests.bot.web.world import World

pytestmark = pytest.mark.page


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_fits_a_narrow_screen(world: World, browser: Browser, scheme: str) -> None:
    world.tables.tasks = [task("5", text="a very long task " * 12)]
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = await context.new_page()
    await page.goto(world.entry)
    await expect(page.locator("#link")).to_have_text("Connected")
    message = Message(
        heading="H" * 200, body="w" * 400, picture=Picture("a.png", picture()), buttons=((Button("Stop", "1:s:5"),),)
    )
    await world.chat.send(address("t5"), message, nonce="c")
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.locator("#side").get_by_role("link", name="a very long task").click()
    await expect(page.locator("#stage").get_by_role("button", name="Stop")).to_be_in_viewport()
    await expect(page.get_by_label("Note to the running task")).to_be_in_viewport()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_it_speaks_the_browsers_language(world: World, browser: Browser) -> None:
    world.tables.tasks = [task("5")]
    context = await browser.new_context(locale="zh-CN")
    page = await context.new_page()
    await page.goto(world.entry)
    await expect(page.locator("#link")).to_have_text("已连接")
    await expect(page.get_by_role("heading", level=1)).to_have_text("主页")
    assert await page.evaluate("document.documentElement.lang") == "zh-Hans"
    await page.get_by_role("link", name="用量").click()
    await expect(page.locator("#view")).to_contain_text("还没有用量")
    for name in ("tasks", "phones", "check", "replay-5", "task-5", "task-77"):
        await page.evaluate("name => { location.hash = '#' + name; }", name)
        await expect(page.locator("#about:not(:empty), #messages .empty").first).to_be_visible()
        assert "page." not in await page.evaluate("document.body.innerText"), name


async def test_every_page_is_reached_with_the_keyboard_alone(world: World, page: Page) -> None:
    """Seen failing for the way past the menu: it led to the console from every other page."""
    world.tables.tasks = [task("5", text="dark mode")]
    await expect(page.locator("#side").get_by_role("link", name="dark mode")).to_be_visible()
    reached = []
    await page.locator("#skip").focus()
    for _ in range(14):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.tagName") == "A":
            reached.append(await page.evaluate("document.activeElement.getAttribute('href')"))
    places = ["tasks", "phones", "skills", "schedules", "usage", "connect", "check", "task-5"]
    assert reached[:9] == ["#", *(f"#{place}" for place in places)]
    await page.get_by_role("link", name="Usage").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    await page.locator("#skip").focus()
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "view"
    await expect(page.get_by_role("heading", level=1)).to_have_text("Usage")
    await page.evaluate("location.hash = '#task-%E4'")
    await expect(page.get_by_role("heading", level=1)).to_have_text("Home")


async def test_text_can_be_read_on_its_ground(page: Page) -> None:
    """WCAG AA: 4.5 to 1 for every text colour on every ground of the page, light and dark."""
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        pairs = await page.evaluate(
            """() => {
                const style = getComputedStyle(document.documentElement);
                const light = (name) => {
                    const hex = style.getPropertyValue(name).trim().slice(1);
                    const part = (at) => {
                        const value = parseInt(hex.slice(at, at + 2), 16) / 255;
                        return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
                    };
                    return 0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4);
                };
                const ratio = (one, other) => {
                    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
                    return (high + 0.05) / (low + 0.05);
                };
                const pairs = [['--on-accent', '--accent'], ['--accent', '--accent-soft'], ['--good', '--good-soft'],
                    ['--warn', '--warn-soft'], ['--bad', '--bad-soft'], ['--calm', '--calm-soft'],
                    ['--warn', '--surface'],
                    ['--warn', '--side'], ['--ink', '--accent-soft']];
                for (const text of ['--ink', '--soft', '--faint'])
                    for (const ground of ['--bg', '--side', '--surface', '--raised']) pairs.push([text, ground]);
                return pairs.map((pair) => [pair.join(' on '), ratio(...pair)]);
            }"""
        )
        assert [(scheme, name, round(ratio, 2)) for name, ratio in pairs if ratio < 4.5] == []
