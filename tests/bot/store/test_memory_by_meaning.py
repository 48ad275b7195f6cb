"""Memory beside an endpoint for embeddings: the client, the table and the doctor on a stand-in of it over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from agent.models.endpoint import EndpointSettings
from agent.models.openai_other_models import OpenAIEmbedder
from agent.models.other_models import EmbeddingFailed
from bot.checks import model
from bot.config.settings import Settings
from bot.store.memory import AT_ONCE
from bot.store.store import Store
from bot.texts import speaking
from tests.fakes.embeddings import Embeddings, embeddings

pytestmark = pytest.mark.real_time  # the endpoint is outside the loop
KEY = "key-0123456"
ANN = "web:1"


@pytest.fixture
async def endpoint(real_world: None) -> AsyncIterator[Embeddings]:  # noqa: ARG001
    async with embeddings(("coffee", "espresso", "咖啡"), ("vegan", "no meat"), ("train", "rail")) as made:
        yield made


@pytest.fixture
async def embedder(endpoint: Embeddings) -> AsyncIterator[OpenAIEmbedder]:
    made = OpenAIEmbedder(
        EndpointSettings(model="small", base_url=endpoint.base_url, api_key=SecretStr(KEY)), patience=0.5
    )
    yield made
    await made.close()


async def test_a_fact_is_found_by_what_it_means(endpoint: Embeddings, embedder: OpenAIEmbedder, store: Store) -> None:
    memory = store.memory(embedder=lambda: embedder)
    for fact in ("I drink espresso after lunch", "She eats no meat", "The rail card ends in May"):
        await memory.remember(ANN, fact)
    assert [fact.text for fact in await memory.recall(ANN, "订一杯咖啡", limit=1)] == ["I drink espresso after lunch"]
    assert [fact.text for fact in await memory.recall(ANN, "order something vegan", limit=1)] == ["She eats no meat"]
    assert [len(texts) for texts in endpoint.asked] == [4, 1]
    assert set(endpoint.keys) == {f"Bearer {KEY}"}


async def test_facts_are_asked_for_in_bounded_calls_and_each_once(
    endpoint: Embeddings, embedder: OpenAIEmbedder, store: Store
) -> None:
    memory = store.memory(embedder=lambda: embedder)
    for number in range(AT_ONCE + 10):
        await memory.remember(ANN, f"fact number {number}")
    for _ in range(3):
        await memory.recall(ANN, "train")
    assert [len(texts) for texts in endpoint.asked] == [AT_ONCE, 12, 1]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("slow", "did not answer in time"),
        ("refused", "the key ••• is wrong"),
        ("busy", ": too many"),
        ("nonsense", "something else than vectors"),
        ("fewer", "something else than vectors"),
        ("sizes", "something else than vectors"),
        ("nan", "something else than vectors"),
    ],
)
async def test_an_endpoint_that_fails_costs_only_its_findings(
    fault: str,
    told: str,
    endpoint: Embeddings,
    embedder: OpenAIEmbedder,
    store: Store,
    caplog: pytest.LogCaptureFixture,
) -> None:
    memory = store.memory(embedder=lambda: embedder)
    await memory.remember(ANN, "coffee with milk")
    endpoint.fault = fault
    assert [fact.text for fact in await memory.recall(ANN, "order a coffee")] == ["coffee with milk"]
    assert "Facts cannot be compared by meaning" in caplog.text
    assert told in caplog.text
    with pytest.raises(EmbeddingFailed, match=told) as failed:
        await embedder.embed(["coffee", "tea"])
    assert KEY not in caplog.text + str(failed.value)
    endpoint.fault = ""
    assert await memory.recall(ANN, "an espresso")
    assert len(endpoint.asked) == 3


async def test_the_doctor_says_whether_there_are_vectors(endpoint: Embeddings) -> None:
    settings = Settings(embed_base_url=endpoint.base_url, embed_api_key=SecretStr(KEY))
    (good,) = await model.embedding(settings)
    assert (good.verdict, "by meaning" in good.text) == ("good", True)
    endpoint.fault = "refused"
    (bad,) = await model.embedding(settings)
    assert (bad.verdict, "by their words alone" in bad.text) == ("bad", True)
    assert KEY not in bad.text
    with speaking("zh"):
        (away,) = await model.embedding(Settings(embed_base_url="http://127.0.0.1:9/v1"))
    assert "cannot be reached" in away.text
    assert await model.embedding(Settings()) == []
