"""The page in a real Chromium (`make test-page`)."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest
from playwright.async_api import Browser, Page, Route, expect
from yarl import URL

from agent.events import FileFound, Told
from agent.questions import QuestionKind
from agent.run import Outcome
from bot.domain.address import Address, MessageRef, Person
from bot.domain.outgoing import Button, Message, Picture, Reply
from bot.domain.task import TaskState, locator
from bot.domain.task_events import Ended, Noted, QuestionClosed
from bot.web.chat import HOME
from bot.web.exposure import Exposure
from tests.bot.web.standins import address, ended, picture, question, task
from tests.bot.web.test_page_replay import step
from tests.bot.web.world import World

pytestmark = pytest.mark.page

NASTY = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>&amp; "\''


async def open_task(page: Page, number: str) -> None:
    await page.evaluate("number => { location.hash = '#task-' + number; }", number)


async def test_the_token_leaves_the_address_bar(world: World, page: Page) -> None:
    assert page.url == world.url + "/"
    assert await page.evaluate("document.cookie") == ""


async def test_a_command_is_typed_with_the_keyboard_alone(world: World, page: Page) -> None:
    world.intake.reply = lambda _: Reply(message=Message(heading="1 phone", body="Pixel 7: ready"))
    await expect(page.get_by_label("Command", exact=True)).to_be_focused()
    await page.keyboard.type("devices")
    await page.keyboard.press("Enter")
    await expect(page.locator(".message.operator")).to_have_text("devices")
    await expect(page.locator(".message").nth(1)).to_contain_text("Pixel 7: ready")
    await expect(page.locator("#news")).to_contain_text("Pixel 7: ready")
    await expect(page.get_by_label("Command", exact=True)).to_have_value("")
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_label("Command", exact=True)).to_have_value("devices")


async def test_a_task_opens_by_itself_and_shows_its_live_card(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", text="open settings")]
    world.intake.reply = lambda _: Reply(task="5")
    await page.get_by_label("Command", exact=True).fill("do open settings")
    await page.get_by_label("Command", exact=True).press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("open settings")
    stage = page.get_by_label("The phone, live")
    await expect(stage).to_contain_text("Looking at the phone")
    for number in (1, 2):
        world.tables.steps = [step(number, None)]
        world.tables.tasks = [task("5", text="open settings", steps=number)]
        await expect(stage.locator(".body")).to_have_text(re.compile(f"Settings\\s+Step {number} of it"))
    world.tables.statuses = {"5": Told(text="The cable is out.")}
    await expect(stage.locator(".body")).to_contain_text("The cable is out.")
    await stage.get_by_role("button", name="Stop").click()
    await expect(stage.get_by_role("button", name="Stop")).to_be_enabled()
    assert [(press.data, press.message) for press in world.intake.presses] == [
        ("1:stop:5", MessageRef(address("t5"), ""))
    ]
    world.tables.ending = frozenset({"5"})
    await expect(stage.get_by_role("button", name="Stop")).to_have_count(0)


async def test_the_picture_changes_without_a_flicker(world: World, page: Page) -> None:
    """Watched in the page: at every change of the screen's content there is a decoded picture in it."""

    async def show(colour: str) -> None:
        frame = await world.frames.save(picture(colour), suffix="png")
        world.tables.steps = [replace(step(len(colour), frame, (40, 100)), summary=colour)]
        world.tables.tasks = [task("5", steps=len(colour), frame=frame)]

    await show("red")
    await open_task(page, "5")
    image = page.locator("#stage .screen img")
    await expect(image).to_be_visible()
    await page.evaluate(
        """() => {
            window.empty = 0;
            const screen = document.querySelector('.screen');
            new MutationObserver(() => {
                const image = screen.querySelector('img');
                if (!image || !image.complete || image.naturalWidth === 0) window.empty += 1;
            }).observe(screen, { childList: true, subtree: true, attributes: true, attributeFilter: ['src'] });
        }"""
    )
    first = await image.get_attribute("src")
    for colour in ("green", "blue", "orange"):
        await show(colour)
        await expect(page.locator(".caption .body")).to_contain_text(colour)
    await expect(image).not_to_have_attribute("src", first or "")
    assert await page.evaluate("window.empty") == 0


async def test_nothing_that_is_shown_becomes_markup(world: World, page: Page) -> None:
    """Seen failing with `innerHTML` in `setText` of dom.js."""
    world.tables.tasks = [ended("5", Outcome.FAILED, text=NASTY, summary=NASTY)]
    world.tables.happens("5", Noted(text=NASTY, by=NASTY), FileFound(name=NASTY, content="x"))
    shown = Message(
        heading=NASTY,
        body=NASTY,
        footer=NASTY,
        notify=True,
        buttons=((Button(NASTY, "1:x:y"),),),
        files=(Picture(NASTY, b"x"),),
    )
    await world.chat.send(address("t5"), shown, nonce="m")
    await open_task(page, "5")
    await expect(page.locator(".message .text")).to_have_text([NASTY, "Files from the phone", NASTY])
    await expect(page.locator(".item b").first).to_have_text(NASTY)
    assert await page.evaluate("window.broken") is None
    assert await page.locator("main script, main img[src='x']").count() == 0


async def test_a_question_is_answered_in_its_own_box(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    world.tables.asks(question(QuestionKind.ASK, "5"))
    await expect(page.get_by_text("needs your answer")).to_be_visible()
    await open_task(page, "5")
    await page.get_by_label("Your answer").fill("the blue one")
    await page.get_by_role("button", name="Answer", exact=True).click()
    await expect(page.get_by_label("Your answer")).to_have_value("")
    assert world.tables.answers == [("q5", "the blue one")]
    world.tables.questions = []
    await expect(page.get_by_label("Your answer")).to_have_count(0)


async def test_one_of_many_choices_is_taken_with_the_keyboard(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    one = question(QuestionKind.ASK, "5")
    kinds = tuple(f"Tea {number}" for number in range(1, 41))
    one = replace(one, question=one.question.model_copy(update={"text": "Which tea?", "choices": kinds}))
    world.tables.asks(one)
    await open_task(page, "5")
    give = page.get_by_role("button", name="Choose this")
    await expect(page.get_by_role("radio")).to_have_count(40)
    await expect(give).to_be_disabled()
    await page.get_by_role("radio").first.focus()
    for key in ("Space", "ArrowDown", "ArrowDown"):
        await page.keyboard.press(key)
    await expect(page.get_by_role("radio", name="Tea 3", exact=True)).to_be_checked()
    await page.keyboard.press("Enter")
    await expect(give).to_be_enabled()
    assert [press.data for press in world.intake.presses] == [f"1:ans:{locator('q5')}:3"]
    world.tables.questions, world.tables.closed = [], [replace(one, answer="Tea 3", answered_by="operator")]
    world.tables.happens("5", QuestionClosed(question="q5", by="operator"))
    await expect(page.get_by_role("radio")).to_have_count(0)
    await expect(page.locator(".message .footer")).to_contain_text("Tea 3")


async def test_a_code_is_typed_covered_and_shown_nowhere(world: World, page: Page) -> None:
    world.tables.tasks = [task("5", state=TaskState.WAITING)]
    world.tables.asks(question(QuestionKind.SECRET, "5"))
    await open_task(page, "5")
    field = page.get_by_label("Code or password")
    await expect(field).to_have_attribute("type", "password")
    await field.fill("481516")
    await field.press("Enter")
    await expect(field).to_have_value("")
    assert world.tables.answers == [("q5", "481516")]
    await expect(page.locator(".message.operator")).to_have_count(0)
    assert "481516" not in await page.content()


async def test_words_in_a_task_of_another_chat_are_no_command(world: World, page: Page) -> None:
    """Seen failing when the box sent them to the console itself: "cancel …" would have been a command there."""
    elsewhere = Address("discord", "bot", "c")
    world.tables.tasks = [task("5", origin=elsewhere, place=elsewhere, person=Person("discord", "1", "Ann"))]
    await open_task(page, "5")
    await expect(page.get_by_text("Started in Discord by Ann")).to_be_visible()
    await page.get_by_label("Command", exact=True).fill("cancel that order")
    await page.get_by_label("Command", exact=True).press("Enter")
    await expect(page.locator("#toast")).to_contain_text("Commands here begin with /")
    assert world.intake.messages == []


async def test_the_end_shows_its_outcome_and_can_be_replayed(world: World, page: Page) -> None:
    world.tables.tasks = [ended("5", Outcome.UNVERIFIED, text="send it", summary="It looks sent.")]
    for number, colour in enumerate(("red", "green"), 1):
        world.tables.does(step(number, await world.frames.save(picture(colour), suffix="png")))
    notes = FileFound(name="notes.csv", content=await world.frames.save(b"a;b", suffix="csv"))
    world.tables.happens("5", notes, Ended(outcome=Outcome.UNVERIFIED, summary="It looks sent."))
    await open_task(page, "5")
    await expect(page.locator(".message.final .badge")).to_have_text("unverified")
    await expect(page.locator(".result .answer")).to_have_text("It looks sent.")
    await expect(page.locator(".message .files a")).to_have_text(["notes.csv"])
    play = page.get_by_role("button", name="Play the recap")
    await play.click()
    await expect(page.locator(".result .thumb img")).to_have_attribute("src", re.compile("gif$"))
    await page.get_by_role("button", name="Show the last screen").click()
    await expect(play).to_be_visible()
    await page.get_by_role("button", name="Run daily").click()
    await expect(page.get_by_label("What to do", exact=True)).to_have_value("send it")
    await expect(page.get_by_label("When", exact=True)).to_have_value("day")
    await open_task(page, "5")
    await page.locator(".film .shot").first.click()
    await expect(page.locator("#viewer figcaption")).to_contain_text("1 of 2")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#viewer figcaption")).to_contain_text("2 of 2")
    await page.keyboard.press("Escape")
    await expect(page.locator("#viewer")).not_to_be_visible()


async def test_a_reload_shows_everything_again(world: World, page: Page) -> None:
    world.tables.tasks = [task("5")]
    for number in range(80):
        await world.chat.send(address("t5"), Message(body=f"line {number}"), nonce=str(number))
    await open_task(page, "5")
    await page.reload()
    await expect(page.locator(".message").last).to_contain_text("line 79")
    await expect(page.locator(".message").last).to_be_in_viewport()
    await page.get_by_role("button", name="Show older messages").click()
    await expect(page.locator(".message").first).to_contain_text("line 0")
    await expect(page.locator(".message")).to_have_count(80)


async def test_it_says_when_the_service_is_away_and_keeps_what_was_typed(world: World, page: Page) -> None:
    await page.get_by_label("Command", exact=True).fill("devices")
    await world.console.stop()
    await expect(page.get_by_role("alert")).to_contain_text("The service is offline")
    await page.get_by_label("Command", exact=True).press("Enter")
    await expect(page.locator("#toast")).to_contain_text("Not sent")
    await expect(page.get_by_label("Command", exact=True)).to_have_value("devices")


async def test_after_a_restart_it_goes_on_by_itself(world: World, page: Page) -> None:
    """Seen failing while the cookie held the token of the start. Without a click, and nothing is lost."""
    await world.chat.send(HOME, Message(body="before"), nonce="0")
    await expect(page.locator(".message")).to_have_text(["before"])
    line = page.get_by_label("Command", exact=True)
    await line.fill("half a command")
    await world.console.stop()
    await expect(page.get_by_role("alert")).to_contain_text("The service is offline")
    await world.chat.send(HOME, Message(body="meanwhile"), nonce="1")
    another = world.another(Exposure("127.0.0.1"), URL(world.url).port or 0)
    await another.start()
    try:
        await expect(page.get_by_role("alert")).not_to_be_visible()
        await expect(page.locator(".message")).to_have_text(["before", "meanwhile"])
        await expect(line).to_have_value("half a command")
        await expect(line).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator(".message.operator")).to_have_text("half a command")
    finally:
        await another.stop()


async def test_who_was_signed_out_meanwhile_is_told_where_to_begin(world: World, page: Page) -> None:
    await world.console.stop()
    await expect(page.get_by_role("alert")).to_contain_text("The service is offline")
    await world.sessions.forget([one.digest for one in await world.sessions.all()])
    another = world.another(Exposure("127.0.0.1"), URL(world.url).port or 0)
    await another.start()
    try:
        await expect(page.get_by_role("alert")).to_contain_text("address that the service printed")
        await expect(page.locator("#link")).to_have_text("Signed out")
    finally:
        await another.stop()


async def test_it_reconnects_by_itself_and_misses_nothing(world: World, page: Page) -> None:
    """Seen failing when the way back began at the present."""
    await world.chat.send(HOME, Message(body="before"), nonce="0")
    await expect(page.locator(".message")).to_have_count(1)
    away = asyncio.Event()

    async def refuse(route: Route) -> None:
        away.set()
        await route.abort()

    await page.route("**/api/**", refuse)
    cut_connections(world)
    await asyncio.wait_for(away.wait(), 10)
    await expect(page.get_by_role("alert")).to_contain_text("The service is offline")
    await world.chat.send(HOME, Message(body="sent meanwhile"), nonce="1")
    await page.unroute("**/api/**")
    await expect(page.get_by_role("alert")).not_to_be_visible()
    await expect(page.locator(".message").last).to_contain_text("sent meanwhile")
    await expect(page.locator(".message")).to_have_count(2)


async def test_what_it_cannot_be_told_one_by_one_it_loads_anew(world: World, page: Page) -> None:
    """Here its place is made one that the service does not know, as after a backup was put back."""
    await world.chat.send(HOME, Message(body="before"), nonce="0")
    await expect(page.locator(".message")).to_have_count(1)
    asked: list[str] = []

    async def ahead(route: Route) -> None:
        asked.append(route.request.url)
        await route.continue_(url=str(URL(route.request.url).with_query(since="99999")))

    await page.route("**/api/events*", ahead, times=1)
    cut_connections(world)
    await world.chat.send(HOME, Message(body="meanwhile"), nonce="1")
    await expect(page.locator(".message")).to_have_text(["before", "meanwhile"])
    assert len(asked) == 1
    await world.chat.send(HOME, Message(body="afterwards"), nonce="2")
    await expect(page.locator(".message")).to_have_text(["before", "meanwhile", "afterwards"])


def cut_connections(world: World) -> None:
    """Ends every open connection as a lost network does."""
    server = world.console._server
    assert server is not None
    for connection in list(server._state.connections):
        connection.transport.abort()


async def test_without_the_token_it_says_what_to_do(world: World, browser: Browser) -> None:
    page = await browser.new_page()
    await page.goto(world.url)
    await expect(page.get_by_role("alert")).to_contain_text("Open the address that the service printed")
