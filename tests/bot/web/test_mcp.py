"""The phones as an MCP server, with the SDK's own client in both protocols, and with clients that mean harm."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as wire
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from agent.questions import QuestionKind
from agent.task_results import JsonSchema
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.domain.task_request import SkillCall, TaskOptions
from bot.people.subjects import Subject
from devices.phone import Health
from tests.bot.web.test_chat_completions import given
from tests.bot.web.v1.world import ApiWorld, open_api
from tests.bot.world import ANNA, BEN

BOTH = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


@pytest.fixture
async def api(real_world: None, tmp_path: Path) -> AsyncIterator[ApiWorld]:  # noqa: ARG001
    async with open_api(tmp_path) as opened:
        yield opened


@asynccontextmanager
async def connected(api: ApiWorld, mode: str, secret: str = "", **more: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {secret or await api.token('claude')}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(str(api.url.with_path("/mcp")), http_client=http), mode=mode, **more) as client,
    ):
        yield client


def words(result: wire.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, wire.TextContent))


@BOTH
async def test_phones_are_listed_and_looked_at(api: ApiWorld, mode: str) -> None:
    async with connected(api, mode) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {
            *("phones", "screenshot", "do", "skills", "run_skill", "task", "answer", "cancel", "add_file", "memories")
        }
        assert "Pixel" in words(await client.call_tool("phones"))
        shown = await client.call_tool("screenshot", {"phone": "Pixel"})
        assert isinstance(shown.content[0], wire.ImageContent)
        assert words(await client.call_tool("screenshot")).startswith("Which phone?")
        pixel, moto = api.world.phones.phones
        api.world.phones.phones = (pixel, replace(moto, health=Health.OFFLINE))
        assert isinstance((await client.call_tool("screenshot")).content[0], wire.ImageContent)
        refused = await client.call_tool("screenshot", {"phone": "Nokia"})
        assert refused.is_error
        assert words(refused).startswith("There is no phone called"), "without the library's own words around it"
        for wrong in ({}, {"task": ""}, {"task": 7}, {"task": "x", "wait_seconds": "soon"}):
            result = await client.call_tool("do", wrong)
            assert result.is_error
            assert words(result).startswith("The request is not valid: ")
            assert "pydantic" not in words(result)


@BOTH
async def test_a_task_is_done_with_progress(api: ApiWorld, mode: str) -> None:
    heard: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        heard.append(message or "")

    async with connected(api, mode) as client:
        call = client.call_tool("do", {"task": "open settings"}, progress_callback=progress)
        doing = asyncio.create_task(call)
        task = await given(api)
        await api.world.step(task, 1)
        await api.world.end(task)
        assert "It is done." in words(await doing)
    assert heard == ["Tapped Search"]


@BOTH
async def test_a_task_is_left_alone_asked_about_answered_and_ended(api: ApiWorld, mode: str) -> None:
    async with connected(api, mode) as client:
        assert "1" in words(await client.call_tool("do", {"task": "open settings", "wait_seconds": 0}))
        task = await given(api)
        await api.world.ask(task, choices=("a", "b"))
        for number in (task.id, int(task.id), f"#{task.id}"):
            assert "Which one?" in words(await client.call_tool("task", {"number": number}))
        assert not (await client.call_tool("answer", {"number": task.id, "text": "a"})).is_error
        assert ("answer", "a") in api.world.agent.asked
        assert not (await client.call_tool("cancel", {"number": task.id})).is_error
        await api.world.until(task, TaskState.ENDED)


@BOTH
async def test_a_skill_is_done_with_its_arguments(api: ApiWorld, mode: str) -> None:
    async with connected(api, mode) as client:
        name = next(iter(api.world.services.skills.found))
        assert name in words(await client.call_tool("skills"))
        asked = {"name": name, "arguments": {"size": "large"}, "phone": "Pixel", "wait_seconds": 0}
        assert not (await client.call_tool("run_skill", asked)).is_error
        task = await given(api)
        assert task.request.skill == SkillCall(name, {"size": "large"})
        unknown = await client.call_tool("run_skill", {"name": "make-gold", "wait_seconds": 0})
        assert (unknown.is_error, "make-gold" in words(unknown)) == (True, True)
        assert len(await api.world.task_service.recent(5)) == 1


@BOTH
@pytest.mark.parametrize("kind", [int, str])
async def test_a_number_is_taken_as_a_number(api: ApiWorld, mode: str, kind: type[int | str]) -> None:
    """Seen failing with `kind` int: the number of a task was taken as a text alone."""
    async with connected(api, mode) as client:
        name = next(iter(api.world.services.skills.found))
        values = {"minutes": kind(5), "share": 0.5, "loud": True}
        asked = {"name": name, "arguments": values, "wait_seconds": 0}
        assert not (await client.call_tool("run_skill", asked)).is_error
        task = await given(api)
        assert task.request.skill == SkillCall(name, {"minutes": "5", "share": "0.5", "loud": "true"})
        await api.world.ask(task)
        for tool, more in (("task", {}), ("answer", {"text": kind(7)}), ("cancel", {})):
            result = await client.call_tool(tool, {"number": kind(task.id), **more})
            assert not result.is_error, words(result)
        assert ("answer", "7") in api.world.agent.asked
        unknown = await client.call_tool("task", {"number": kind(99)})
        assert unknown.is_error
        (listed,) = [tool for tool in (await client.list_tools()).tools if tool.name == "task"]
        assert listed.input_schema["properties"]["number"]["anyOf"][0]["type"] == "integer"


@BOTH
async def test_a_file_is_handed_in_and_goes_with_a_task(api: ApiWorld, mode: str) -> None:
    data = bytes(range(256)) * 2000
    async with connected(api, mode) as client:
        file = {"name": "a.bin", "content": base64.b64encode(data).decode()}
        reference = words(await client.call_tool("add_file", file))
        how = {"files": [{"name": "a.bin", "content": reference}]}
        assert not (await client.call_tool("do", {"task": "send it", "how": how, "wait_seconds": 0})).is_error
        assert (await client.call_tool("add_file", {"name": "a", "content": "no base64!"})).is_error
    (kept,) = (await given(api)).request.files
    assert await api.world.store.frames.load(kept.content) == data


@BOTH
async def test_what_is_remembered_is_told_to_its_person_alone(api: ApiWorld, mode: str) -> None:
    for person, text in ((ANNA, "My cat is called Mia"), (BEN, "I am allergic to nuts")):
        await api.world.services.memory.remember(str(Subject.of_person(person)), text)
    async with connected(api, mode, await api.token("anna", owner=ANNA)) as client:
        assert words(await client.call_tool("memories")) == "#1 My cat is called Mia"


@BOTH
async def test_how_a_task_is_done_is_said_with_it(api: ApiWorld, mode: str) -> None:
    schema = {"type": "object", "required": ["price"]}
    how = {"deep": True, "search": True, "member": "researcher", "max_steps": 7, "result_schema": schema}
    async with connected(api, mode) as client:
        assert not (await client.call_tool("do", {"task": "look", "how": how, "wait_seconds": 0})).is_error
    request = (await given(api)).request
    assert request.options == TaskOptions(deep=True, search=True, member="researcher")
    assert request.max_steps == 7
    assert request.result_schema == JsonSchema(document=schema)


@BOTH
async def test_what_is_no_schema_is_refused(api: ApiWorld, mode: str) -> None:
    async with connected(api, mode) as client:
        told = await client.call_tool("do", {"task": "look", "how": {"result_schema": {"type": "nix"}}})
    assert told.is_error
    assert api.world.agent.orders == []


@BOTH
async def test_a_question_reaches_a_client_that_can_ask(api: ApiWorld, mode: str) -> None:
    async def ask(_context: Any, params: wire.ElicitRequestParams) -> wire.ElicitResult:
        assert "Which one?" in params.message
        return wire.ElicitResult(action="accept", content={"answer": "b"})

    async with connected(api, mode, elicitation_callback=ask) as client:
        doing = asyncio.create_task(client.call_tool("do", {"task": "open settings"}))
        task = await given(api)
        api_question = asyncio.create_task(api.world.ask(task))
        async with asyncio.timeout(10):
            while ("answer", "b") not in api.world.agent.asked:
                await asyncio.sleep(0.01)
        api_question.cancel()
        await api.world.end(task)
        assert "It is done." in words(await doing)
        assert len(await api.world.task_service.recent(10)) == 1


@BOTH
@pytest.mark.parametrize("content", [{}, {"answer": 7}, {"answer": ["a", "b"]}, {"other": "b"}])
async def test_an_answer_that_is_nonsense_answers_nothing(api: ApiWorld, mode: str, content: Any) -> None:
    """Seen failing with whatever came taken as text: the task went on with "['a', 'b']"."""

    async def ask(_context: Any, _params: wire.ElicitRequestParams) -> wire.ElicitResult:
        return wire.ElicitResult(action="accept", content=content)

    async with connected(api, mode, elicitation_callback=ask) as client:
        doing = asyncio.create_task(client.call_tool("do", {"task": "open settings"}))
        task = await given(api)
        await api.world.ask(task)
        async with asyncio.timeout(10):
            assert (await doing).is_error
        assert not [said for said in api.world.agent.asked if said[0] == "answer"]
        assert (await api.world.task_service.known(task.id)).state is TaskState.WAITING


async def approval(api: ApiWorld, client: Client) -> tuple[Task, wire.CallToolResult]:
    doing = asyncio.create_task(client.call_tool("do", {"task": "pay"}))
    task = await given(api)
    await api.world.ask(task, QuestionKind.APPROVE)
    assert "Which one?" in words(await doing)
    return task, await client.call_tool("answer", {"number": task.id, "text": "allow"})


@BOTH
async def test_nothing_is_approved_through_mcp(api: ApiWorld, mode: str) -> None:
    """Seen failing without the look at the kind: the client's model allowed a payment. The token has the right."""
    secret = await api.token("strong", Right.APPROVE)
    async with connected(api, mode, secret) as client:
        task, told = await approval(api, client)
        assert told.is_error
        assert "only a person" in words(told)
        assert (await api.world.task_service.known(task.id)).state is TaskState.WAITING


async def test_a_token_that_is_trusted_in_it_may_approve(api: ApiWorld) -> None:
    secret = await api.token("trusted", Right.APPROVE, approves_by_mcp=True)
    async with connected(api, "2026-07-28", secret) as client:
        _, told = await approval(api, client)
        assert not told.is_error
        assert ("answer", "allow") in api.world.agent.asked


async def test_anothers_task_is_not_there(api: ApiWorld) -> None:
    other = await api.token("other")
    async with connected(api, "2026-07-28") as client:
        await client.call_tool("do", {"task": "open settings", "wait_seconds": 0})
        task = await given(api)
    async with connected(api, "2026-07-28", other) as client:
        for tool in ("task", "cancel"):
            assert (await client.call_tool(tool, {"number": task.id})).is_error
    assert (await api.world.task_service.known(task.id)).state is not TaskState.ENDED


async def test_sessions_are_capped_and_belong_to_their_token(api: ApiWorld) -> None:
    """Seen failing without the cap and the owner: the sixth session began, and another token used the first."""
    start = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    accepts = {"Accept": "application/json, text/event-stream"}
    mine = {"Authorization": f"Bearer {await api.token('mine')}", **accepts}
    other = {"Authorization": f"Bearer {await api.token('other')}", **accepts}
    path = api.url.with_path("/mcp")
    found, sessions = [], []
    for _ in range(7):
        async with api.session.post(path, json=start, headers=mine) as response:
            found.append(response.status)
            sessions.append(response.headers.get("Mcp-Session-Id", ""))
    assert found == [200] * 5 + [503] * 2
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    more = {"Mcp-Session-Id": sessions[0], "MCP-Protocol-Version": "2025-11-25"}
    async with api.session.post(path, json=listing, headers=other | more) as response:
        assert response.status == 404
    async with connected(api, "2026-07-28") as client:
        assert not (await client.call_tool("phones")).is_error


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"[" * 50_000, b"x" * 300_000])
async def test_nonsense_is_refused(api: ApiWorld, body: bytes) -> None:
    headers = {
        "Authorization": f"Bearer {await api.token('x')}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    async with api.session.post(api.url.with_path("/mcp"), data=body, headers=headers) as response:
        assert 400 <= response.status < 500
