"""Chat completions: what is sent, and how an answer is put together."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from agent.models.base import Message, ModelRequest, Purpose, ToolCall, ToolSpec
from agent.models.pricing import Price
from devices.geometry import Size
from tests.agent.models.endpoints import KEY, TAP, Collected, asking, model_at, picture
from tests.fakes.model_server import DEEPSEEK, OLLAMA, OPENAI, STRICT, Answer, Call, ModelServer, Personality

pytestmark = pytest.mark.slow


async def test_text_is_streamed_and_complete() -> None:
    collected = Collected()
    async with ModelServer(["The settings are open, 设置已打开."]) as server, model_at(server) as model:
        reply = await model.complete(asking(), on_delta=collected)
    assert reply.text == collected.text == "The settings are open, 设置已打开."
    assert len(collected.deltas) > 1
    assert (reply.model, reply.finish_reason) == ("fake-vl", "stop")


async def test_the_request_holds_what_was_asked() -> None:
    async with ModelServer(["ok"]) as server, model_at(server) as model:
        await model.complete(asking("Look:", picture(140, 280), "Now act.", tools=(TAP,), conversation="task-1"))
        sent = server.requests[0]
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    assert [message["role"] for message in sent.messages] == ["system", "user"]
    assert sent.messages[0]["content"] == "You work a phone."
    assert [part["type"] for part in sent.messages[1]["content"]] == ["text", "image_url", "text"]
    assert (sent.images[0].media_type, sent.images[0].size) == ("image/jpeg", Size(140, 280))
    assert sent.body["tools"][0]["function"]["strict"] is True
    assert sent.body["prompt_cache_key"] == "task-1"
    assert sent.body["stream_options"] == {"include_usage": True}


async def test_a_schema_that_is_not_strict_is_not_sent_as_strict() -> None:
    loose = ToolSpec("note", "Remember.", {"type": "object", "properties": {"text": {"type": "string"}}})
    async with ModelServer(["ok"]) as server, model_at(server) as model:
        await model.complete(asking(tools=(loose,)))
        assert "strict" not in server.requests[0].body["tools"][0]["function"]


@pytest.mark.parametrize("piece", [1, 5, 100])
async def test_tool_calls_are_put_together_from_pieces(piece: int) -> None:
    calls = (Call(name="tap", arguments={"element": 3}), Call(name="type", arguments={"text": 'say "hé}llo" 你好'}))
    answer = Answer(text="Two things.", tool_calls=calls, piece=piece)
    async with ModelServer([answer]) as server, model_at(server) as model:
        reply = await model.complete(asking(tools=(TAP,)))
    assert reply.text == "Two things."
    assert reply.tool_calls == tuple(ToolCall(f"call_1_{n}", call.name, call.raw) for n, call in enumerate(calls))
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize("personality", [DEEPSEEK, OLLAMA])
async def test_reasoning_is_read_under_both_names(personality: Personality) -> None:
    collected = Collected()
    answer = Answer(text="Tap it.", reasoning="The button is blue, so it is enabled.")
    async with ModelServer([answer], personality=personality) as server, model_at(server) as model:
        reply = await model.complete(asking(), on_delta=collected)
    assert reply.reasoning == collected.reasoning == answer.reasoning
    assert reply.text == collected.text == "Tap it."


@pytest.mark.parametrize("personality", [OPENAI, DEEPSEEK])
async def test_usage_counts_what_was_sent_and_what_the_cache_had(personality: Personality) -> None:
    long = Message("system", ("Rules. " * 800,))
    request = ModelRequest(Purpose.ACT, (long, Message("user", ("Go on.",))))
    answer = Answer(text="Done.", reasoning="Hm, " * 10, times=0)
    prices = {"fake-vl": Price(input=2.0, cached=0.2, output=10.0)}
    async with ModelServer([answer], personality=personality) as server, model_at(server, prices=prices) as model:
        first = (await model.complete(request)).usage
        second = (await model.complete(request)).usage
        assert server.tokens.input == first.input + second.input
    assert (first.cached, second.cached) == (0, 1280)
    assert first.calls == 1
    assert not first.estimated
    assert 0 < first.reasoning < first.output
    assert second.cost == pytest.approx(((second.input - 1280) * 2 + 1280 * 0.2 + second.output * 10) / 1e6)


async def test_missing_usage_is_estimated_and_says_so() -> None:
    answer = Answer(text="Done with 12 things.", usage="missing")
    async with ModelServer([answer]) as server, model_at(server) as model:
        usage = (await model.complete(asking("How many?", picture(280, 280)))).usage
        counted = server.tokens.input
    assert usage.estimated
    assert usage.input == counted
    assert usage.output == 5
    assert usage.cost is None


async def test_what_an_endpoint_refuses_is_left_out_and_remembered() -> None:
    async with ModelServer(["one", "two"], personality=STRICT) as server, model_at(server) as model:
        first = await model.complete(asking(conversation="task-1"))
        second = await model.complete(asking(conversation="task-1"))
        statuses = [request.status for request in server.requests]
    assert (first.text, second.text) == ("one", "two")
    assert first.usage.estimated
    assert statuses == [400, 400, 200, 200]


async def test_calls_at_the_same_time_learn_together() -> None:
    async with ModelServer([Answer(text="ok", times=0)], personality=STRICT) as server, model_at(server) as model:
        replies = await asyncio.gather(*(model.complete(asking(conversation=f"task-{n}")) for n in range(5)))
        assert [reply.text for reply in replies] == ["ok"] * 5
        before = len(server.requests)
        await model.complete(asking(conversation="task-6"))
        assert len(server.requests) == before + 1


async def test_an_endpoint_that_cannot_stream_answers_in_one_piece() -> None:
    personality = Personality("no streaming", streams=False)
    collected = Collected()
    answer = Answer(text="Whole.", reasoning="One go.", tool_calls=(Call(name="tap", arguments={"element": 1}),))
    async with ModelServer([answer], personality=personality) as server, model_at(server) as model:
        reply = await model.complete(asking(tools=(TAP,)), on_delta=collected)
        assert [request.status for request in server.requests] == [400, 200]
    assert (reply.text, reply.reasoning, collected.text) == ("Whole.", "One go.", "Whole.")
    assert reply.tool_calls[0].arguments == '{"element": 1}'
    assert not reply.usage.estimated


async def test_a_call_is_shown_while_it_is_written() -> None:
    collected = Collected()
    answer = Answer(tool_calls=(Call(name="tap", arguments={"element": 1, "say": "I open the settings"}),), piece=5)
    async with ModelServer([answer]) as server, model_at(server) as model:
        reply = await model.complete(asking(tools=(TAP,)), on_delta=collected)
    written = [delta.call.arguments for delta in collected.deltas if delta.call is not None]
    assert len(written) > 2
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(written))
    assert written[-1] == reply.tool_calls[0].arguments


async def test_a_refusal_is_text() -> None:
    async with ModelServer([Answer(refusal="I can't help with that.")]) as server, model_at(server) as model:
        assert (await model.complete(asking())).text == "I can't help with that."


@pytest.mark.parametrize("hang", ["before", "during"])
async def test_cancelling_closes_the_connection_within_a_second(hang: str) -> None:
    answer = Answer.model_validate({"text": "A long story.", "hang": hang})
    async with ModelServer([answer]) as server, model_at(server) as model:
        call = asyncio.create_task(model.complete(asking()))
        sent = await server.arrived(1)
        call.cancel()
        async with asyncio.timeout(1):
            with pytest.raises(asyncio.CancelledError):
                await call
            await sent.gone.wait()
