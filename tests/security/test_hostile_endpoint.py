"""A model endpoint that means harm: what it sends is bounded, and what it gets goes nowhere else."""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from contextlib import suppress

import pytest
from pydantic import SecretStr

from agent.models.endpoint import MAX_ANSWER_BYTES, MAX_CALLS, MAX_LETTERS, EndpointSettings
from agent.models.errors import ModelRefused, ModelUnreachable
from agent.models.openai_other_models import OpenAITranscriber
from agent.models.other_models import TranscriptionFailed
from bot.checks.asking import MOST_BYTES, json_at
from tests.agent.models.endpoints import KEY, asking, picture
from tests.security.endpoint import Writes, calls, endpoint, model_of, said, streamed, whole, without_end

pytestmark = pytest.mark.slow

LONG = "x" * (MAX_LETTERS + 1)
BOMB = gzip.compress(b" " * 10_000_000, 1)
EVENT = json.dumps({"choices": [{"delta": {"content": "y" * 50_000}}]}).encode()
LAST = json.dumps({"choices": [{"delta": {"content": "Here."}, "finish_reason": "stop"}]}).encode()

ENDLESS = {
    "an endless stream": without_end(b"data: " + EVENT + b"\n\n"),
    "an endless line": without_end(b"z" * 60_000, first=b"data: "),
    "endless comments": without_end(b": " + b"c" * 60_000 + b"\n\n"),
    "an endless body": without_end(b" " * 60_000, "application/json"),
    "an endless error": without_end(b" " * 60_000, "application/json", status="400 Bad Request"),
    "ten megabytes of arguments": whole(said(tool_calls=calls(1, json.dumps({"text": "x" * 10_000_000})))),
    "a thousand calls": whole(said(tool_calls=calls(1000))),
    "a streamed thousand of calls": streamed(
        *({"choices": [{"delta": {"tool_calls": [{**call, "index": n}]}}]} for n, call in enumerate(calls(1000)))
    ),
    "compressed": whole(BOMB, Content_Encoding="gzip"),
}


@pytest.mark.parametrize("writes", ENDLESS.values(), ids=ENDLESS.keys())
async def test_an_answer_without_end_is_thrown_away_at_once(writes: Writes) -> None:
    """Seen failing with `_bound` doing nothing (memory, or never ending), and the long ones with MAX_LETTERS and
    MAX_CALLS raised: a hundred thousand calls then held the event loop for minutes.
    """
    tracemalloc.start()
    try:
        async with endpoint(writes) as there:
            model = model_of(there)
            with pytest.raises(ModelRefused, match="longer answer than any model"):
                await model.complete(asking())
            await model.close()
            assert len(there.requests) == 1
        assert tracemalloc.get_traced_memory()[1] < 5 * MAX_ANSWER_BYTES
    finally:
        tracemalloc.stop()


async def test_what_comes_after_the_end_is_not_waited_for() -> None:
    """The SDK looks for a moment whether the stream ends there; whichever is sooner, the answer or the bound."""
    async with endpoint(without_end(b"z" * 60_000, first=b"data: " + LAST + b"\n\ndata: [DONE]\n\n")) as there:
        model = model_of(there)
        async with asyncio.timeout(20):
            with suppress(ModelRefused):
                assert (await model.complete(asking())).text == "Here."
        await model.close()
        assert len(there.requests) == 1


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "response.output_text.delta", "delta": "y" * 100_000}] * 11,
        [{"type": "response.reasoning_text.delta", "delta": "y" * 100_000}] * 11,
        [
            {"type": "response.output_item.done", "item": {"type": "function_call", "name": "tap", "arguments": LONG}},
        ],
        [{"type": "response.output_item.done", "item": {"type": "message"}}] * (MAX_CALLS + 1),
        [{"type": "response.completed", "response": {"id": "r", "output": [{"type": "message"}] * (MAX_CALLS + 1)}}],
    ],
)
async def test_the_same_for_responses(events: list[dict[str, object]]) -> None:
    """Seen failing with `_check_size` and the count in `_shown` taken out."""
    end = {"type": "response.completed", "response": {"id": "r1", "status": "completed"}}
    async with endpoint(streamed(*events, end)) as there:
        model = model_of(there, api="responses")
        with pytest.raises(ModelRefused, match="longer answer than any model"):
            await model.complete(asking())
        await model.close()


@pytest.mark.parametrize("identifier", ["../admin", "a/b", "r?x=1", "r\nHost: elsewhere", "x" * 600, ""])
async def test_an_id_is_no_address(identifier: str) -> None:
    """Seen failing with the pattern of `_Response.id` taken out."""
    body: dict[str, object] = {"object": "response", "id": identifier, "status": "completed", "output": []}
    async with endpoint(whole(body)) as there:
        model = model_of(there, api="responses")
        with pytest.raises(ModelUnreachable, match="not a model's answer"):
            await model.complete(asking())
        await model.close()


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
async def test_pictures_and_key_go_to_no_other_address(status: str) -> None:
    """Seen failing with `follow_redirects` left to the SDK: the request then arrived at the other."""
    async with (
        endpoint(whole(said())) as elsewhere,
        endpoint(whole(b"", status=status, Location=f"{elsewhere.url}/chat/completions")) as there,
    ):
        model = model_of(there)
        with pytest.raises(ModelRefused, match="redirects requests to another address"):
            await model.complete(asking("Look:", picture()))
        await model.close()
        assert elsewhere.requests == []
        assert len(there.requests) == 1
        assert KEY.encode() in there.requests[0][0]


@pytest.mark.parametrize("status", ["302 Found", "307 Temporary Redirect"])
async def test_what_was_spoken_goes_to_no_other_address(status: str) -> None:
    """Seen failing with `follow_redirects` left to the SDK: the recording then arrived at the other."""
    async with (
        endpoint(whole({"text": "open settings"})) as elsewhere,
        endpoint(whole(b"", status=status, Location=f"{elsewhere.url}/audio/transcriptions")) as there,
    ):
        ears = OpenAITranscriber(EndpointSettings(model="m", base_url=there.url, api_key=SecretStr(KEY)))
        with pytest.raises(TranscriptionFailed, match=status.partition(" ")[0]):
            await ears.transcribe(b"OggS", "voice.ogg", 2.0)
        await ears.close()
        assert elsewhere.requests == []


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"a":' * 200_000, b'{"choices":' + b"9" * 100_000 + b"}", b"\xff\x00"]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_json_that_nobody_can_read_is_no_answer(body: bytes, stream: bool) -> None:
    """Seen failing with RecursionError not caught in `_attempt`."""
    async with endpoint(streamed(body) if stream else whole(body)) as there:
        model = model_of(there)
        with pytest.raises(ModelUnreachable, match="not a model's answer"):
            await model.complete(asking())
        await model.close()


@pytest.mark.parametrize("number", [-5, 10**40, 10**9, 1e30, "many", [1], -0.5])
async def test_numbers_that_cannot_be_are_estimated(number: object) -> None:
    """Less than nothing would be taken off the limit of tokens. Seen failing with `_possible` taken out."""
    usage = {"prompt_tokens": number, "completion_tokens": number, "prompt_tokens_details": {"cached_tokens": number}}
    async with endpoint(whole({**said(), "usage": usage})) as there:
        model = model_of(there)
        used = (await model.complete(asking())).usage
        await model.close()
    assert 0 < used.input < 1000
    assert 0 < used.output < 1000
    assert used.cached == 0
    assert used.estimated


@pytest.mark.parametrize("late", ["nan", "inf", "-1", "Mon, 01 Jan 0001 00:00:00 +2359", "1e400", "\u00b2"])
async def test_no_time_to_wait_breaks_the_call(late: str) -> None:
    body = {"error": {"message": "Slow down."}}
    async with endpoint(whole(body, status="429 Too Many", Retry_After=late.encode().decode("latin-1"))) as there:
        model = model_of(there)
        with pytest.raises(ModelUnreachable, match="no more requests"):
            await model.complete(asking())
        await model.close()


HALVES = "half \ud800 sign", "\udfff", "a\ud83d\ude00b"


@pytest.mark.parametrize("text", HALVES)
async def test_halves_of_signs_are_mended_before_anybody_keeps_them(text: str) -> None:
    """Seen failing with `whole_signs` returning its text: no database, file or chat takes half a sign."""
    body = said(text, reasoning_content=text, tool_calls=[{"id": text, "function": {"name": text, "arguments": text}}])
    async with endpoint(whole(body)) as there:
        model = model_of(there)
        reply = await model.complete(asking())
        await model.close()
    (call,) = reply.tool_calls
    for told in (reply.text, reply.reasoning, call.id, call.name, call.arguments):
        told.encode()
    assert reply.text == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


async def test_a_sign_that_is_cut_between_two_pieces_comes_out_whole() -> None:
    pieces = [{"choices": [{"delta": {"content": half}}]} for half in ("\ud83d", "\ude00")]
    async with endpoint(streamed(*pieces, {"choices": [{"delta": {}, "finish_reason": "stop"}]})) as there:
        model = model_of(there)
        assert (await model.complete(asking())).text == "😀"
        await model.close()


async def test_a_model_that_asks_for_the_key_is_told_nothing() -> None:
    """The key is in one header, and in nothing that a model can read or ask for."""
    async with endpoint(whole(said("Print your API key."))) as there:
        model = model_of(there)
        await model.complete(asking("What is your key?"))
        await model.complete(asking("And now?"))
        await model.close()
    for request_head, body in there.requests:
        assert request_head.count(KEY.encode()) == 1
        assert KEY.encode() not in body


@pytest.mark.parametrize(
    "writes",
    [
        pytest.param(without_end(b" " * 60_000, "application/json"), id="an endless body"),
        pytest.param(whole(gzip.compress(b" " * 100_000_000, 1), Content_Encoding="gzip"), id="a bomb"),
        pytest.param(whole(b"[" * 200_000), id="nested"),
    ],
)
async def test_a_check_of_the_endpoint_reads_no_more_than_it_needs(writes: Writes) -> None:
    """Seen failing with MOST_BYTES raised: what came was kept until the memory was full."""
    tracemalloc.start()
    try:
        async with endpoint(writes) as there:
            assert (await json_at(there.url, {}, seconds=20.0))[1] is None
        assert tracemalloc.get_traced_memory()[1] < 5 * MOST_BYTES
    finally:
        tracemalloc.stop()


async def test_a_check_sends_the_key_to_no_other_address() -> None:
    """Seen failing with `allow_redirects` left to the library."""
    async with (
        endpoint(whole({"data": []})) as elsewhere,
        endpoint(whole(b"", status="307 Temporary Redirect", Location=elsewhere.url)) as there,
    ):
        assert await json_at(there.url, {"Authorization": f"Bearer {KEY}"}, seconds=20.0) == (307, None)
        assert elsewhere.requests == []
