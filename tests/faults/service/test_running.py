"""The running service while something it needs is away: it says what it waits for, and goes on by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.end_to_end.brain import FINISH, Act, call, tap
from tests.end_to_end.service import Place, Service, place_with
from tests.end_to_end.test_telegram import Town, town
from tests.fakes.model_server import Answer, Recorded
from tests.fixtures.adb import AdbServer


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Place]:
    async with place_with(adb_server, tmp_path) as made:
        yield made


def then(happens: Callable[[], None], act: Act) -> Act:
    """Something happens in the moment in which the model is asked."""

    def think(request: Recorded) -> Answer:
        happens()
        return act(request)

    return think


def finals(here: Town) -> int:
    return sum("It is done." in message.text for message in here.fake.from_bot(here.group))


def switched_on(place: Place) -> bool:
    return place.phone.truth.toggles["bluetooth"]


async def test_a_full_disk_is_waited_for(place: Place) -> None:
    """Work stands still, whoever asks is told, and after room was made the task ends as if nothing had been."""
    services: list[Service] = []
    full = then(lambda: services[0].room(0), tap("Bluetooth"))
    acts = [call("open_app", name="Settings"), full, FINISH]
    async with town(*acts) as here, place.service(**here.settings) as service:
        services.append(service)
        await here.fake.connected()
        await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
        await service.waits_for("store")
        health = await service.health()
        assert not health["healthy"]
        assert health["wrong"] == ["store"]
        assert not switched_on(place), "nothing is done that cannot be journalled before"
        code, told, _ = await place.opengui("doctor")
        assert code != 0
        assert "has waited for store" in told
        await here.fake.say(here.alice, here.group, "/do something else")
        await here.bot_says("could not be used", here.group)
        service.room(None)
        await here.bot_says("It is done.", here.group)
        await service.waits_for()
        assert switched_on(place)
        assert finals(here) == 1
        assert service.log.count("Nothing can be written") < 4, "a line for each file, and not for each try"
        assert "Traceback" not in service.log
