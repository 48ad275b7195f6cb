"""A host is invited in the page, joins with the command that stands there, and is seen to have joined."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.end_to_end.test_page import LIMIT_MS, opened
from tests.fixtures.adb import AdbServer
from tests.fixtures.axe import looks_right_everywhere
from tests.fleet.chaos import HostProcess
from tests.fleet.place import FleetPlace, fleet_place_with

pytestmark = [pytest.mark.fleet, pytest.mark.slow]


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[FleetPlace]:
    """A hub, and a host that has joined."""
    async with fleet_place_with(adb_server, tmp_path) as made:
        yield made


async def test_a_host_joins_with_the_command_of_the_page(place: FleetPlace) -> None:
    async with place.service() as hub, opened(hub.console) as page:
        await page.evaluate("location.hash = '#connect-hosts'")
        panel = page.get_by_role("region", name="Hosts")
        await expect(panel.locator("li", has_text="shelf")).to_contain_text("online", timeout=LIMIT_MS)
        await panel.get_by_label("Name").fill("basement")
        await panel.get_by_role("button", name="Make the command").click()
        line = panel.locator("#connect-hosts-line")
        await expect(line).to_be_visible()
        await looks_right_everywhere(page, "hosts")
        command = shlex.split(await line.input_value())
        assert command[:3] == ["opengui", "host", "--join"]
        (place.directory / "basement").mkdir()
        other = HostProcess(place, place.directory / "basement")
        other.serial = "none"
        try:
            await other.start(*command[2:])
            await expect(panel.locator("li", has_text="basement")).to_contain_text("online", timeout=LIMIT_MS)
            await expect(line).to_be_hidden()
        finally:
            await other.end()
