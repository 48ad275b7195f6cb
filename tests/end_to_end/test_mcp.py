"""A phone for an MCP client: `opengui run` with the virtual phone, over HTTP and through `opengui mcp`."""

from __future__ import annotations

import sys

import httpx2
import mcp_types as wire
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.end_to_end.service import Place


async def used(client: Client) -> None:
    shown = await client.call_tool("screenshot")
    assert isinstance(shown.content[0], wire.ImageContent)
    told = await client.call_tool("do", {"task": "open Settings", "wait_seconds": 60})
    assert isinstance(told.content[0], wire.TextContent)
    assert not told.is_error
    text = (await client.call_tool("task", {"number": "1"})).content[0]
    assert isinstance(text, wire.TextContent)
    assert "Settings" in text.text


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_client_uses_the_phone(place: Place, mode: str) -> None:
    async with place.service() as service:
        code, secret, error = await place.opengui("token", "add", "claude")
        assert code == 0, error
        url = service.console.partition("/?")[0]
        headers = {"Authorization": f"Bearer {secret.strip()}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
        ):
            await used(client)
        environment = place.environment({"OPENGUI_TOKEN": secret.strip()})
        started = StdioServerParameters(command=sys.executable, args=["-m", "bot.cli", "mcp"], env=environment)
        async with Client(started, mode=mode) as client:
            assert len((await client.list_tools()).tools) == 10
            assert not (await client.call_tool("phones")).is_error
            looked = await client.call_tool("screenshot")
            assert isinstance(looked.content[0], wire.ImageContent)
