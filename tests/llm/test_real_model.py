"""What a real server does to our client, and our client to it; nothing that would need a clever model."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Literal

import pytest
from pydantic import BaseModel, SecretStr

from agent.models.base import Delta, Message, ModelRequest, Purpose
from agent.models.endpoint import EndpointSettings
from agent.models.errors import InputTooLong, NoVision
from agent.models.json_answers import ask
from agent.models.openai_model import OpenAIModel
from agent.models.openai_other_models import OpenAIEmbedder
from agent.models.other_models import EmbeddingFailed
from agent.models.state import Cause
from agent.run import Outcome
from bot.checks import model as check
from bot.config.settings import Settings
from bot.model_comparison.running import do_task
from bot.model_comparison.tasks import suite
from tests.agent.models.endpoints import Collected, picture
from tests.llm.server import MOST_WRITTEN, NAME, WINDOW, serving
from tests.llm.tasks import candidate_at

pytestmark = [
    pytest.mark.llm,
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(find_spec("xllamacpp") is None, reason="make test-llm installs it"),
]
PATIENCE_S = 300.0
"""Seconds for a call: an idle machine takes two, and a busy one a hundred times as long."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The base URL of the server that chats."""
    with serving() as base_url:
        yield base_url


@pytest.fixture(scope="module")
def of_vectors() -> Iterator[str]:
    """The base URL of the server that makes embeddings."""
    with serving("embeddings") as base_url:
        yield base_url


@asynccontextmanager
async def gemma(address: str, name: str = NAME) -> AsyncIterator[OpenAIModel]:
    """A client of the server."""
    client = OpenAIModel(EndpointSettings(name, address, SecretStr("any"), timeout=PATIENCE_S))
    try:
        yield client
    finally:
        await client.close()


def asking(*parts: object, purpose: Purpose = Purpose.SUPERVISE) -> ModelRequest:
    """A request of one short message."""
    return ModelRequest(purpose, (Message("user", parts or ("Say hello.",)),))  # type: ignore[arg-type]  # texts, pictures


async def test_an_answer_is_streamed_and_its_tokens_are_reported(address: str) -> None:
    collected = Collected()
    async with gemma(address) as model:
        reply = await model.complete(asking(), on_delta=collected)
    assert reply.text
    assert reply.text == collected.text
    assert len(collected.deltas) > 1
    assert not reply.usage.estimated
    assert 0 < reply.usage.output <= MOST_WRITTEN
    assert reply.model == NAME


class Colour(BaseModel):
    """An answer of few words."""

    colour: Literal["red", "green", "blue"]


async def test_a_schema_holds_even_a_model_this_small(address: str) -> None:
    async with gemma(address) as model:
        answer, usage = await ask(model, asking("Which colour is the sky?"), Colour)
    assert answer.colour in {"red", "green", "blue"}
    assert usage.calls == 1, "the grammar of the server leaves nothing to repair"


async def test_a_picture_is_refused_once_and_no_outage(address: str) -> None:
    async with gemma(address) as model:
        with pytest.raises(NoVision, match="image input is not supported") as caught:
            await model.complete(asking("What is this?", picture(), purpose=Purpose.ACT))
        assert caught.value.cause is Cause.NO_PICTURES
        assert not model.takes_pictures
        assert (await model.complete(asking("What is this?", picture(), purpose=Purpose.ACT))).text


async def test_what_is_too_long_is_refused_and_teaches_the_window(address: str) -> None:
    async with gemma(address) as model:
        with pytest.raises(InputTooLong):
            await model.complete(asking("word " * (2 * WINDOW)))
        assert await model.window(0) == WINDOW


async def test_a_call_that_is_cut_leaves_the_server_free(address: str) -> None:
    begun = asyncio.Event()

    def watch(_: Delta) -> None:
        begun.set()

    async with gemma(address) as model:
        cut = asyncio.create_task(model.complete(asking("Count to a hundred."), on_delta=watch))
        await begun.wait()
        cut.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await cut
        assert (await model.complete(asking())).text


async def test_more_calls_than_the_server_has_slots_are_all_answered(address: str) -> None:
    async with gemma(address) as model:
        replies = await asyncio.gather(*(model.complete(asking(f"Say {number}.")) for number in range(3)))
    assert all(reply.text and not reply.usage.estimated for reply in replies)


async def test_another_name_is_answered_and_the_real_one_told(address: str) -> None:
    async with gemma(address, "gpt-9") as model:
        reply = await model.complete(asking())
    assert (reply.model, reply.usage.shares[0].model) == (NAME, "gpt-9")


async def test_embeddings_are_refused_in_its_words(address: str) -> None:
    embedder = OpenAIEmbedder(EndpointSettings(NAME, address), patience=PATIENCE_S)
    with pytest.raises(EmbeddingFailed, match="does not support embeddings"):
        await embedder.embed(["coffee"])
    await embedder.close()


async def test_embeddings_are_vectors_by_which_words_are_told_apart(of_vectors: str) -> None:
    embedder = OpenAIEmbedder(EndpointSettings(NAME, of_vectors), patience=PATIENCE_S)
    coffee, again, train = await embedder.embed(["I drink coffee", "I drink coffee", "the train to Bern"])
    await embedder.close()
    assert len(coffee) == len(train) > 100
    assert near(coffee, again) > 0.999 > near(coffee, train)


def near(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of two vectors."""
    return sum(a * b for a, b in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


async def test_the_doctor_says_how_it_works(address: str) -> None:
    listed, seen = await check.findings(Settings(vlm_base_url=address, vlm_model=NAME))
    assert (listed.verdict, seen.verdict) == ("good", "note")
    assert NAME in seen.text


async def test_a_task_that_it_calls_chat_is_an_answer_and_no_success() -> None:
    """A thing to be done, which it takes for a question and answers in a word."""
    with serving("tasks") as base_url:
        candidate = candidate_at(base_url)
        result = await do_task(candidate, next(task for task in suite(1) if task.kind == "compared prices"))
        await candidate.close()
    assert result.outcome is Outcome.ANSWERED, result.summary
    assert not result.verdict.right
    assert (result.steps, result.usage.calls, result.usage.estimated) == (0, 1, False)
