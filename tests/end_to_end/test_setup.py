"""The first visit to a fresh service, in a real Chromium: a model from the menu, a phone, and the first task."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.brain import FINISH, brain
from tests.end_to_end.service import Place
from tests.end_to_end.test_page import LIMIT_MS, opened
from tests.fakes.model_server import ModelServer
from tests.fixtures.axe import looks_right_everywhere

pytestmark = pytest.mark.page


async def test_a_model_is_chosen_from_the_menu_and_the_phone_comes_next(place: Place) -> None:
    listed = {"data": [{"id": "a-model"}, {"id": "another"}]}
    async with (
        ModelServer(brain(FINISH), key="right", listed=listed) as model,
        place.service() as service,
        opened(service.console) as page,
    ):
        await page.get_by_role("link", name="Set up model and phone").click()
        menu = page.get_by_label("Models at this address")
        await page.get_by_label("Endpoint address").fill(model.base_url)
        await page.get_by_label("Key", exact=True).fill("right")
        await page.keyboard.press("Tab")
        await menu.select_option("a-model")
        await expect(page.get_by_label("Model name")).to_have_value("a-model")
        await looks_right_everywhere(page, "the model of the setup")
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_role("heading", name="With a cable")).to_be_visible(timeout=LIMIT_MS)
        await looks_right_everywhere(page, "the phone of the setup")
        await page.get_by_role("link", name="Go on").click()
        await expect(page.get_by_role("link", name="Telegram")).to_have_attribute("href", "#connect-telegram")
        await looks_right_everywhere(page, "the end of the setup")
        await page.get_by_role("link", name="Give a task").click()
        await expect(page.get_by_label("Command", exact=True)).to_be_visible()
        assert model.base_url in (place.data / "settings.json").read_text(encoding="utf-8")


async def test_who_goes_on_without_is_not_asked_again(place: Place) -> None:
    async with place.service() as service, opened(service.console) as page:
        start = page.get_by_role("link", name="Set up model and phone")
        await expect(start).to_be_visible()
        await looks_right_everywhere(page, "the first visit")
        await page.get_by_role("button", name="Go on without").click()
        await expect(start).not_to_be_visible()
        await page.reload()
        await expect(page.get_by_role("link", name="Connect a model")).to_be_visible()
        await expect(start).not_to_be_visible()
