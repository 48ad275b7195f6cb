"""One phone for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.agent.graph.rig import Rig, rig_on
from tests.fixtures.adb import AdbServer


@pytest.fixture
async def rig(adb_server: AdbServer) -> AsyncIterator[Rig]:
    """The mind on a virtual phone."""
    async with rig_on(adb_server) as made:
        yield made
