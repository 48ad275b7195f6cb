"""A fleet for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.service import Place, place_with
from tests.fixtures.adb import AdbServer
from tests.fleet.rig import HASTY, EngineKind, FleetRig, fleet_rig


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.fleet)])
def kind(request: pytest.FixtureRequest) -> EngineKind:
    """Which engine is between hub and hosts."""
    found: EngineKind = request.param
    return found


@pytest.fixture
async def fleet(real_world: None, tmp_path: Path, kind: EngineKind) -> AsyncIterator[FleetRig]:  # noqa: ARG001
    """A hub without hosts."""
    async with fleet_rig(tmp_path, kind) as made:
        yield made


@pytest.fixture
async def hasty(real_world: None, tmp_path: Path, kind: EngineKind) -> AsyncIterator[FleetRig]:  # noqa: ARG001
    """The same, where who is not heard for three seconds is away."""
    async with fleet_rig(tmp_path, kind, HASTY) as made:
        yield made


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Place]:
    """A machine with a virtual phone on a real adb server."""
    async with place_with(adb_server, tmp_path) as made:
        yield made
