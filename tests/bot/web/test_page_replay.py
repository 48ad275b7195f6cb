"""The list of tasks and the replay of a run, in a real Chromium (`make test-page`)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from playwright.async_api import Page, expect

from agent.effect_facts import Appeared, ScreenChanged
from agent.models.base import Usage
from agent.recorded_skills.step_record import Anchor, RecordedAction, StepRecord
from agent.run import Outcome, RunId
from bot.domain.address import Person
from bot.domain.task import StepRow
from tests.bot.web.standins import ended, picture, task
from tests.bot.web.world import World

pytestmark = pytest.mark.page

GONE = "0" * 64 + ".png"


def step(number: int, frame: str | None, mark: tuple[int, int] | None = None) -> StepRow:
    action = {"kind": "tap", "target": {"x": 40, "y": 100}, "sensitive": ""}
    used = Usage(input=3100, output=120, calls=1)
    said, thought = f"Step {number} of it", f"Thought {number}"
    return StepRow(
        "5",
        RunId("5"),
        1,
        number,
        60,
        said,
        thought,
        action,
        (ScreenChanged(),),
        "Settings",
        frame,
        mark,
        used,
        4.2,
        9.0,
    )


async def run_of_three(world: World) -> None:
    world.tables.tasks = [ended("5", Outcome.SUCCEEDED, text="turn on dark mode")]
    red, green = [await world.frames.save(picture(colour), suffix="png") for colour in ("red", "green")]
    world.tables.steps = [step(1, red, (40, 100)), step(2, green), step(3, GONE)]


async def test_a_run_is_replayed_with_the_arrow_keys(world: World, page: Page) -> None:
    await run_of_three(world)
    await page.get_by_role("link", name="Tasks", exact=True).click()
    await page.get_by_role("link", name="turn on dark mode").last.click()
    view = page.locator("#view")
    await expect(view.get_by_role("heading")).to_have_text("Step 1 of it")
    await expect(view.locator(".screen img")).to_be_visible()
    ring = await view.locator(".screen .ring").bounding_box()
    screen = await view.locator(".screen img").bounding_box()
    assert ring is not None
    assert ring == screen
    circle = await view.locator(".screen circle").first.bounding_box()
    assert circle is not None
    assert abs(circle["x"] + circle["width"] / 2 - (ring["x"] + ring["width"] * 40 / 90)) < 2
    assert abs(circle["y"] + circle["height"] / 2 - (ring["y"] + ring["height"] * 100 / 200)) < 2
    await page.keyboard.press("ArrowRight")
    await expect(view).to_contain_text("Step 2 of 3")
    await expect(view.locator(".screen circle")).to_have_count(0)
    for words in ("Thought 2", "Tap: 40, 100", "changed", "Settings", "4 s", "3.1k in, 120 out"):
        await expect(view).to_contain_text(words)
    await page.keyboard.press("End")
    await expect(view).to_contain_text("Step 3 of 3")
    await page.keyboard.press("ArrowRight")
    await expect(view).to_contain_text("Step 3 of 3")
    await page.keyboard.press("Home")
    await expect(view.get_by_role("button", name="Previous step")).to_be_disabled()


async def test_what_was_touched_is_called_as_people_call_it(world: World, page: Page) -> None:
    """Not by the number that the model was shown; what is too long is cut behind a word."""
    await run_of_three(world)
    anchor = Anchor(package="com.android.settings", role="Switch", words="Dark theme")
    record = StepRecord(actions=(RecordedAction(action={"kind": "tap"}, anchor=anchor),))
    tapped = replace(world.tables.steps[0], action={"kind": "tap", "target": {"element": 4}}, record=record)
    typed = replace(world.tables.steps[1], action={"kind": "type", "text": "wonderful " * 20})
    world.tables.steps = [tapped, typed, replace(tapped, step=3, record=StepRecord())]
    await page.evaluate("location.hash = '#replay-5'")
    view = page.locator("#view")
    await expect(view).to_contain_text("Tap: “Dark theme”")
    await page.keyboard.press("ArrowRight")
    await expect(view).to_contain_text("wonderful…”")
    await page.keyboard.press("ArrowRight")
    await expect(view).to_contain_text("Tap: element 4")


async def test_a_step_has_its_own_address(world: World, page: Page) -> None:
    await run_of_three(world)
    await page.evaluate("location.hash = '#replay-5?step=2'")
    view = page.locator("#view")
    await expect(view.get_by_role("heading")).to_have_text("Step 2 of it")
    await page.keyboard.press("ArrowRight")
    await expect(page).to_have_url(f"{world.url}/#replay-5?step=3")
    await page.reload()
    await expect(view.get_by_role("heading")).to_have_text("Step 3 of it")
    await page.evaluate("location.hash = '#replay-5?step=99'")
    await expect(view).to_contain_text("Step 3 of 3")
    await page.evaluate("location.hash = '#replay-5?step=1'")
    await expect(view.get_by_role("heading")).to_have_text("Step 1 of it")


async def test_a_long_effect_is_shown_whole_on_demand(world: World, page: Page) -> None:
    """Seen failing with three lines of it and no way to the rest."""
    await run_of_three(world)
    words = tuple(f"An entry of the list, number {number}" for number in range(20))
    world.tables.steps = [replace(world.tables.steps[0], effect=(Appeared(words=words),)), *world.tables.steps[1:]]
    await page.evaluate("location.hash = '#replay-5'")
    facts, all_of_it = page.locator("#view .facts"), page.get_by_role("button", name="Show all")
    last = facts.get_by_text("number 19")
    await expect(last).to_be_visible()
    await expect(all_of_it).to_be_visible()  # it comes once the page has measured the text
    cut = await last.evaluate("value => value.scrollHeight - value.clientHeight")
    assert cut > 0
    await all_of_it.click()
    assert await last.evaluate("value => value.scrollHeight - value.clientHeight") == 0
    await page.get_by_role("button", name="Show less").click()
    assert await last.evaluate("value => value.scrollHeight - value.clientHeight") == cut
    await page.keyboard.press("ArrowRight")
    await expect(all_of_it).to_have_count(0)


async def test_a_picture_that_is_not_kept_any_more_is_told(world: World, page: Page) -> None:
    await run_of_three(world)
    await page.evaluate("location.hash = '#replay-5'")
    await expect(page.locator("#view .screen img")).to_be_visible()
    await page.keyboard.press("End")
    await expect(page.locator("#view .screen")).to_contain_text("No longer stored")
    await expect(page.locator("#view .screen img")).to_have_count(0)
    await expect(page.locator("#view").get_by_role("heading")).to_have_text("Step 3 of it")


async def test_a_run_that_goes_on_is_followed(world: World, page: Page) -> None:
    frame = await world.frames.save(picture(), suffix="png")
    world.tables.tasks, world.tables.steps = [task("5", steps=1)], [step(1, frame)]
    await page.evaluate("location.hash = '#replay-5'")
    await expect(page.locator("#view")).to_contain_text("Step 1 of 1")
    world.tables.tasks, world.tables.steps = [task("5", steps=2)], [step(1, frame), step(2, frame)]
    await expect(page.locator("#view")).to_contain_text("Step 2 of 2")


async def test_each_step_of_several_phones_names_its_own(world: World, page: Page) -> None:
    world.tables.tasks = [ended("5", Outcome.SUCCEEDED, parts=2, phone="")]
    world.tables.steps = [replace(step(1, None), phone_name="Pixel 7"), replace(step(1, None), phone_name="Galaxy")]
    await page.evaluate("location.hash = '#replay-5'")
    await expect(page.locator("#about")).to_have_text("Task 5 · 2 phones")
    await expect(page.locator("#view .facts")).to_contain_text("Pixel 7")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#view .facts")).to_contain_text("Galaxy")
    await expect(page.locator("#view .steps small")).to_have_text(["Pixel 7", "Galaxy"])


async def test_a_task_without_steps_says_so_and_an_unknown_one_too(world: World, page: Page) -> None:
    world.tables.tasks = [ended("6", Outcome.SUCCEEDED, steps=9), ended("5", Outcome.CANCELLED, steps=0)]
    await page.evaluate("location.hash = '#replay-5'")
    await expect(page.locator("#view")).to_contain_text("before its first step")
    await page.evaluate("location.hash = '#replay-6'")
    await expect(page.locator("#view")).to_contain_text("Its steps are no longer stored.")
    await page.evaluate("location.hash = '#replay-77'")
    await expect(page.locator("#view")).to_contain_text("There is no such task.")
    await page.evaluate("location.hash = '#task-77'")
    await expect(page.locator("#messages")).to_contain_text("There is no such task.")
    await expect(page.locator("#line")).to_be_hidden()
    await page.locator("#messages").get_by_role("link", name="Tasks").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Tasks")


async def test_the_list_of_tasks_goes_back_as_far_as_one_likes(world: World, page: Page) -> None:
    world.tables.tasks = [ended(str(number), Outcome.FAILED, text=f"task {number}") for number in range(150, 0, -1)]
    world.tables.tasks[140] = ended("10", Outcome.SUCCEEDED, text="long ago", person=Person("discord", "1", "Ann"))
    await page.get_by_role("link", name="Tasks", exact=True).click()
    await expect(page.locator("#view .past").first).to_contain_text("task 150")
    await page.get_by_role("button", name="Show older tasks").click()
    await expect(page.locator("#view .past")).to_have_count(150)
    await expect(page.get_by_role("button", name="Show older tasks")).not_to_be_visible()
    await page.locator("#view .past", has_text="long ago").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("long ago")
    await expect(page.locator("#badge .badge")).to_have_text("succeeded")


async def test_tasks_are_searched_with_the_keyboard_and_the_address_tells_for_what(world: World, page: Page) -> None:
    ann = Person("discord", "1", "Ann")
    world.tables.tasks = [ended(str(number), Outcome.FAILED, text=f"tea {number}") for number in range(250, 0, -1)]
    world.tables.tasks[247:] = [
        ended("3", Outcome.SUCCEEDED, text="Tea for two", person=ann),
        ended("2", Outcome.FAILED, text="tea for two", person=ann),
        ended("1", Outcome.SUCCEEDED, text="coffee", phone="galaxy", phone_name="Galaxy"),
    ]
    await page.get_by_role("link", name="Tasks", exact=True).click()
    await expect(page.locator("#view .past")).to_have_count(100)
    await page.keyboard.press("/")
    await page.keyboard.type("two TEA")
    rows = page.locator("#view .past b")
    await expect(rows).to_have_text(["Tea for two", "tea for two"])
    await expect(page.locator("#view [role=status]")).to_have_text("2 tasks found")
    await page.get_by_label("Status or outcome").select_option("succeeded")
    await expect(rows).to_have_text(["Tea for two"])
    await page.get_by_label("Person", exact=True).select_option("Ann in Discord")
    await expect(page).to_have_url(f"{world.url}/#tasks?text=two+TEA&standing=succeeded&person=discord%3A1")
    # It is the same for whoever gets the address, and for whoever comes back.
    await rows.first.click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Tea for two")
    await page.go_back()
    await expect(rows).to_have_text(["Tea for two"])
    await expect(page.locator("#view .past")).to_be_focused()
    await page.reload()
    await expect(rows).to_have_text(["Tea for two"])
    await expect(page.get_by_label("Search tasks")).to_have_value("two TEA")
    await page.get_by_label("Status or outcome").select_option("cancelled")
    await expect(page.locator("#view")).to_contain_text("No matching tasks")
    await page.get_by_label("Search tasks").press("Escape")
    await expect(page.get_by_label("Search tasks")).to_be_focused()
    await expect(page.locator("#view .past")).to_have_count(100)
    await page.get_by_label("Status or outcome").select_option("failed")
    await expect(page.locator("#view .past")).to_have_count(100)
    await page.get_by_role("button", name="Show older tasks").click()
    await expect(page.locator("#view .past")).to_have_count(200)
    world.tables.tasks = [ended("251", Outcome.FAILED, text="just now"), *world.tables.tasks]
    await expect(rows.first).to_have_text("just now")
    await expect(page.locator("#view .past")).to_have_count(201)


async def test_no_tasks_yet(page: Page) -> None:
    await page.evaluate("location.hash = '#tasks'")
    await expect(page.locator("#view")).to_contain_text("No tasks yet")
