"""Whoever reaches the console's port does not stop the service by connecting to it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from itertools import cycle

import aiohttp
import pytest
from yarl import URL

from tests.end_to_end.service import Place

CONNECTIONS = 2000
SAID = [
    b"",
    b"GET / HTTP/1.1\r\nHost: 127",
    b"POST /api/sign-in HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
    b"GET / HTTP/1.0\r\n",
]


@pytest.mark.parametrize("files", [1024, 256])
async def test_two_thousand_idle_connections_stop_nothing(place: Place, files: int) -> None:
    """Seen failing before: with all its files used up the service did not answer the command line any more."""
    place.open_files = files
    async with place.service() as service, AsyncExitStack() as opened:
        port = URL(service.console).port
        for said, _ in zip(cycle(SAID), range(CONNECTIONS), strict=False):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.callback(writer.close)
            writer.write(said)
        code, out, err = await place.opengui("do", "go home", "--quick")
        assert code in {0, 2}, err + out
        assert (await service.health())["healthy"]
        assert service.needs().handles < files
        async with aiohttp.ClientSession() as caller, caller.get(service.console) as page:
            assert page.status == 200
        assert "idle ones are closed" in service.log
        assert "Too many open files" not in service.log
