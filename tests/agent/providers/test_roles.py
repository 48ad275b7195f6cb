"""Which model is asked what, what it says while it plans, and what all of it cost."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from agent.events import Step, Thinking
from agent.models.base import Models
from agent.models.pricing import Price
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.models.endpoints import model_at
from tests.agent.providers.speaking import CHECKING, PROVEN, TASK, acting, switcher
from tests.agent.providers.world import world
from tests.fakes.model_server import DEEPSEEK, OLLAMA, OPENAI, Answer, ModelServer, Personality, Recorded

PRICES = {"fake-vl": Price(input=2.0, output=8.0, cached=0.5), "thinker": Price(input=1.0, output=4.0)}


def clerk(request: Recorded) -> Answer:
    """Reads and sums up: a complex task of one part."""
    if '"decision"' in request.text:
        done = "succeeded" in request.text
        part = [] if done else ["switch it on"]
        return Answer(text=json.dumps({"decision": "complete" if done else "continue", "remaining": part}))
    if '"kind"' in request.text:
        return Answer(text='{"kind": "complex", "need_plan": true, "answer": ""}')
    return Answer(text="A caption or a summary.")


def answered(server: ModelServer) -> int:
    """How many requests were answered; who knows no schemas refuses one first."""
    return sum(request.status == 200 for request in server.requests)


async def test_each_role_has_its_own_model(rig: Rig) -> None:
    thinker = Answer(text='{"steps": [{"title": "Switch it on."}]}', reasoning="Bluetooth is in the settings.", times=0)
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(server)
            for server in (
                ModelServer(switcher()),
                ModelServer(clerk),
                ModelServer([thinker], personality=replace(DEEPSEEK, vision=True)),
            )
        ]
        vision, basic, reasoning = servers
        names = ("fake-vl", "clerk", "thinker")
        built = [
            await stack.enter_async_context(model_at(server, model=name, prices=PRICES))
            for server, name in zip(servers, names, strict=True)
        ]
        work = Work(rig.agent(Models(*built)), order(TASK, quick=False))
        end = await work.ended()
        assert end.outcome is Outcome.SUCCEEDED
        assert rig.phone.truth.toggles["bluetooth"]
        assert [request.model for request in vision.requests] == ["fake-vl"] * 4
        assert [CHECKING in request.text for request in vision.requests] == [False, False, False, True]
        assert answered(reasoning) == 1
        assert {request.model for request in basic.requests} == {"clerk"}
        assert not any(request.images for request in (*basic.requests, *reasoning.requests))
        assert end.usage.calls == sum(map(answered, servers))
        assert end.usage.input == sum(server.tokens.input for server in servers)
        for server, name, roles in zip(servers, names, ({"vision"}, {"basic"}, {"reasoning"}), strict=True):
            shares = [share for share in end.usage.shares if share.model == name]
            assert {share.role for share in shares} == roles
            assert sum(share.input for share in shares) == server.tokens.input
            assert sum(share.calls for share in shares) == answered(server)
            assert all((share.cost is None) == (name not in PRICES) for share in shares)
    thoughts = "".join(event.reasoning for event in work.events if isinstance(event, Thinking))
    assert "Bluetooth is in the settings." in thoughts
    assert end.usage.reasoning > 0
    assert end.usage.cost is not None


@pytest.mark.parametrize("personality", [OPENAI, replace(DEEPSEEK, vision=True), OLLAMA], ids=lambda each: each.name)
async def test_the_receipt_is_what_the_endpoint_counted(rig: Rig, personality: Personality) -> None:
    think = switcher()

    def thoughtful(request: Recorded) -> Answer:
        return think(request).model_copy(update={"reasoning": "The switch is what counts here."})

    server = ModelServer(thoughtful, personality=personality)
    async with world(rig, server, prices=PRICES, image_window=3) as there:
        work = there.work()
        end = await work.ended()
        counted = there.server.tokens
    assert end.outcome is Outcome.SUCCEEDED
    assert (end.usage.input, end.usage.cached) == (counted.input, counted.cached)
    assert end.usage.cached > 0
    assert 0 < end.usage.reasoning < end.usage.output
    assert not end.usage.estimated
    assert end.usage.cost == pytest.approx(PRICES["fake-vl"].cost(end.usage))
    costs = [event.usage.cost for event in work.events if isinstance(event, Step)]
    assert costs == sorted(cost for cost in costs if cost is not None)


async def test_without_a_price_there_is_no_cost_and_without_numbers_an_estimate(rig: Rig) -> None:
    think = switcher()

    def silent(request: Recorded) -> Answer:
        return think(request).model_copy(update={"usage": "missing"})

    async with world(rig, ModelServer(silent)) as there:
        end = await there.do()
        assert len(acting(there.server.requests)) == 3
    assert end.usage.cost is None
    assert end.usage.estimated
    assert end.usage.input > 0


@pytest.mark.parametrize("schema", ["json_schema", "json_object", "none", "ignored"])
async def test_forms_are_asked_for_as_strictly_as_the_endpoint_allows(rig: Rig, schema: str) -> None:
    personality = replace(OPENAI, schema=schema)  # type: ignore[arg-type]  # one of its literals, from a list

    def think(request: Recorded) -> Answer:
        if '"kind"' in request.text:
            return Answer(text='Sure! I would say:\n```json\n{"kind": "simple", "need_plan": false}\n```\nOkay?')
        return switcher()(request)

    async with world(rig, ModelServer(think, personality=personality)) as there:
        end = await there.do(quick=False)
        assert there.bluetooth
        asked = [request for request in there.server.requests if "JSON schema" in request.text]
        kinds = [request.body.get("response_format", {}).get("type", "none") for request in asked]
    assert end.outcome is Outcome.SUCCEEDED
    refused = {"json_object": ["json_schema"], "none": ["json_schema", "json_object"]}.get(schema, [])
    taken = "json_schema" if schema == "ignored" else schema
    assert kinds == [*refused, taken, taken]


async def test_an_intent_that_is_no_answer_costs_its_tokens_and_not_the_task(rig: Rig) -> None:
    """Seen failing (the task fails) with ModelAnswerUnusable no longer told apart in intent_analyzer."""

    def think(request: Recorded) -> Answer:
        return Answer(text="What a nice task!") if '"kind"' in request.text else switcher()(request)

    async with world(rig, ModelServer(think)) as there:
        end = await there.do(quick=False)
        assert there.bluetooth
        assert end.outcome is Outcome.SUCCEEDED
        assert end.usage.calls == len(there.server.requests) == 6
        assert end.usage.input == there.server.tokens.input


async def test_a_check_that_is_no_answer_leaves_the_success_unverified(rig: Rig) -> None:
    def think(request: Recorded) -> Answer:
        answer = switcher()(request)
        return Answer(text="Looks fine to me.") if answer.text == PROVEN else answer

    async with world(rig, ModelServer(think)) as there:
        end = await there.do()
        assert there.bluetooth
        assert end.usage.calls == len(there.server.requests) == 5
    assert end.outcome is Outcome.UNVERIFIED
    assert "not proven" in end.summary
