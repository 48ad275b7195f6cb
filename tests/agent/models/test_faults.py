"""Failures: which are tried again, which error they become, and that no key is ever told."""

from __future__ import annotations

import asyncio
import logging
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import SecretStr

from agent.models.base import Delta, Purpose
from agent.models.endpoint import EndpointSettings
from agent.models.errors import (
    InputTooLong,
    ModelError,
    ModelKeyRejected,
    ModelRefused,
    ModelUnreachable,
    NoVision,
    UnknownModel,
)
from agent.models.openai_model import OpenAIModel
from tests.agent.models.endpoints import KEY, Collected, VirtualTime, asking, model_at, picture
from tests.fakes.model_server import NO_VISION, Answer, ModelServer, Personality, rate_limited, refused

pytestmark = pytest.mark.slow

TRANSIENT = {
    "429": rate_limited(),
    "500": refused(500, "The server had an error."),
    "503": refused(503, "Overloaded."),
    "408": refused(408, "Request timeout."),
    "cut": Answer(text="A long enough answer to be cut.", cut_after=2),
    "cut before the first piece": Answer(text="…", cut_after=0),
    "error inside the stream": Answer(text="A long enough answer to break.", break_after=2),
    "garbage": Answer(garbage=True),
}


@pytest.mark.parametrize("fault", TRANSIENT.values(), ids=TRANSIENT.keys())
async def test_what_may_pass_is_tried_again(fault: Answer) -> None:
    time = VirtualTime()
    async with ModelServer([fault, fault, "Here."]) as server, model_at(server, time=time, timeout=60) as model:
        reply = await model.complete(asking())
    assert reply.text == "Here."
    assert time.waits == [1.0, 2.0]


async def test_a_whole_answer_that_breaks_off_is_tried_again() -> None:
    time = VirtualTime()
    personality = Personality("no streaming", streams=False)
    answers: list[Answer | str] = [Answer(text="A long answer.", cut_after=0), "Here."]
    async with ModelServer(answers, personality=personality) as server, model_at(server, time=time) as model:
        assert (await model.complete(asking())).text == "Here."
    assert time.waits == [1.0]


@pytest.mark.parametrize("fault", TRANSIENT.values(), ids=TRANSIENT.keys())
async def test_after_four_attempts_the_endpoint_is_unreachable(fault: Answer) -> None:
    time = VirtualTime()
    always = fault.model_copy(update={"times": 0})
    async with ModelServer([always]) as server, model_at(server, time=time, timeout=60) as model:
        with pytest.raises(ModelUnreachable):
            await model.complete(asking())
        assert len(server.requests) == 4
    assert time.waits == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused(401, "Incorrect API key provided.", code="invalid_api_key"), ModelKeyRejected),
        (refused(403, "Country not supported."), ModelKeyRejected),
        (refused(404, "The model `fake-vl` does not exist.", code="model_not_found"), UnknownModel),
        (refused(404, "Not Found"), UnknownModel),
        (refused(400, "Model Not Exist"), UnknownModel),
        (NO_VISION, NoVision),
        (refused(400, "unknown variant `image_url`, expected `text`"), NoVision),
        (refused(400, "fake-vl is not a multimodal model"), NoVision),
        (refused(404, "No endpoints found that support image input"), NoVision),
        (refused(400, "This model does not support the invalid image_url part."), NoVision),
        (refused(400, "The image is too large: 40 MB exceeds 20 MB."), ModelRefused),
        (refused(400, "This model's maximum context length is 8192 tokens."), InputTooLong),
        (refused(422, "top_p: out of range"), ModelRefused),
        (refused(429, "You exceeded your current quota.", code="insufficient_quota"), ModelRefused),
        (refused(501, "Not implemented."), ModelRefused),
    ],
)
async def test_a_refusal_is_told_once_and_as_what_it_is(answer: Answer, kind: type[ModelError]) -> None:
    time = VirtualTime()
    async with ModelServer([answer]) as server, model_at(server, time=time) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(asking("Look:", picture()))
        assert len(server.requests) == 1
    assert type(caught.value) is kind
    assert time.waits == []
    assert answer.error is not None
    assert str(caught.value).endswith(f"“{answer.error['message']}”")


async def test_images_are_only_blamed_when_some_were_sent() -> None:
    async with ModelServer([NO_VISION]) as server, model_at(server) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(asking())
    assert type(caught.value) is ModelRefused


@pytest.mark.parametrize("date", [False, True])
async def test_retry_after_is_honoured(date: bool) -> None:
    time = VirtualTime()
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    fault = rate_limited(moment if date else "30")
    async with ModelServer([fault, "Here."]) as server, model_at(server, time=time, timeout=100) as model:
        assert (await model.complete(asking())).text == "Here."
    assert len(time.waits) == 1
    assert 27 <= time.waits[0] <= 30


async def test_no_wait_begins_that_would_end_after_the_limit() -> None:
    time = VirtualTime()
    async with ModelServer([rate_limited("600")]) as server, model_at(server, time=time, timeout=100) as model:
        with pytest.raises(ModelUnreachable, match="600 s"):
            await model.complete(asking())
    assert time.waits == []


async def test_nonsense_in_retry_after_is_no_reason_to_fail() -> None:
    time = VirtualTime()
    async with ModelServer([rate_limited("soon"), "Here."]) as server, model_at(server, time=time) as model:
        assert (await model.complete(asking())).text == "Here."
    assert time.waits == [1.0]


async def test_jitter_takes_up_to_half_of_the_wait() -> None:
    time = VirtualTime()
    policy = time.policy(chance=1.0)
    assert [policy.wait(attempt, None) for attempt in (1, 2, 6)] == [0.5, 1.0, 10.0]
    assert policy.wait(1, 7.0) == 7.0


async def test_pieces_are_not_streamed_a_second_time() -> None:
    collected = Collected()
    answers: list[Answer | str] = [Answer(text="The first attempt breaks off.", cut_after=2), "The second is whole."]
    async with ModelServer(answers) as server, model_at(server) as model:
        reply = await model.complete(asking(), on_delta=collected)
    assert reply.text == "The second is whole."
    assert "The first attempt".startswith(collected.text)


async def test_a_failing_watcher_is_not_blamed_on_the_endpoint() -> None:
    def watch(_: Delta) -> None:
        raise ValueError

    async with ModelServer(["Here."]) as server, model_at(server) as model:
        with pytest.raises(RuntimeError, match="watcher"):
            await model.complete(asking(), on_delta=watch)
        assert len(server.requests) == 1


async def test_a_silent_endpoint_is_given_up_at_the_limit() -> None:
    silent = Answer(hang="before", times=0)
    async with ModelServer([silent]) as server, model_at(server, timeout=0.4) as model:
        with pytest.raises(ModelUnreachable, match="did not answer in time"):
            await model.complete(asking(purpose=Purpose.VERIFY))


async def test_an_endpoint_that_never_ends_is_given_up_at_the_limit() -> None:
    slow = Answer(text="And so on. " * 50, piece=1, pace=0.05)
    async with ModelServer([slow]) as server, model_at(server, timeout=1.6) as model:
        with pytest.raises(ModelUnreachable, match=r"within 0\.8 s"):
            await model.complete(asking(purpose=Purpose.VERIFY))
        async with asyncio.timeout(10):
            await server.requests[0].gone.wait()


async def test_nobody_listens() -> None:
    async with ModelServer() as server:
        pass
    async with model_at(server) as model:
        with pytest.raises(ModelUnreachable, match="cannot be reached"):
            await model.complete(asking())


async def test_without_a_key_a_local_endpoint_is_called_and_openai_is_not() -> None:
    async with ModelServer(["ok"]) as server, model_at(server, key="") as model:
        assert (await model.complete(asking())).text == "ok"
    settings = EndpointSettings(model="some-model")
    with pytest.raises(ModelKeyRejected, match="No API key is set for api"):
        await OpenAIModel(settings).complete(asking())


async def test_a_local_endpoint_that_wants_a_key_says_that_none_is_set() -> None:
    async with ModelServer(["ok"], key="secret") as server, model_at(server, key="") as model:
        with pytest.raises(ModelKeyRejected, match="none is set"):
            await model.complete(asking())


async def test_a_key_that_no_header_can_hold_is_refused_before_any_call() -> None:
    async with ModelServer(["ok"]) as server, model_at(server, key="ключ\nдва") as model:
        with pytest.raises(ModelKeyRejected, match="pasted"):
            await model.complete(asking())
        assert server.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        refused(400, f"Bad header: Bearer {KEY}"),
        refused(500, f"Crashed on {KEY}", times=0),
        refused(404, f"No route for {KEY}"),
        None,
    ],
)
async def test_the_key_is_never_told(answer: Answer | None, caplog: pytest.LogCaptureFixture) -> None:
    """Seen failing for the 400 and the 500 (in the log) with `without_key` returning its text, and for all four with
    the SDK's error chained."""
    caplog.set_level(logging.DEBUG)
    key = "" if answer else "another-key"
    async with ModelServer([answer] if answer else [], key=key) as server, model_at(server) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(asking())
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert KEY not in caplog.text
    settings = EndpointSettings(model="m", api_key=SecretStr(KEY))
    assert KEY not in repr(settings)
    assert KEY not in repr(model)
