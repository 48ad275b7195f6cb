"""A machine with a phone for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.service import Place, place_with
from tests.fixtures.adb import AdbServer


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Place]:
    """A virtual phone on a real adb server, and nothing configured."""
    async with place_with(adb_server, tmp_path) as made:
        yield made
