"""A skill from its first save to each way of doing it again: the command line, all phones, a schedule, the API, MCP."""

from __future__ import annotations

import asyncio
import json
import time

import aiohttp
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.chaos.records import change, rows
from tests.end_to_end.service import Place

TASK = 'Open Notes, tap New note, type "First" into Title, type "Eggs and flour" into Note, tap Save'


async def noted(place: Place, title: str) -> None:
    """Returns once the phone has kept one note with this title."""
    async with asyncio.timeout(60):
        while title not in [note.title for note in place.phone.truth.notes]:
            await asyncio.sleep(0.1)
    notes = {note.title: note.body for note in place.phone.truth.notes}
    assert notes[title] == "Eggs and flour"


@pytest.mark.timeout(300)
async def test_a_saved_skill_is_done_in_every_way(place: Place) -> None:
    async with place.service() as service:
        assert (await place.opengui("do", TASK))[0] == 0
        saved = await place.opengui("save", "1", "as", "note", "title=First", "--yes")
        assert saved[0] == 0, saved
        done = await place.opengui("skill", "note", "title=From the command line")
        assert done[0] == 0, done
        await noted(place, "From the command line")
        done = await place.opengui("skill", "note", "title=On all", "--device", "all")
        assert done[0] == 0, done
        await noted(place, "On all")
        assert (await place.opengui("skill", "note", "size=large"))[0] == 64

        secret = (await place.opengui("token", "add", "home"))[1].strip()
        url, headers = service.console.partition("/?")[0], {"Authorization": f"Bearer {secret}"}
        async with aiohttp.ClientSession(headers=headers) as caller:
            wish = {"skill": "note", "arguments": {"title": "By the API"}}
            async with caller.post(f"{url}/api/v1/tasks", json=wish) as answer:
                assert answer.status == 201
            await noted(place, "By the API")
            plan = {"rule": "every 2h", "skill": "note", "arguments": {"title": "As planned"}}
            async with caller.post(f"{url}/api/v1/schedules", json=plan) as answer:
                assert (await answer.json())["options"]["arguments"] == {"title": "As planned"}
        change(place.data, f"UPDATE schedules SET due = {time.time()}")
        await noted(place, "As planned")

        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            given = {"name": "note", "arguments": {"title": "Over MCP"}, "wait_seconds": 60}
            assert not (await client.call_tool("run_skill", given)).is_error
            await noted(place, "Over MCP")
        assert "done in" in (await place.opengui("skills"))[1]
        used = rows(place.data, "SELECT outcome FROM tasks WHERE skill = 'note' AND parts = 0")
        assert {row[0] for row in used} == {"succeeded"}
    (row,) = [
        row
        for line in (await place.opengui("skills", "--json"))[1].splitlines()
        if (row := json.loads(line))["skill"] == "note"
    ]
    assert row["figures"]["runs"] == row["figures"]["succeeded"] == len(used), "read from the disk, beside no service"
