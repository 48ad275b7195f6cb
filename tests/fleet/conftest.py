"""A fleet for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fleet.rig import FleetRig, fleet_rig


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[FleetRig]:
    """A hub over a real engine, without hosts."""
    async with fleet_rig(tmp_path) as made:
        yield made
