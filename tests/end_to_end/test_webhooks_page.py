"""A webhook is made, switched off and removed at the page of a real service."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.end_to_end.service import Place
from tests.end_to_end.test_page import opened
from tests.fixtures.axe import looks_right_everywhere

pytestmark = pytest.mark.page


async def test_a_webhook_is_made_switched_off_and_removed(place: Place) -> None:
    async with place.service() as service, opened(service.console) as page:
        await page.get_by_role("link", name="Schedules").click()
        panel = page.get_by_role("region", name="Webhooks")
        await panel.get_by_label("Address", exact=True).fill("https://10.0.0.1/hook")
        await panel.get_by_role("button", name="Add webhook").click()
        await expect(panel.locator(".connect-status.wrong")).to_contain_text("public addresses")
        await panel.get_by_label("Address", exact=True).fill("https://example.com/hook")
        await panel.get_by_label("when it asks").uncheck()
        await panel.get_by_role("button", name="Add webhook").click()
        await expect(panel.get_by_label("Secret (shown only once)")).to_have_value(re.compile("whsec_.{40,}"))
        row = panel.locator("li", has_text="https://example.com/hook")
        await expect(row).to_contain_text("ends, watches")
        await looks_right_everywhere(page, "webhooks")
        await row.get_by_role("button", name="Switch off").click()
        await expect(row).to_contain_text("Switched off.")
        await expect(panel.get_by_label("Secret (shown only once)")).not_to_be_visible()
        await row.get_by_role("button", name="Switch on").click()
        await expect(row).not_to_contain_text("Switched off.")
        await row.get_by_role("button", name="Remove").click()
        await row.get_by_role("button", name="End for good").click()
        await expect(row).to_have_count(0)
