"""Models for the roles, from the settings."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from agent.model_roles import ModelSettings, build_models, close_models
from agent.models.base import Purpose, Usage
from agent.models.endpoint import EndpointSettings
from agent.models.errors import UnknownModel
from agent.models.openai_model import OpenAIModel
from agent.models.pricing import Price, priced
from agent.outages import patient
from tests.agent.models.endpoints import asking
from tests.fakes.model_server import ModelServer


@pytest.mark.slow
async def test_roles_share_the_vision_endpoint_and_may_override_it() -> None:
    async with ModelServer(["one", "two"]) as server:
        vision = EndpointSettings("see-1", server.base_url, SecretStr("key-1"))
        models = build_models(ModelSettings(vision, reasoning=vision.overridden(model="think-1")))
        await models.for_purpose(Purpose.VERIFY).complete(asking(purpose=Purpose.VERIFY))
        await models.for_purpose(Purpose.PLAN).complete(asking(purpose=Purpose.PLAN))
        await close_models(models)
        assert models.vision is models.basic
        assert [request.model for request in server.requests] == ["see-1", "think-1"]
        assert {request.headers["Authorization"] for request in server.requests} == {"Bearer key-1"}


@pytest.mark.slow
async def test_a_model_that_no_role_speaks_with_is_asked_at_the_endpoint_of_basic() -> None:
    async with ModelServer(["one", "two", "three"]) as server:
        vision = EndpointSettings("see-1", server.base_url, SecretStr("key-1"))
        built = build_models(ModelSettings(vision, reasoning=vision.overridden(model="think-1")))
        models, _ = patient(built, lambda _request, _away: None)
        for name in ("large-1", "think-1", "large-1"):
            await models.for_role(name).complete(asking())
        await close_models(built)
        assert [request.model for request in server.requests] == ["large-1", "think-1", "large-1"]
        assert models.for_role("large-1") is models.for_role("large-1")
        assert models.for_role("think-1") is models.reasoning
        assert {request.headers["Authorization"] for request in server.requests} == {"Bearer key-1"}


def test_a_key_stays_with_its_endpoint() -> None:
    vision = EndpointSettings("see-1", "https://one.example/v1", SecretStr("key-1"))
    elsewhere = vision.overridden(base_url="http://127.0.0.1:11434/v1")
    assert (elsewhere.model, elsewhere.key) == ("see-1", "")
    assert vision.overridden(base_url=vision.base_url).key == "key-1"
    assert vision.overridden(api_key=SecretStr("key-2")).key == "key-2"


def test_offline_only_without_key_and_address() -> None:
    def offline(base_url: str, key: str) -> bool:
        return ModelSettings(EndpointSettings("m", base_url, SecretStr(key))).offline

    assert offline("", "")
    assert offline("", "  ")
    assert not offline("http://127.0.0.1:1/v1", "")
    assert not offline("", "key")


def test_offline_is_the_pilot_for_all_roles() -> None:
    pytest.importorskip("agent.offline.pilot")
    models = build_models(ModelSettings(EndpointSettings("")))
    assert models.vision is models.basic is models.reasoning
    assert models.vision.name == "offline"
    assert models.for_role("large-1") is models.basic


async def test_a_missing_model_name_is_told_without_a_call() -> None:
    with pytest.raises(UnknownModel, match="No model is set"):
        await OpenAIModel(EndpointSettings("", "http://127.0.0.1:1/v1")).complete(asking())


def test_the_host_never_shows_a_password() -> None:
    assert EndpointSettings("m", "https://me:secret@host.example:8443/v1").host == "host.example:8443"


def test_cached_tokens_are_billed_once() -> None:
    usage = Usage(input=1_000_000, cached=400_000, output=100_000, calls=1)
    assert priced(usage, Price(input=2, cached=0.5, output=10)).cost == pytest.approx(1.2 + 0.2 + 1.0)
    assert priced(usage, Price(input=2, output=10)).cost == pytest.approx(2.0 + 1.0)
    assert priced(usage, None).cost is None
