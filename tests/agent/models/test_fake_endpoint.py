"""The fake endpoint itself: scripts from a file in a process of its own, and its accounting."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr

from agent.models.endpoint import EndpointSettings
from agent.models.openai_model import OpenAIModel
from tests.agent.models.endpoints import asking, model_at, picture
from tests.fakes.model_server import Answer, ModelServer, Recorded

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


async def test_it_starts_from_the_shell_with_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    replies = [{"text": "The plan.", "when": "Plan", "times": 0}, {"text": "An action.", "times": 2}]
    script.write_text(json.dumps({"personality": "openai", "key": "k-1", "replies": replies}), encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.fakes.model_server",
        "--script",
        str(script),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(30):
            base_url = json.loads(await process.stdout.readline())["base_url"]
        model = OpenAIModel(EndpointSettings("any", base_url, SecretStr("k-1")))
        texts = [(await model.complete(asking(text, picture()))).text for text in ("Act", "Plan", "Act", "Plan")]
        await model.close()
        assert texts == ["An action.", "The plan.", "An action.", "The plan."]
        async with aiohttp.ClientSession() as session, session.get(base_url.removesuffix("/v1") + "/requests") as got:
            listed = await got.json()
        assert [request["status"] for request in listed] == [200] * 4
        assert listed[0]["images"] == [[56, 112]]
    finally:
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(10):
            assert await process.wait() == 0


async def test_a_function_may_answer() -> None:
    def answer(request: Recorded) -> Answer:
        return Answer(text=f"{len(request.images)} pictures for {request.model}")

    async with ModelServer(answer) as server, model_at(server) as model:
        assert (await model.complete(asking(picture(), picture()))).text == "2 pictures for fake-vl"


async def test_a_bigger_picture_costs_more() -> None:
    async with ModelServer([Answer(text="ok", times=0)]) as server, model_at(server) as model:
        small = (await model.complete(asking(picture(280, 280)))).usage.input
        large = (await model.complete(asking(picture(560, 560)))).usage.input
    assert large - small == 300
