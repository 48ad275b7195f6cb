"""A small phone for each test: its frames are quick."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from devices.geometry import Size
from tests.agent.graph.rig import Rig, rig_on
from tests.fixtures.adb import AdbServer


@pytest.fixture
async def rig(adb_server: AdbServer) -> AsyncIterator[Rig]:
    """The agent on a small virtual phone."""
    async with rig_on(adb_server, size=Size(720, 1280)) as made:
        yield made
