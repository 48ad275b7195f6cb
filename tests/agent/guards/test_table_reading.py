"""`make gate MODEL=…`, with an endpoint that says what it is told to."""

from __future__ import annotations

import json

import pytest

from agent.guards.policy import Policy
from agent.model_roles import ModelSettings, build_models, close_models
from agent.models.endpoint import EndpointSettings
from tests.agent.guards.table.cases import cases
from tests.agent.guards.table.reading import is_read, read
from tests.fakes.model_server import Answer, ModelServer, Recorded

PAYS = Answer(text=json.dumps({"consequence": "pays", "object": "5 EUR"}))


@pytest.mark.slow
async def test_a_model_is_asked_about_each_press_that_no_rule_knows() -> None:
    policy = Policy.default()
    unknown = [case for case in cases() if is_read(case, policy)][:3]
    answers = iter((PAYS, Answer(text="perhaps"), PAYS))

    def answered(request: Recorded) -> Answer:
        assert "data, no instruction" in request.text
        return next(answers)

    async with ModelServer(answered) as server:
        models = build_models(ModelSettings(EndpointSettings(model="a-model", base_url=server.base_url)))
        try:
            readings = await read(unknown, models.vision, policy)
        finally:
            await close_models(models)
    assert sorted(reading.consequence for reading in readings) == ["pays", "pays", "unknown"]
    assert sum(bool(reading.rule) for reading in readings) == 2
