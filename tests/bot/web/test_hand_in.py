from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from agent.events import Asked, Planned, Step, TaskEnded
from agent.models.base import Usage
from agent.outcome import Outcome
from agent.questions import Question, QuestionKind
from agent.run_id import RunId
from bot.domain.incoming import Attachment
from bot.domain.outgoing import Message, Reply
from bot.web.chat import OPERATOR
from tests.bot.web.world import World

STEP = Step(
    run=RunId("7"),
    subtask=1,
    step=3,
    max_steps=60,
    summary="Tapped Wi-Fi",
    action={"kind": "tap"},
    app="Settings",
    frame="a.jpg",
    usage=Usage(input=10, output=2),
)
ASKED = Asked(question=Question(id="q1", run=RunId("7"), kind=QuestionKind.ASK, text="Which?", choices=("a", "b")))
END = TaskEnded(outcome=Outcome.SUCCEEDED, summary="Done.", data="91 %", steps=3, usage=Usage(input=30, output=6))


async def line(response: aiohttp.ClientResponse) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(await asyncio.wait_for(response.content.readline(), 10))
    return parsed


async def test_a_task_is_given_and_followed_to_its_end(world: World, client: aiohttp.ClientSession) -> None:
    world.intake.reply = lambda _: Reply(task="7")
    async with client.post("/api/do", json={"text": "wifi on", "device": "pixel", "quick": True}) as response:
        assert response.content_type == "application/x-ndjson"
        assert await line(response) == {"type": "task", "task": "7"}
        await world.runs.queue.put(Planned(plan="look"))
        assert (await line(response))["type"] == "planned"
        await world.runs.queue.put(STEP)
        step = await line(response)
        assert {key: step[key] for key in ("type", "step", "summary", "action", "app", "frame")} == {
            "type": "step",
            "step": 3,
            "summary": "Tapped Wi-Fi",
            "action": {"kind": "tap"},
            "app": "Settings",
            "frame": "a.jpg",
        }
        assert step["tokens"]["input"] == 10
        await world.runs.queue.put(ASKED)
        asked = await line(response)
        assert (asked["type"], asked["question"], asked["kind"], asked["choices"]) == (
            "question",
            "q1",
            "ask",
            ["a", "b"],
        )
        await world.runs.queue.put(END)
        final = await line(response)
        assert (final["type"], final["outcome"], final["summary"], final["steps"], final["data"]) == (
            "final",
            "succeeded",
            "Done.",
            3,
            "91 %",
        )
        assert final["tokens"]["output"] == 6
        assert await response.content.read() == b""
    (call,) = world.intake.calls
    assert (call.person, call.call.name, call.call.rest) == (OPERATOR, "do", "wifi on")
    assert dict(call.call.options) == {"device": "pixel", "quick": "true"}
    assert world.runs.followed == ["7"]


async def test_files_are_handed_in_before_the_task(world: World, client: aiohttp.ClientSession) -> None:
    world.intake.reply = lambda _: Reply(task="7")
    data = bytes(range(256)) * 2000
    async with client.post("/api/v1/files", data=data) as response:
        content = (await response.json())["content"]
    body = {"text": "x", "files": [{"name": "a.jpg", "content": content}]}
    async with client.post("/api/do", json=body) as response:
        assert await line(response) == {"type": "task", "task": "7"}
    (call,) = world.intake.calls
    assert call.attachments == (Attachment("a.jpg", data),)
    body["files"] = [{"name": "a.jpg", "content": "../../etc/passwd"}]
    async with client.post("/api/do", json=body) as response:
        assert response.status == 409
    assert len(world.intake.calls) == 1


@pytest.mark.parametrize(
    "reply", [Reply(message=Message(heading="No phone", body="Plug one in.")), Reply(toast="No phone")]
)
async def test_a_refusal_is_told_in_its_own_words(world: World, client: aiohttp.ClientSession, reply: Reply) -> None:
    world.intake.reply = lambda _: reply
    async with client.post("/api/do", json={"text": "x"}) as response:
        assert response.status == 409
        assert "No phone" in (await response.json())["error"]
    assert not world.runs.followed
    assert not dict(world.intake.calls[0].call.options)


async def test_a_caller_that_leaves_does_not_end_the_task(world: World, client: aiohttp.ClientSession) -> None:
    """Only the following ends; nothing is cancelled."""
    world.intake.reply = lambda _: Reply(task="7")
    async with client.post("/api/do", json={"text": "x"}) as response:
        await line(response)
    for _ in range(3):
        await world.runs.queue.put(STEP)
    await asyncio.wait_for(world.runs.closed.wait(), 10)
    assert [type(one).__name__ for one in world.intake.calls] == ["Invocation"]
    assert not world.intake.presses


async def test_a_shutdown_is_told(world: World, client: aiohttp.ClientSession) -> None:
    world.intake.reply = lambda _: Reply(task="7")
    async with client.post("/api/do", json={"text": "x"}) as response:
        await line(response)
        await world.runs.queue.put(None)
        assert (await line(response))["type"] == "interrupted"
    async with client.post("/api/do", json={"text": "x"}) as response:
        await line(response)
        await world.console.stop()
        assert (await line(response))["type"] == "interrupted"


async def test_an_answer_is_passed_on(world: World, client: aiohttp.ClientSession) -> None:
    async with client.post("/api/answer", json={"question": "q1", "text": "a"}) as response:
        assert (response.status, await response.json()) == (200, {"taken": True})
    assert world.runs.answers == [("q1", "a")]
    world.runs.refusal = "It was answered by Ann."
    async with client.post("/api/answer", json={"question": "q1", "text": "b"}) as response:
        assert (response.status, (await response.json())["error"]) == (409, "It was answered by Ann.")
