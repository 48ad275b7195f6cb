from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.bot.web.v1.world import ApiWorld, open_api


@pytest.fixture
async def api(real_world: None, tmp_path: Path) -> AsyncIterator[ApiWorld]:  # noqa: ARG001
    async with open_api(tmp_path) as opened:
        yield opened
