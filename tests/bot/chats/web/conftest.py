from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.bot.chats.web.world import World, open_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A running console on real SQLite, with a tiny intake behind it."""
    async with open_world(tmp_path) as opened:
        yield opened


@pytest.fixture
async def client(world: World) -> AsyncIterator[aiohttp.ClientSession]:
    """A caller who carries the token, as the command line does."""
    headers = {"Authorization": f"Bearer {world.token}"}
    async with aiohttp.ClientSession(world.url, headers=headers, timeout=aiohttp.ClientTimeout(total=20)) as session:
        yield session
