"""Deep thinking: endpoints that can be told to think more are told so, and those that refuse it are not told again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.models.endpoint import Api
from tests.agent.models.endpoints import asking, model_at
from tests.fakes.model_server import Answer, ModelServer, Personality, refused

pytestmark = pytest.mark.slow

DEEP = replace(asking(), deep=True)


def effort(body: dict[str, object]) -> object:
    """What this request asks for, in either API."""
    return body.get("reasoning_effort") or body.get("reasoning")


@pytest.mark.parametrize(("api", "sent"), [("chat", "high"), ("responses", {"effort": "high"})])
async def test_only_what_is_worth_it_asks_for_more_thought(api: Api, sent: object) -> None:
    async with ModelServer(["Plan.", "Plan."]) as server, model_at(server, api=api) as model:
        await model.complete(DEEP)
        await model.complete(asking())
        asked = [effort(request.body) for request in server.requests if request.body.get("max_output_tokens") is None]
    assert asked == [sent, None]


@pytest.mark.parametrize(("api", "name"), [("chat", "reasoning_effort"), ("responses", "reasoning")])
async def test_a_refusal_is_remembered(api: Api, name: str) -> None:
    """Seen failing (the refusal is what comes back) without `NO_EFFORT` in `EndpointQuirks.after`."""
    plain = Personality("plain", refuses=frozenset({name}), responses="stateful")
    async with ModelServer(["One.", "Two."], personality=plain) as server, model_at(server, api=api) as model:
        assert [(await model.complete(DEEP)).text for _ in range(2)] == ["One.", "Two."]
        asked = [effort(request.body) is not None for request in server.requests]
    assert asked.count(True) == 1


@pytest.mark.parametrize(
    ("api", "refuses", "sent"),
    [
        ("chat", (), {"temperature": 0.5, "max_tokens": 99}),
        ("chat", ("temperature",), {"max_tokens": 99}),
        ("chat", ("max_tokens",), {"temperature": 0.5, "max_completion_tokens": 99}),
        ("chat", ("max_tokens", "max_completion_tokens"), {"temperature": 0.5}),
        ("responses", (), {"temperature": 0.5, "max_output_tokens": 99}),
        ("responses", ("temperature",), {"max_output_tokens": 99}),
    ],
)
async def test_how_an_answer_is_worded_is_said_as_far_as_the_endpoint_takes_it(
    api: Api, refuses: tuple[str, ...], sent: dict[str, object]
) -> None:
    plain = Personality("plain", refuses=frozenset(refuses), responses="stateful")
    async with ModelServer(["Hello."], personality=plain) as server, model_at(server, api=api) as model:
        assert (await model.complete(replace(asking(), temperature=0.5, max_tokens=99))).text == "Hello."
        last = server.requests[-1].body
    names = ("temperature", "max_tokens", "max_completion_tokens", "max_output_tokens")
    assert {name: last[name] for name in names if name in last} == sent


@pytest.mark.parametrize(
    "refusal",
    [
        refused(400, "Unsupported parameter: 'reasoning.effort' is not supported with this model.", code="unsupported"),
        refused(400, "Unsupported value: 'high'.", param="reasoning_effort"),
        refused(422, "body.reasoning_effort: Extra inputs are not permitted"),
    ],
)
async def test_refusals_as_endpoints_word_them(refusal: Answer) -> None:
    async with ModelServer([refusal, "Plan."]) as server, model_at(server) as model:
        assert (await model.complete(DEEP)).text == "Plan."
        assert len(server.requests) == 2
