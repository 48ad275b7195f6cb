"""The memory of the service is limited: what finds no room is waited for, and nothing is lost or done twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.brain import FINISH, Act, call, tap
from tests.end_to_end.service import Place, Service, place_with
from tests.end_to_end.test_telegram import town
from tests.faults.service.test_running import finals, switched_on, then
from tests.fixtures.adb import AdbServer

ALMOST_NONE = 1_000_000
"""Bytes: enough for all that is small, far too little for a picture."""
UNFOLDED = 3840
"""Pixels each way, of a picture that finds no room in the memory that the service keeps for the next one either."""


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Place]:
    async with place_with(adb_server, tmp_path) as made:
        yield made


def tight(place: Place, services: list[Service]) -> Act:
    """No more memory while the model is asked first, and the next picture is larger than all before."""

    def happens() -> None:
        if place.phone.state.width != UNFOLDED:
            services[0].memory(ALMOST_NONE)
            place.phone.state.resize(UNFOLDED, UNFOLDED)

    return then(happens, switching(place))


def switching(place: Place) -> Act:
    """Switches Bluetooth on, whatever became of the answers before: those to a screen that could not be looked at again
    are thrown away.
    """
    touch = tap("Bluetooth")
    return lambda request: FINISH(request) if switched_on(place) else touch(request)


async def test_a_picture_that_finds_no_memory_is_waited_for(place: Place) -> None:
    """In the middle of a task. Seen failing before there was a wait: the task had failed as a fault of the program."""
    services: list[Service] = []
    switch = switching(place)
    async with town(call("open_app", name="Settings"), tight(place, services), switch, switch, switch) as here:
        async with place.service(**here.settings) as service:
            services.append(service)
            await here.fake.connected()
            await place.opengui("doctor")  # the API is loaded by its first request, for which there is memory now
            await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
            await here.bot_says("has no memory for the next picture", here.group)
            await service.waits_for("memory")
            assert (await service.health())["healthy"], "chats and questions go on"
            _, told, _ = await place.opengui("doctor")
            assert "has been waiting for memory" in told
            assert finals(here) == 0
            service.memory(None)
            await here.bot_says("It is done.", here.group)
            await service.waits_for()
        assert "Traceback" not in service.log
    assert switched_on(place)
    assert finals(here) == 1
    touches = [entry.receipt for entry in place.phone.journal.inputs() if entry.receipt]
    assert len(touches) == len(set(touches))


async def test_killed_for_its_memory_it_goes_on_after_the_next_start(place: Place) -> None:
    """As the kernel does above a hard limit: without a word, in the middle of a task, while a picture is waited for."""
    services: list[Service] = []
    switch = switching(place)
    async with town(call("open_app", name="Settings"), tight(place, services), switch, switch, switch) as here:
        async with place.service(**here.settings) as service:
            services.append(service)
            await here.fake.connected()
            await here.fake.say(here.alice, here.group, "/do switch Bluetooth on")
            await here.bot_says("has no memory for the next picture", here.group)
            await service.kill()
        async with place.service(**here.settings):
            question = await here.bot_says("the service restarted", here.group)
            (resume,) = [data for data, label in question.buttons.items() if label == "Resume"]
            await here.fake.press(here.alice, question, resume)
            await here.bot_says("It is done.", here.group)
    assert switched_on(place)
    assert finals(here) == 1
    touches = [entry.receipt for entry in place.phone.journal.inputs() if entry.receipt]
    assert len(touches) == len(set(touches))
