"""A task that is given and followed line by line, as the command line does it, and the answers to its questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from agent.events import Asked, Planned, Step, TaskEnded
from agent.models.base import Usage
from agent.questions import Question, QuestionKind
from agent.run import Outcome, RunId
from bot.domain.right import Right
from bot.domain.task import TaskState
from bot.web.chat import OPERATOR
from tests.bot.web.v1.world import API, ApiWorld
from tests.bot.world import ANNA


def a_step(task: str) -> Step:
    return Step(
        run=RunId(task),
        subtask=1,
        step=3,
        max_steps=60,
        summary="Tapped Wi-Fi",
        action={"kind": "tap"},
        app="Settings",
        frame="a.jpg",
        usage=Usage(input=10, output=2),
    )


async def line(response: aiohttp.ClientResponse) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(await asyncio.wait_for(response.content.readline(), 10))
    return parsed


@asynccontextmanager
async def followed(api: ApiWorld, secret: str, task: str) -> AsyncIterator[aiohttp.ClientResponse]:
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/x-ndjson"}
    async with api.session.get(api.url.with_path(f"{API}/tasks/{task}/events"), headers=headers) as response:
        assert (response.status, response.content_type) == (200, "application/x-ndjson")
        yield response


async def given(api: ApiWorld, **more: object) -> str:
    made = await api.ask(api.start, "POST", "/tasks", {"text": "wifi on", "phone": "pixel", **more})
    assert made.status == 201, made.body
    return str(made.body["id"])


async def test_a_task_is_given_and_followed_to_its_end(api: ApiWorld) -> None:
    task = await given(api, quick=True)
    kept = (await api.world.task_service.known(task)).request
    assert (kept.person.id, kept.text, kept.options.quick) == (OPERATOR.id, "wifi on", True)
    tell = api.world.agent.tell
    async with followed(api, api.start, task) as response:
        tell(task, Planned(plan="look"))
        assert (await line(response))["type"] == "planned"
        tell(task, a_step(task))
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
        question = Question(id="q1", run=RunId(task), kind=QuestionKind.ASK, text="Which?", choices=("a", "b"))
        tell(task, Asked(question=question))
        asked = await line(response)
        assert (asked["type"], asked["question"], asked["kind"], asked["choices"]) == (
            "question",
            "q1",
            "ask",
            ["a", "b"],
        )
        end = TaskEnded(
            outcome=Outcome.SUCCEEDED, summary="Done.", data="91 %", steps=3, usage=Usage(input=30, output=6)
        )
        tell(task, end)
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


async def test_files_are_handed_in_before_the_task(api: ApiWorld) -> None:
    data = bytes(range(256)) * 2000
    headers = {"Authorization": f"Bearer {api.start}"}
    async with api.session.post(api.url.with_path(f"{API}/files"), data=data, headers=headers) as response:
        content = (await response.json())["content"]
    task = await given(api, files=[{"name": "a.jpg", "content": content}])
    (file,) = (await api.world.task_service.known(task)).request.files
    assert (file.name, await api.world.store.frames.load(file.content)) == ("a.jpg", data)
    wrong = {"text": "x", "files": [{"name": "a.jpg", "content": "../../etc/passwd"}]}
    assert (await api.ask(api.start, "POST", "/tasks", wrong)).status == 404


async def test_a_caller_that_leaves_does_not_end_the_task(api: ApiWorld) -> None:
    """Only the following ends; nothing is cancelled."""
    task = await given(api)
    async with followed(api, api.start, task) as response:
        api.world.agent.tell(task, Planned(plan="look"))
        await line(response)
        assert api.following.readers(task) == 1
    async with asyncio.timeout(10):
        while api.following.readers(task):
            api.world.agent.tell(task, Planned(plan="look"))
            await asyncio.sleep(0)
    assert (await api.world.task_service.known(task)).state is not TaskState.ENDED


async def test_a_shutdown_is_told(api: ApiWorld) -> None:
    task = await given(api)
    async with followed(api, api.start, task) as response:
        await api.console.stop()
        assert (await line(response))["type"] == "interrupted"


async def test_a_revoked_token_reads_no_more(api: ApiWorld) -> None:
    secret = await api.token("ci", Right.ADMIN)
    async with followed(api, secret, await given(api)) as response:
        await api.world.rights.revoke_token("ci", ANNA)
        assert await asyncio.wait_for(response.content.read(), 10) == b""


async def test_a_question_that_nobody_will_answer_ends_its_task_as_blocked(api: ApiWorld) -> None:
    secret, task = await api.token("ci", owner=ANNA), await api.world.working()
    asked = await api.world.ask(task)
    path = f"/tasks/{task.id}/answer"
    wrong = await api.ask(secret, "POST", path, {"text": None, "question": "another"})
    assert (wrong.status, wrong.body["code"]) == (404, "not_found")
    given_up = await api.ask(secret, "POST", path, {"text": None, "question": asked.question.id})
    assert (given_up.status, given_up.body["questions"]) == (200, [])
    assert (await api.ask(secret, "POST", path, {"text": "blue", "question": asked.question.id})).status == 404
    assert (await api.ask(secret, "POST", path, {})).status == 422


async def test_an_approval_is_given_up_by_whoever_may_approve(api: ApiWorld) -> None:
    secret = await api.token("ci", owner=ANNA)
    task = (await api.ask(secret, "POST", "/tasks", {"text": "pay"})).body["id"]
    question = Question(id="q1", run=RunId(task), kind=QuestionKind.APPROVE, text="Pay?", choices=("allow", "deny"))
    api.world.agent.tell(task, Asked(question=question))
    await api.world.until(await api.world.task_service.known(task), TaskState.WAITING)
    refused = await api.ask(secret, "POST", f"/tasks/{task}/answer", {"text": None})
    assert (refused.status, refused.body["code"]) == (403, "not_allowed")
