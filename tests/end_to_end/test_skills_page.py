"""A result becomes a skill, the skill is run from its form, and a value is watched: at the page of a real service."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.end_to_end.service import Place
from tests.end_to_end.test_page import LIMIT_MS, opened, type_command
from tests.end_to_end.test_watch import is_due
from tests.fixtures.axe import looks_right_everywhere

pytestmark = pytest.mark.page

NOTE = 'open notes, tap New note, type "Buy milk" and tap Save'


async def test_a_result_is_saved_as_a_skill_and_run_from_its_form(place: Place) -> None:
    async with place.service() as service, opened(service.console) as page:
        await type_command(page, NOTE)
        await page.get_by_role("button", name="Save as skill").click(timeout=LIMIT_MS)
        await page.get_by_label("Name", exact=True).fill("note-it")
        await page.get_by_role("button", name="Preview").click()
        dialog = page.get_by_role("dialog", name="Save as skill")
        await expect(dialog.locator(".save-task")).to_contain_text("{")
        await expect(dialog.get_by_label("Value in this task")).to_have_value("Buy milk")
        # What is confirmed is what was shown: another name of the parameter is looked at first.
        await dialog.get_by_label("Parameter", exact=True).fill("what")
        await dialog.get_by_role("button", name="Preview").click()
        await expect(dialog.locator(".save-task")).to_contain_text("{what}")
        await dialog.get_by_role("button", name="Save as note-it").click()
        card = page.locator(".skill[open]")
        await expect(card).to_contain_text("It has not run yet.")
        await card.get_by_label("what").fill("Buy “fresh” bread")
        await card.get_by_role("button", name="Run", exact=True).click()
        await expect(page.locator(".result .answer")).to_contain_text("Done, as it was recorded", timeout=LIMIT_MS)
        await expect(page.get_by_role("heading", level=1)).to_contain_text("Buy “fresh” bread")
        await page.evaluate("location.hash = '#skills-note-it'")
        await expect(card).to_contain_text("100 % · 1 run")
        await expect(card).to_contain_text("proven")
        await looks_right_everywhere(page, "a skill")
        await card.get_by_role("button", name="Rename: note-it").click()
        await card.get_by_label("New name").fill("write-note")
        await card.get_by_role("button", name="Rename", exact=True).click()
        renamed = page.locator(".skill", has_text="write-note")
        await renamed.locator("summary").click()
        await renamed.get_by_role("button", name="Delete: write-note").click()
        assert (place.data / "skills/write-note/SKILL.md").exists()
        await renamed.get_by_role("button", name="Delete for good: write-note").click()
        await expect(page.locator(".skill", has_text="write-note")).to_have_count(0)
        assert not (place.data / "skills/write-note").exists()


async def test_a_value_is_watched_once_a_person_has_seen_what_is_read(place: Place) -> None:
    async with place.service() as service, opened(service.console) as page:
        await page.get_by_role("link", name="Schedules").click()
        await page.get_by_label("When", exact=True).select_option("period")
        await page.get_by_label("What to do", exact=True).fill("open Shop, tap Blue mug, read the price")
        await page.get_by_label("Tell me").select_option("below")
        await page.get_by_label("What is read").fill("the price")
        await page.get_by_label("Value").fill("5")
        await page.get_by_role("button", name="Add schedule").click()
        await expect(page.locator(".watch-review")).to_contain_text("Each time, it reads price, one number.")
        watch = page.locator(".watch")
        await expect(watch.locator(".badge")).to_have_text("paused")
        await page.get_by_role("button", name="Watch it").click()
        await expect(watch.locator(".badge")).to_have_text("watching")
        await expect(watch).to_contain_text("You get a message when it is below 5.")
        await is_due(place)
        await expect(watch.locator(".watch-value")).to_have_text("9.50 $", timeout=LIMIT_MS)
        await expect(watch).to_contain_text(re.compile(r"Read \w+ \w+, \d\d:\d\d"))
        # The shop is left open on the mug, where nothing is called so: the value stays, with what came after it.
        await is_due(place)
        await expect(watch).to_contain_text("The latest reading did not find it.", timeout=LIMIT_MS)
        await expect(watch.locator(".watch-value")).to_have_text("9.50 $")
        await page.get_by_label("When", exact=True).select_option("words")
        await page.get_by_label("In your own words").fill("sometimes")
        await page.get_by_label("What to do", exact=True).fill("open settings")
        await page.get_by_role("button", name="Add schedule").click()
        await expect(page.locator(".connect-status.wrong")).not_to_be_empty()
        await expect(page.get_by_label("What to do", exact=True)).to_have_value("open settings")
        await looks_right_everywhere(page, "a watch")
        await watch.get_by_role("button", name=re.compile("^Stop watching")).click()
        await watch.get_by_role("button", name=re.compile("^End for good")).click()
        await expect(page.get_by_role("heading", name="Nothing is planned yet")).to_be_visible()


async def test_a_folder_is_dropped_on_the_page(place: Place) -> None:
    async with place.service() as service, opened(service.console) as page:
        await page.get_by_role("link", name="Skills").click()
        folder = place.directory / "tea"
        folder.mkdir()
        (folder / "SKILL.md").write_text("---\nname: tea\ndescription: How to make tea.\n---\nBoil water.\n")
        choose = page.locator("input[type=file][webkitdirectory]")
        await choose.set_input_files(folder)
        await expect(page.get_by_text("tea can be followed from now on.")).to_be_visible()
        await expect(page.locator(".skill", has_text="How to make tea.")).to_be_visible()
        await choose.set_input_files(folder)
        await expect(page.get_by_text("There is already a folder tea")).to_be_visible()
        await page.get_by_role("button", name="Replace it").click()
        await expect(page.get_by_text("tea can be followed from now on.")).to_be_visible()
        (folder / "SKILL.md").write_text("---\nname: coffee\ndescription: x\n---\n")
        await page.get_by_role("link", name="Connect", exact=True).click()
        await page.locator(".connect-list").get_by_role("link", name="Members").click()
        await choose.set_input_files(folder)
        await expect(page.get_by_text("There is no AGENTS.md in it.")).to_be_visible()
        # Every section, as it looks to a screen reader.
        for name in ("model", "phones", "members", "people", "tokens", "hosts"):
            await page.evaluate("name => { location.hash = `#connect-${name}`; }", name)
            await expect(page.locator(f"#connect-{name}")).to_be_visible()
            await looks_right_everywhere(page, name)
