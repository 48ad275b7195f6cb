"""Answers that are not what an API says, each over HTTP: what of them is used, and what is told instead."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.models.base import ToolCall
from agent.models.call_failure import call_failure_of, told_in
from agent.models.chat import ChatReader
from agent.models.endpoint import Api
from agent.models.errors import ModelError, ModelRefused, ModelUnreachable
from agent.models.state import Cause
from tests.agent.models.endpoints import VirtualTime, asking, model_at
from tests.fakes.model_server import Answer, Call, ModelServer, Personality

pytestmark = pytest.mark.slow

WHOLE = Personality("whole", streams=False)
SENT = {"role": "assistant", "content": "Here."}
APIS: list[Api] = ["chat", "responses"]


def said(**fields: Any) -> dict[str, Any]:
    """A whole completion that says "Here."."""
    return {"model": "fake-vl", "choices": [{"message": SENT, "finish_reason": "stop"}], **fields}


@pytest.mark.parametrize(
    "usage",
    [
        "many",
        7,
        [],
        {"prompt_tokens": "12"},
        {"prompt_tokens": True, "completion_tokens": 1.5},
        {"prompt_tokens": -3, "completion_tokens": 10**30},
        {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": "none", "total_tokens": None},
        {"prompt_tokens": float(10**9), "completion_tokens": None},
    ],
)
async def test_wrong_figures_cost_no_answer_and_no_token_below_nothing(usage: Any) -> None:
    """Seen failing (the answer thrown away, three times more asked) with `usage: ReportedUsage | None`."""
    async with ModelServer([Answer(body=said(usage=usage))]) as server, model_at(server) as model:
        reply = await model.complete(asking())
        assert len(server.requests) == 1
    assert reply.text == "Here."
    assert reply.usage.input >= 0
    assert reply.usage.output >= 0
    assert reply.usage.cached <= reply.usage.input


async def test_another_models_name_is_told_and_booked_on_the_one_that_was_asked() -> None:
    async with ModelServer([Answer(body=said(model="gpt-9-mini"))]) as server, model_at(server) as model:
        reply = await model.complete(asking())
    assert reply.model == "gpt-9-mini"
    assert [share.model for share in reply.usage.shares] == ["fake-vl"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "personality", [Personality("streams", responses="stateful"), WHOLE], ids=lambda each: each.name
)
async def test_calls_with_broken_json_and_text_beside_them_come_as_they_are(api: Api, personality: Personality) -> None:
    """Whoever reads the dialect decides what to do with them."""
    answer = Answer(text="I tap it.", tool_calls=(Call(name="tap", arguments='{"element": 3'), Call(name="home")))
    async with ModelServer([answer], personality=personality) as server, model_at(server, api=api) as model:
        reply = await model.complete(asking())
    assert reply.text == "I tap it."
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("tap", '{"element": 3'), ("home", "{}")]
    assert len({call.id for call in reply.tool_calls}) == 2


HALVES: list[Any] = [
    '{"choices": [{"message": {"content": "He',
    {"choices": []},
    {"choices": [{"message": None, "finish_reason": None}]},
    {"choices": [{"message": {"content": "cut"}}]},
    [],
    "null",
]


@pytest.mark.parametrize("body", HALVES, ids=str)
async def test_half_an_answer_is_none_and_asked_for_again(body: Any) -> None:
    time = VirtualTime()
    answers: list[Answer | str] = [Answer(body=body), "Whole."]
    async with ModelServer(answers) as server, model_at(server, time=time) as model:
        assert (await model.complete(asking())).text == "Whole."
    assert len(time.waits) == 1


ERRORS_INSIDE: list[tuple[Any, Cause]] = [
    ({"error": {"message": "CUDA out of memory", "code": 500}}, Cause.BROKEN),
    ({"error": "CUDA out of memory"}, Cause.BROKEN),
    ({"error": {"message": "Rate limit reached for requests", "code": "rate_limit_exceeded"}}, Cause.BUSY),
    ({"error": {"message": "Requested tokens exceed context window of 4096", "code": None}}, Cause.TOO_LONG),
    ({"error": {"message": "Insufficient credits", "code": 402}}, Cause.NO_CREDIT),
]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("body", "cause"), ERRORS_INSIDE)
async def test_an_error_inside_a_success_is_the_error_that_it_says(api: Api, body: Any, cause: Cause) -> None:
    personality = Personality("errs", responses="stateful")
    server = ModelServer([Answer(body=body, times=0)], personality=personality)
    async with server, model_at(server, api=api, timeout=60) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(asking(conversation="run-1"))
        assert {request.path for request in server.requests} == {
            "/v1/responses" if api == "responses" else "/v1/chat/completions"
        }, "it says nothing about the API"
    assert caught.value.cause is cause
    assert isinstance(caught.value, ModelUnreachable if cause.passing else ModelRefused)
    assert told_in(body)[:10] in str(caught.value)


@pytest.mark.parametrize("code", [402, "402", "server_error", None, 7])
async def test_an_error_in_the_middle_of_a_stream_is_read_with_any_code(code: Any) -> None:
    event = {"error": {"message": "upstream failed", "code": code}}
    answer = Answer(text="A long enough answer to break.", break_after=2, event=event, times=0)
    async with ModelServer([answer]) as server, model_at(server, timeout=60) as model:
        with pytest.raises(ModelError, match="upstream failed") as caught:
            await model.complete(asking())
    assert caught.value.cause is (Cause.NO_CREDIT if str(code) == "402" else Cause.BROKEN)


KEYS = (
    *("choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments", "index", "id"),
    *("finish_reason", "usage", "prompt_tokens", "error", "code", "type", "model", "metadata", "raw", "detail"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_any_json_is_an_answer_or_a_failure(value: Any) -> None:
    """Nothing but ValueError comes out of a reader, and no failure is without a cause."""
    reader = ChatReader(lambda _: None)
    failed: ValueError | None = None
    try:
        reader.feed(value)
        reader.check()
    except ValueError as error:
        failed = error
    if failed is None:
        assert all(isinstance(call, ToolCall) for call in reader.reply("m").tool_calls)
    else:
        assert call_failure_of(failed, "key").cause in Cause
    assert isinstance(told_in(json.loads(json.dumps(value))), str)
