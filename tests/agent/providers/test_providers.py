"""Every kind of endpoint, over every setting of VLM_API, does the same task on the phone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.models.endpoint import Api
from agent.run import Outcome
from tests.agent.graph.rig import Rig
from tests.agent.providers.speaking import acting, switcher
from tests.agent.providers.world import world
from tests.fakes.model_server import (
    DASHSCOPE,
    DEEPSEEK,
    LITELLM,
    OLLAMA,
    OPENAI,
    STRICT,
    VLLM,
    VLLM_WITH_STORE,
    ModelServer,
    Personality,
)

SEEING_DEEPSEEK = replace(DEEPSEEK, vision=True)
EVERY = (OPENAI, VLLM, VLLM_WITH_STORE, OLLAMA, LITELLM, DASHSCOPE, SEEING_DEEPSEEK, STRICT)
KEEPING = {OPENAI, VLLM_WITH_STORE, LITELLM}
"""Endpoints that keep a conversation and say so."""
WITHOUT = {SEEING_DEEPSEEK, STRICT}
"""Endpoints without the Responses API."""


@pytest.mark.parametrize("api", ["chat", "responses", "auto"])
@pytest.mark.parametrize("personality", EVERY, ids=lambda each: each.name)
async def test_the_task_is_done(rig: Rig, personality: Personality, api: Api) -> None:
    async with world(rig, ModelServer(switcher(), personality=personality), api=api, image_window=3) as there:
        end = await there.do()
        assert (end.outcome, end.summary) == (Outcome.SUCCEEDED, "Bluetooth is on.")
        assert there.bluetooth
        sent = acting(there.server.requests)
        assert end.usage.input == there.server.tokens.input, "finding out what it keeps is counted, too"
        answered = [request for request in sent if request.status == 200]
        continued = [request for request in answered if request.body.get("previous_response_id")]
        stored = [request for request in answered if request.body.get("store")]
        if api == "chat" or (api == "auto" and personality not in KEEPING):
            assert {request.path for request in answered} == {"/v1/chat/completions"}
            assert [len(request.images) for request in answered] == [1, 2, 3]
        elif personality in KEEPING:
            assert [len(request.images) for request in answered] == [1, 1, 1]
            assert len(continued) == 2
            assert len(stored) == 3
        elif personality in WITHOUT:
            assert there.server.unknown_paths == ["/v1/responses"]
            assert [len(request.images) for request in answered] == [1, 2, 3]
        elif personality is VLLM:
            assert [request.status for request in sent] == [501, 200, 200, 200]
            assert stored == []
        else:
            # The first continued answer did not say what it continued: it was not used, and no other one was asked.
            assert [len(request.images) for request in answered] == [1, 1, 2, 3]
            assert len(continued) == 1
            assert [bool(request.body["store"]) for request in answered] == [True, True, False, False]
    assert len(there.server.store) == 0


async def test_a_model_that_is_always_shown_pictures_blocks_before_anything_is_done(rig: Rig) -> None:
    async with world(rig, ModelServer(switcher(), personality=DEEPSEEK), pictures="always") as there:
        end = await there.do()
    assert end.outcome is Outcome.BLOCKED
    assert "does not accept pictures" in end.summary
    assert "VLM_MODEL" in end.summary
    assert rig.inputs() == []
