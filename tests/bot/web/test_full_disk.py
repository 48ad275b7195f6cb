"""What the console says when nothing can be stored."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
from starlette.requests import Request
from starlette.responses import Response

from bot.domain.right import Right
from bot.store.errors import StoreAway
from bot.texts import words
from bot.web.http import get
from tests.bot.web.world import open_world

pytestmark = pytest.mark.slow


async def test_a_full_disk_is_told_with_its_reason(tmp_path: Path) -> None:
    """Seen failing without the handler: 500 and no word."""

    async def full(_request: Request) -> Response:
        raise StoreAway(words("store.no_room", reason="No space left on device"))

    async with open_world(tmp_path, beside=[get("/api/full", full, Right.USE)]) as console:
        headers = {"Authorization": f"Bearer {console.token}"}
        async with aiohttp.ClientSession(console.url, headers=headers) as session:
            async with session.get("/api/full") as response:
                assert response.status == 503
                assert "No space left on device" in (await response.json())["message"]
            async with session.get("/api/state") as response:
                assert (await response.json())["held_up"] == []
