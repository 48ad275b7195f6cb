"""What may be wrong with the machine of a host while its phone is used through a hub, each with real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.brain import FINISH, call, tap
from tests.end_to_end.test_telegram import bluetooth_is_on, town
from tests.faults.service.test_running import finals, then
from tests.fixtures.adb import AdbServer
from tests.fleet.chaos import HostProcess
from tests.fleet.place import fleet_place_with

pytestmark = [pytest.mark.fleet, pytest.mark.slow]


async def test_a_full_disk_at_the_host_is_waited_for(adb_server: AdbServer, tmp_path: Path) -> None:
    """Nothing is done that cannot be written down before; after room was made the task ends as if nothing had been."""
    async with fleet_place_with(adb_server, tmp_path) as place:

        def host() -> HostProcess:
            assert place.host is not None
            return place.host

        acts = [call("open_app", name="Settings"), then(lambda: host().room(0), tap("Bluetooth")), FINISH]
        async with town(*acts) as here, place.service(**here.settings):
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
            await host().says("Nothing can be written")
            assert not bluetooth_is_on(place)
            assert finals(here) == 0
            host().room(None)
            await here.bot_says("It is done.", here.group)
            assert bluetooth_is_on(place)
            assert finals(here) == 1
            assert "Traceback" not in host().log
