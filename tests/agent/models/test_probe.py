"""`auto`: whether an endpoint keeps a conversation is tried, once."""

from __future__ import annotations

import asyncio

import pytest

from agent.models.errors import ModelError, ModelKeyRejected, ModelUnreachable, UnknownModel
from tests.agent.models.conversation import ALWAYS, acting, step, walk
from tests.agent.models.endpoints import model_at
from tests.fakes.model_server import (
    DASHSCOPE,
    DEEPSEEK,
    LITELLM,
    OLLAMA,
    OPENAI,
    VLLM,
    VLLM_WITH_STORE,
    Answer,
    ModelServer,
    Personality,
    rate_limited,
    refused,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("personality", [OPENAI, VLLM_WITH_STORE, LITELLM])
async def test_auto_continues_where_the_id_is_echoed(personality: Personality) -> None:
    async with ModelServer([ALWAYS], personality=personality) as server, model_at(server, api="auto") as model:
        await walk(model, 2)
        probe, act = server.requests[:2], server.requests[2:]
        assert [request.images for request in probe] == [(), ()]
        assert [request.path for request in act] == ["/v1/responses"] * 2
        assert act[1].body["previous_response_id"] == "resp_3"
        await server.forgotten("resp_1")
        await server.forgotten("resp_2")


@pytest.mark.parametrize("personality", [VLLM, OLLAMA, DASHSCOPE, DEEPSEEK])
async def test_auto_takes_chat_completions_everywhere_else(personality: Personality) -> None:
    async with ModelServer([ALWAYS], personality=personality) as server, model_at(server, api="auto") as model:
        messages = step(1, with_image=False)
        await model.complete(acting(messages))
        probes = len(server.requests) - 1
        await model.complete(acting(messages))
        assert [request.path for request in server.requests[probes:]] == ["/v1/chat/completions"] * 2


async def test_auto_probes_once_for_calls_at_the_same_time() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="auto") as model:
        await asyncio.gather(*(model.complete(acting(step(1), conversation=f"run-{n}")) for n in range(3)))
        assert len(server.requests) == 2 + 3


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (rate_limited(times=0), ModelUnreachable),
        (refused(401, "No."), ModelKeyRejected),
        (refused(404, "The model `fake-vl` does not exist.", code="model_not_found"), UnknownModel),
    ],
)
async def test_a_probe_that_finds_nothing_out_is_made_again(fault: Answer, kind: type[ModelError]) -> None:
    broken = [fault.model_copy(update={"times": 4 if fault.times == 0 else 1})]
    async with ModelServer([*broken, ALWAYS]) as server, model_at(server, api="auto", timeout=60) as model:
        with pytest.raises(kind):
            await model.complete(acting(step(1)))
        await walk(model, 2)
        assert server.requests[-1].body["previous_response_id"]


async def test_a_probe_that_is_refused_means_chat() -> None:
    fault = refused(422, "store: extra fields not permitted", param="body")
    async with ModelServer([fault, ALWAYS]) as server, model_at(server, api="auto") as model:
        await model.complete(acting(step(1)))
        assert [request.path for request in server.requests] == ["/v1/responses", "/v1/chat/completions"]
