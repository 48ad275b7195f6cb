"""A picture is sent at the size that the model keeps, that size is declared, and a point on it is the right pixel."""

from __future__ import annotations

import math
import re

import pytest

from agent.dialects.select import image_size_for
from agent.run import Outcome
from devices.geometry import Bounds, Point, Size
from tests.agent.graph.rig import rig_on
from tests.agent.providers.speaking import CHECKING, PROVEN, Speech, acting
from tests.agent.providers.world import World, world
from tests.fakes.model_server import Answer, ModelServer, Recorded
from tests.fixtures.adb import AdbServer

SCREENS = {
    "landscape": (Size(1080, 2400), 1),
    "large": (Size(1440, 3120), 0),
}
MODELS = {
    "tools": "claude-3-7-sonnet",
    "mobile-use": "qwen3-vl",
    "ui-tars": "ui-tars-2b",
    "ui-tars-1.5": "ui-tars-1.5-7b",
    "autoglm": "autoglm-phone-9b",
    "mai-ui": "mai-ui-8b",
    "gelab": "gelab-zero-4b-preview",
}


@pytest.mark.parametrize("dialect", MODELS)
@pytest.mark.parametrize("screen", SCREENS)
async def test_the_touched_pixel_lies_in_the_wanted_element(adb_server: AdbServer, screen: str, dialect: str) -> None:
    """The model aims by the picture alone. Seen failing in landscape and on the large phone with `ScreenView.native`
    giving
    the point back as it is, and for every size with `thousandths` of the grid the other way round.
    """
    size, rotation = SCREENS[screen]
    async with rig_on(adb_server, size=size) as rig:
        rig.phone.rotate(rotation)
        aiming = Aiming(dialect)
        async with world(rig, ModelServer(aiming), dialect=dialect, model=MODELS[dialect]) as there:
            aiming.world = there
            end = await there.do()
            assert end.outcome is Outcome.SUCCEEDED
            assert there.bluetooth
            sent = acting(there.server.requests)
        native = size if rotation % 2 == 0 else Size(size.height, size.width)
        kept = image_size_for(MODELS[dialect], native)
        assert {request.images[0].size for request in sent} == {kept}
        assert f"{kept.width} pixels wide and {kept.height} pixels high" in sent[0].text
        touched = [re.search(r"input tap (\d+) (\d+)", line) for line in rig.inputs()]
        (point,) = [Point(int(found[1]), int(found[2])) for found in touched if found]
        assert aiming.wanted is not None
        assert aiming.wanted.left <= point.x < aiming.wanted.right
        assert aiming.wanted.top <= point.y < aiming.wanted.bottom


class Aiming:
    """A model that looks at nothing but its picture: the label is found on the phone, as an eye would find it."""

    world: World
    wanted: Bounds | None = None

    def __init__(self, dialect: str) -> None:
        self._speech = Speech(dialect)

    def __call__(self, request: Recorded) -> Answer:
        """Open the settings, touch the label, say that it is done."""
        if CHECKING in request.text:
            return Answer(text=PROVEN)
        if self.wanted is not None:
            return self._speech.finish()
        tree = self.world.rig.phone.elements(compressed=True)
        found = re.search(r'text="Bluetooth"[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', tree)
        if found is None:
            return self._speech.open_app("Settings")
        self.wanted = Bounds(*(int(edge) for edge in found.groups()))
        return self._speech.tap(*self._seen_at(self.wanted.centre, Size(*self.world.rig.phone.scene().size), request))

    def _seen_at(self, native: Point, screen: Size, request: Recorded) -> tuple[int, int]:
        """Where this pixel of the phone is on the picture, as the model writes places."""
        picture = request.images[-1].size
        x, y = native.x / screen.width, native.y / screen.height
        if self.world.dialect in {"tools", "ui-tars-1.5"}:
            return math.floor(x * picture.width), math.floor(y * picture.height)
        return round(x * 1000), round(y * 1000)
