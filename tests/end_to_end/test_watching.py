"""The running service as a watcher sees it, and that nobody else is told anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from bot.monitoring.tracing import SWITCHES
from tests.end_to_end.service import Place


async def test_health_and_numbers_are_served_beside_the_console(place: Place) -> None:
    async with place.service() as service, aiohttp.ClientSession() as caller:
        origin = service.console.partition("/?")[0]
        async with caller.get(f"{origin}/healthz") as response:
            assert response.status == 200
            assert (await response.json())["healthy"]
        async with caller.get(f"{origin}/metrics") as response:
            text = await response.text()
    assert 'opengui_phones{health="ready"} 1.0' in text
    assert "process_resident_memory_bytes" in text
    assert place.phone.address not in text


@asynccontextmanager
async def collector(heard: list[str]) -> AsyncIterator[str]:
    """A server that writes down who sends it something."""

    async def hear(request: web.Request) -> web.Response:
        heard.append(request.path)
        return web.json_response({})

    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", hear)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_no_variable_has_tasks_sent_to_langsmith(place: Place) -> None:
    """Must fail without `keep_tracing_off`: the server then gets every prompt."""
    heard: list[str] = []
    async with collector(heard) as url:
        switches = dict.fromkeys(SWITCHES, "true")
        endpoint = {"LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "lsv2_x"}
        code, out, err = await place.opengui("do", "open settings", "--quick", "--json", **switches, **endpoint)
    assert code in {0, 2}, err
    assert '"final"' in out
    assert heard == []
    assert "LANGSMITH_TRACING" in err
    assert "is ignored" in err


async def test_a_switch_that_is_off_already_is_no_news(place: Place) -> None:
    code, _, err = await place.opengui("graph", **dict.fromkeys(SWITCHES, "false"))
    assert (code, err) == (0, "")
