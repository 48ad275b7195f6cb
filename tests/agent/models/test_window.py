"""The context window: as endpoints list it, and how they refuse what does not fit into it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.models.endpoint import EndpointSettings
from agent.models.errors import InputTooLong, ModelRefused
from agent.models.state import Cause, cause_of
from agent.models.tokens import estimated_input
from agent.models.window import DEFAULT_WINDOW, window_in
from tests.agent.models.endpoints import VirtualTime, asking, model_at, picture
from tests.fakes.model_server import Answer, ModelServer
from tests.fakes.model_server.script import refused

LISTS = [
    pytest.param({"data": [{"id": "m", "context_length": 9_000}, {"id": "n", "context_length": 1}]}, 9_000, id="plain"),
    pytest.param(
        {"data": [{"id": "m", "context_length": 200_000, "top_provider": {"context_length": 128_000}}]},
        128_000,
        id="OpenRouter",
    ),
    pytest.param({"data": [{"id": "m", "object": "model", "max_model_len": 16_384}]}, 16_384, id="vLLM"),
    pytest.param({"data": [{"id": "m", "context_window": 131_072}]}, 131_072, id="Groq"),
    pytest.param([{"id": "m", "context_length": 4_096}], 4_096, id="Together"),
    pytest.param({"data": [{"id": "m", "max_context_length": 32_768}]}, 32_768, id="Mistral"),
    pytest.param(
        {"data": [{"id": "m", "max_context_length": 131_072, "loaded_context_length": 8_192}]}, 8_192, id="LM Studio"
    ),
    pytest.param({"data": [{"id": "some.gguf", "meta": {"n_ctx_train": 40_960}}]}, 40_960, id="llama.cpp"),
    pytest.param({"models": [{"name": "models/m", "inputTokenLimit": 1_048_576}]}, 1_048_576, id="Gemini"),
    pytest.param({"data": [{"id": "m", "object": "model"}]}, None, id="OpenAI"),
    pytest.param({"data": [{"id": "a", "context_length": 9_000}, {"id": "b"}]}, None, id="another model"),
    pytest.param({"data": [{"id": "m", "context_length": True, "max_model_len": -5}]}, None, id="no numbers"),
    pytest.param({"data": [None, 7, "m"]}, None, id="no rows"),
    pytest.param("rubbish", None, id="rubbish"),
    pytest.param(None, None, id="nothing"),
]


@pytest.mark.parametrize(("listed", "window"), LISTS)
def test_lists_name_it_differently(listed: object, window: int | None) -> None:
    assert window_in(listed, "m") == window


@pytest.mark.slow
async def test_it_is_asked_for_once_and_what_is_set_comes_first() -> None:
    server = ModelServer(listed={"data": [{"id": "fake-vl", "max_model_len": 16_384}]})
    async with server, model_at(server) as model:
        assert await model.window(4_000) == DEFAULT_WINDOW, "nobody is asked for so little"
        assert await model.window() == await model.window(4_000) == 16_384
        assert server.requests == []
    async with ModelServer() as silent, model_at(silent) as model:
        assert await model.window() == DEFAULT_WINDOW
        assert silent.unknown_paths == ["/v1/models"]
        assert await model.window() == DEFAULT_WINDOW
        assert len(silent.unknown_paths) == 1


def test_a_window_is_that_of_its_model() -> None:
    vision = EndpointSettings("big", context=100_000)
    assert vision.overridden().context == 100_000
    assert vision.overridden(model="small").context is None
    assert vision.overridden(model="small", context=8_000).context == 8_000


VLLM_WORDS = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4400 in the messages,"
    " 600 in the completion)."
)
LM_STUDIO_WORDS = (
    "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context"
    " length of only 7866 tokens, which is not enough."
)
GEMINI_WORDS = "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
TOO_LONG = [
    pytest.param(400, "context_length_exceeded", "It exceeds the context window of this model.", None, id="OpenAI"),
    pytest.param(400, "", VLLM_WORDS, 4_096, id="vLLM"),
    pytest.param(
        400, "", "The prompt (length 12345) is longer than the maximum model length of 8192.", 8_192, id="vLLM now"
    ),
    pytest.param(
        400, "", "the request exceeds the available context size (4096 tokens), try increasing", 4_096, id="llama.cpp"
    ),
    pytest.param(500, "", LM_STUDIO_WORDS, 7_866, id="LM Studio"),
    pytest.param(400, "", "prompt is too long: 20831 tokens > 20000 maximum", 20_000, id="Anthropic"),
    pytest.param(400, "", GEMINI_WORDS, DEFAULT_WINDOW, id="Gemini"),
    pytest.param(
        400, "", "This model's maximum prompt length is 13107 but it contains 53781 tokens.", 13_107, id="xAI"
    ),
    pytest.param(400, "", "Please reduce the length of the messages or completion.", None, id="Groq"),
    pytest.param(
        400, "", "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4_096, id="SGLang"
    ),
    pytest.param(422, "", "`inputs` tokens + `max_new_tokens` must be <= 4096.", 4_096, id="TGI"),
    pytest.param(400, "", "Your request exceeded model token limit: 8192", 8_192, id="Moonshot"),
    pytest.param(400, "", "Range of input length should be [1, 30720]", 30_720, id="DashScope"),
    pytest.param(400, "", "Prompt too large for model with 16384 maximum context length", None, id="Mistral"),
    pytest.param(400, "", "Input is too long for requested model.", None, id="Bedrock"),
    pytest.param(400, "1261", "Prompt 超长", None, id="Zhipu"),
    pytest.param(413, "", "Request Entity Too Large", None, id="a proxy"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("status", "code", "words", "window"), TOO_LONG)
async def test_a_refusal_as_too_long_is_told_apart_and_learned_from(
    status: int, code: str, words: str, window: int | None
) -> None:
    time = VirtualTime()
    server = ModelServer([refused(status, words, code=code)], listed={"data": [{"id": "fake-vl"}]})
    async with server, model_at(server, time=time) as model:
        request = asking("a " * 10_000, picture())
        with pytest.raises(InputTooLong):
            await model.complete(request)
        assert (len(server.requests), time.waits) == (1, []), "asking again as it was would not help"
        assert await model.window() == (window or estimated_input(request.messages))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (429, "Rate limit reached: maximum context length"),
        (413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000"),
        (400, "Invalid value for temperature: the maximum is 2"),
        (400, "Image size exceeds the maximum of 20 MB"),
        (400, "max_tokens is too large"),
        (400, "Unknown parameter: context"),
        (400, "1113 is no value for seed"),
    ],
)
def test_other_refusals_are_not(status: int, words: str) -> None:
    assert cause_of(status, words) is not Cause.TOO_LONG


@pytest.mark.slow
async def test_other_refusals_teach_nothing_of_the_window() -> None:
    server = ModelServer([refused(400, "Invalid value for top_p: the maximum is 2048"), Answer(text="ok")])
    async with server, model_at(server) as model:
        with pytest.raises(ModelRefused) as caught:
            await model.complete(asking())
        assert not isinstance(caught.value, InputTooLong)
        assert await model.window() == DEFAULT_WINDOW
        assert (await model.complete(replace(asking(), conversation=""))).text == "ok"
