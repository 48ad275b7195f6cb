"""A phone in somebody's hands through a running service: from Telegram, from Discord, and in the page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end import test_discord as discord
from tests.end_to_end import test_telegram as telegram
from tests.end_to_end.brain import FINISH, call
from tests.end_to_end.service import Place, Service
from tests.end_to_end.test_page import opened, type_command
from tests.end_to_end.workshop import workshop_at
from tests.fixtures.own_time import crowd, own_time

TYPED = "correcthorse"
SHOWN_WITHIN_S = 1.5
SEEN_WITHIN_S = 0.5


def touches(place: Place) -> int:
    """How many taps have reached the phone."""
    return sum("input tap" in entry.line for entry in place.phone.journal.entries)


def pictures(place: Place) -> int:
    """How many pictures the phone was asked for."""
    return sum("screencap" in entry.line for entry in place.phone.journal.entries)


def kept_nowhere(place: Place, log: str) -> None:
    assert TYPED not in log
    for file in place.data.rglob("*"):
        if file.is_file():
            assert TYPED.encode() not in file.read_bytes(), file


async def held_up(found: Callable[[], object], service: Service | None = None) -> float:
    """Seconds until it is so, of the service's own time."""
    process = None if service is None else service.pid
    began = own_time(process)
    async with asyncio.timeout(60):
        while not found():
            await asyncio.sleep(0.01)
    return own_time(process) - began


async def test_a_phone_is_touched_from_telegram(place: Place) -> None:
    async with telegram.town(FINISH) as here:
        settings = {**here.settings, "TELEGRAM_ADMIN_USER_IDS": str(here.alice.id)}
        async with place.service(**settings) as service:
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/hand@" + here.fake.bot.username)
            shown = await here.bot_says("in the hands of", here.group)
            assert shown.file is not None
            old = [data for data, label in shown.buttons.items() if label != "Done"][-5:]
            await here.fake.say(here.alice, here.group, "/hand@" + here.fake.bot.username)
            await here.fake.wait_until(lambda: len(here.fake.from_bot(here.group)) == 2, timeout=telegram.LIMIT)
            past, shown = here.fake.from_bot(here.group)
            first = dict(shown.buttons)
            assert len(shown.keyboard[0]) == 8, "Telegram has rows of eight"
            assert not list(place.data.glob("frames/**/*.jpg")), "no picture is kept"
            before = touches(place)
            await asyncio.sleep(1.1)  # the chat's own limit: a message a second
            number = next(data for data, label in first.items() if label == "2")
            press = asyncio.ensure_future(here.fake.press(here.alice, shown, number))
            took = await held_up(lambda: dict(shown.buttons) != first, service)
            await press
            assert touches(place) == before + 1
            assert took <= SHOWN_WITHIN_S
            await here.fake.press(here.alice, past, old[0])
            await held_up(lambda: old[0] not in past.buttons)
            assert touches(place) == before + 1, "a picture of before touches nothing"
            shown = past
            (done,) = [data for data, label in shown.buttons.items() if label == "Done"]
            await here.fake.press(here.alice, shown, done)
            await here.fake.wait_until(lambda: "free again" in shown.text, timeout=10)
            assert "Traceback" not in service.log


async def test_a_phone_is_touched_from_discord(place: Place) -> None:
    async with discord.town(FINISH) as here:
        settings = {**here.settings, "DISCORD_ADMIN_USER_IDS": str(here.alice.id)}
        async with place.service(**settings) as service:
            await here.fake.connected()
            here.fake.say(here.alice, here.channel, "!opengui hand")
            await here.bot_says("in the hands of", here.channel)
            here.fake.say(here.alice, here.channel, "!opengui hand")
            await here.fake.wait_until(lambda: len(here.fake.from_bot(here.channel)) == 2, timeout=discord.LIMIT)
            past, shown = (message.id for message in here.fake.from_bot(here.channel))

            def buttons(message: int) -> dict[str, str]:
                found = here.fake.buttons(here.fake.message(here.channel, message))
                return {label: data for data, label in found.items()}

            def press(message: int, label: str) -> None:
                here.fake.press(here.alice, here.fake.message(here.channel, message), buttons(message)[label])

            first, old = buttons(shown), buttons(past)
            assert 5 < len(first) <= 25
            before = touches(place)
            press(shown, "2")
            took = await held_up(lambda: buttons(shown) != first, service)
            assert touches(place) == before + 1
            assert took <= SHOWN_WITHIN_S
            press(past, "1")
            await held_up(lambda: buttons(past) != old)
            assert touches(place) == before + 1, "a picture of before touches nothing"
            here.fake.say(here.alice, here.channel, TYPED, reply_to=here.fake.message(here.channel, past))
            await here.bot_says("only the length", here.channel)
            kept_nowhere(place, service.log)
            press(past, "Done")
            await here.bot_says("free again", here.channel)


SEEN = """canvas => new Promise((resolve) => {
  let began = 0;
  setTimeout(() => resolve(3), 3000);
  canvas.addEventListener("pointerup", () => (began = performance.now()), { once: true });
  new MutationObserver((_, observer) => {
    if (!began) return;
    observer.disconnect();
    resolve((performance.now() - began) / 1000);
  }).observe(canvas, { attributes: true, attributeFilter: ["data-still"] });
})"""
SEEN_BY_VIDEO = SEEN.replace("data-still", "data-video")


async def tap(canvas: Locator, x: float, y: float, seen: str = SEEN) -> float:
    """Seconds from a click on the live picture to the next one that is shown."""
    waits = asyncio.ensure_future(canvas.evaluate(seen))
    box = await canvas.bounding_box()
    assert box is not None
    await canvas.click(position={"x": box["width"] * x, "y": box["height"] * y})
    return float(await waits)


@pytest.mark.page
async def test_an_idle_phone_is_touched_in_the_page(place: Place) -> None:
    """Also: what is typed is kept nowhere, and nobody looks, nothing is captured."""
    async with place.service() as service, opened(service.console) as page:
        await page.get_by_role("link", name="Phones", exact=True).click()
        await page.get_by_role("link", name="Open and touch").click()
        canvas = page.locator(".hand canvas[data-still]:visible")
        await canvas.wait_for()
        took = await tap(canvas, 0.16, 0.865)  # Account
        await held_up(lambda: place.phone.truth.app == "account")
        while not place.phone.truth.focus:
            await tap(canvas, 0.5, 0.342)  # its field, as soon as the screen has come to rest
        await page.get_by_label("Type into the phone").fill(TYPED)
        await page.get_by_role("button", name="Type", exact=True).click()
        await held_up(lambda: TYPED in place.phone.truth.fields.values())
        kept_nowhere(place, service.log)
        assert took <= SEEN_WITHIN_S * crowd()
        await page.get_by_role("button", name="Done").click()
        await expect(page.get_by_role("link", name="Open and touch")).to_be_visible()
        await page.goto("about:blank")
        await asyncio.sleep(0.5)
        before = pictures(place)
        await asyncio.sleep(1.5)
        assert pictures(place) == before


@pytest.mark.page
async def test_a_task_is_taken_over_and_goes_on_in_the_page(place: Place) -> None:
    """No picture is kept and no model is asked while a person holds the phone."""
    acts = [
        call("open_app", name="Settings"),
        call("wait_for", what="text", text="Never there", seconds=20),
        call("open_app", name="Clock"),
        FINISH,
    ]
    async with workshop_at(place) as workshop, place.service() as service, opened(service.console) as page:
        workshop.brain.acts(*acts)
        await type_command(page, "do look around")
        stage = page.get_by_label("The phone, live")
        await held_up(lambda: place.phone.truth.app == "settings")
        await stage.get_by_role("button", name="Touch the phone").click()
        canvas = stage.locator(".hand canvas[data-still]")
        await canvas.wait_for()
        asked, kept = len(workshop.model.requests), len(list(place.data.rglob("frames/*/*")))
        await tap(canvas, 0.5, 0.37)  # Bluetooth
        await held_up(lambda: place.phone.truth.toggles["bluetooth"])
        assert (len(workshop.model.requests), len(list(place.data.rglob("frames/*/*")))) == (asked, kept)
        await stage.get_by_role("button", name="Done").click()
        await expect(page.locator(".message", has_text="It is done.").last).to_be_visible(timeout=60_000)
        assert any("did something on the phone by hand" in request.text for request in workshop.model.requests)


@pytest.mark.page
async def test_what_is_touched_is_seen_by_video(place: Place) -> None:
    """Also: the recording ends with whoever watches, and where there is none the stills go on."""

    def recorded() -> list[int | None]:
        return [entry.code for entry in place.phone.journal.entries if entry.name == "screenrecord"]

    async with place.service() as service, opened(service.console) as page:
        await page.get_by_role("link", name="Phones", exact=True).click()
        await page.get_by_role("link", name="Open and touch").click()
        canvas = page.locator(".hand canvas[data-still][data-video]:visible")
        await canvas.wait_for()
        took = []
        for _ in range(3):
            took.append(await tap(canvas, 0.16, 0.865, SEEN_BY_VIDEO))  # Account
            await held_up(lambda: place.phone.truth.app == "account")
            await tap(canvas, 0.5, 0.965, SEEN_BY_VIDEO)  # Home
            await held_up(lambda: place.phone.truth.app != "account")
        assert min(took) <= SEEN_WITHIN_S * crowd(), took
        assert "no video" not in service.log
        place.phone.faults.no_recording = True
        await page.get_by_role("button", name="Done").click()
        await held_up(lambda: recorded() == [0])
        await page.get_by_role("link", name="Open and touch").click()
        await page.locator(".hand canvas[data-still]:not([data-video]):visible").wait_for()
        await tap(page.locator(".hand canvas:visible"), 0.16, 0.865)
        await held_up(lambda: place.phone.truth.app == "account")
        assert recorded() == [0, 127], "it is asked once"
        assert "and no video: " in service.log
