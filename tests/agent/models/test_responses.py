"""The Responses API as a conversation that the endpoint keeps, and every way in which it does not."""

from __future__ import annotations

import asyncio

import pytest

from agent.models.base import Message, Purpose, ToolCall
from agent.models.errors import ModelError, ModelUnreachable, UnknownModel
from agent.models.pricing import Price
from tests.agent.models.conversation import ALWAYS, acting, step, walk
from tests.agent.models.endpoints import Collected, VirtualTime, asking, model_at, picture
from tests.fakes.model_server import (
    DEEPSEEK,
    LITELLM,
    OPENAI,
    VLLM,
    VLLM_WITH_STORE,
    Answer,
    Call,
    ModelServer,
    Personality,
    rate_limited,
)

pytestmark = pytest.mark.slow


async def test_only_new_messages_are_sent() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        replies = await walk(model, 3)
        sent = server.requests
        assert [request.path for request in sent] == ["/v1/responses"] * 3
        assert [request.body.get("previous_response_id") for request in sent] == [None, "resp_1", "resp_2"]
        assert [len(request.messages) for request in sent] == [2, 1, 1]
        assert [len(request.images) for request in sent] == [1, 1, 1]
        assert server.deleted == []
    assert server.deleted == ["resp_1", "resp_2", "resp_3"]
    assert [reply.text for reply in replies] == ["Tap it."] * 3
    assert replies[2].usage.input > replies[0].usage.input


async def test_a_picture_that_leaves_the_window_or_is_lightened_is_nothing_new() -> None:
    """Seen failing with the pictures' bytes among the digests."""
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await walk(model, 2)
        said = Message("assistant", ("Tap it.",))
        lighter = Message("user", ("Step 2", picture(shade=77)))
        await model.complete(acting(step(1, with_image=False), said, lighter, said, step(3)))
        last = server.requests[-1]
        assert last.body["previous_response_id"] == "resp_2"
        assert len(last.messages) == len(last.images) == 1


async def test_the_conversation_branches_before_an_answer_that_was_left() -> None:
    """The screen had moved: the same step is asked again. Seen failing with the last response alone remembered."""
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await walk(model, 2)
        said = Message("assistant", ("Tap it.",))
        moved = Message("user", ("Step 2, moved", picture(shade=9)))
        await model.complete(acting(step(1), said, moved))
        await model.complete(acting(step(1), said, moved, said, step(3)))
        assert [request.body.get("previous_response_id") for request in server.requests] == [
            None, "resp_1", "resp_1", "resp_3",
        ]  # fmt: skip
        await server.forgotten("resp_2")
        assert all(response in server.store for response in ("resp_1", "resp_3", "resp_4"))
    assert len(server.store) == 0


async def test_a_conversation_that_is_over_leaves_nothing_behind() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await walk(model, 3)
        model.end_conversation("run-1")
        for response in ("resp_1", "resp_2", "resp_3"):
            await server.forgotten(response)
        assert len(server.store) == 0


async def test_tool_calls_get_an_output_before_the_next_message() -> None:
    answer = Answer(tool_calls=(Call(name="tap", arguments={"element": 1}),), times=0)
    async with ModelServer([answer]) as server, model_at(server, api="responses") as model:
        first = await model.complete(acting(step(1)))
        assert first.tool_calls == (ToolCall("call_1_0", "tap", '{"element": 1}'),)
        assert first.finish_reason == "tool_calls"
        told = Message("assistant", ('tap {"element": 1}',))
        await model.complete(acting(step(1), told, step(2)))
        sent = server.requests[1].body["input"]
        assert [item.get("type", item.get("role")) for item in sent] == ["function_call_output", "user"]


async def test_another_answer_in_the_history_than_the_endpoint_gave_is_sent_in_full() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await model.complete(acting(step(1)))
        await model.complete(acting(step(1), Message("assistant", ("Something else.",)), step(2)))
        assert "previous_response_id" not in server.requests[1].body


async def test_the_same_request_again_is_sent_in_full() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await model.complete(acting(step(1)))
        await model.complete(acting(step(1)))
        assert [len(request.messages) for request in server.requests] == [2, 2]


async def test_conversations_do_not_mix() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await model.complete(acting(step(1), conversation="a"))
        await model.complete(acting(step(1), conversation="b"))
        await model.complete(acting(step(1), step(2), conversation="a"))
        assert [request.body.get("previous_response_id") for request in server.requests] == [None, None, "resp_1"]


async def test_the_endpoint_keeps_no_more_conversations_than_are_followed() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        for number in range(65):
            await model.complete(acting(step(1), conversation=f"run-{number}"))
        await server.forgotten("resp_1")
        assert len(server.store) == 64


@pytest.mark.parametrize("personality", [OPENAI, VLLM_WITH_STORE])
async def test_a_lost_id_sends_the_turn_in_full(personality: Personality) -> None:
    async with ModelServer([ALWAYS], personality=personality) as server, model_at(server, api="responses") as model:
        await model.complete(acting(step(1)))
        server.store.clear()
        reply = await model.complete(acting(step(1), step(2)))
        await model.complete(acting(step(1), step(2), step(3)))
        assert reply.text == "Tap it."
        assert [request.status for request in server.requests] == [200, personality.lost, 200, 200]
        assert [len(request.images) for request in server.requests] == [1, 1, 2, 1]


async def test_an_endpoint_that_forgets_every_time_is_not_told_to_keep_anything() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        for steps in ((1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)):
            reply = await model.complete(acting(*(step(number) for number in steps)))
            server.store.clear()
        assert reply.usage.calls == 1
        assert [request.body["store"] for request in server.requests] == [True, True, True, True, False, False]


async def test_an_answer_without_the_context_is_not_used() -> None:
    """Seen failing with the comparison of the echoed id removed: the second reply was the one without context."""
    prices = {"fake-vl": Price(input=1, output=1)}
    answers = ["one", "blind", "seeing", "three"]
    async with (
        ModelServer(answers, personality=LITELLM) as server,
        model_at(server, api="responses", prices=prices) as model,
    ):
        await model.complete(acting(step(1)))
        server.store.clear()
        reply = await model.complete(acting(step(1), step(2)))
        assert reply.text == "seeing"
        assert reply.usage.calls == 2
        assert len(server.requests[2].images) == 2
        assert server.requests[2].body["store"] is False
        await model.complete(acting(step(1), step(2), step(3)))
        assert len(server.requests[3].images) == 3


async def test_an_endpoint_that_stores_nothing_gets_the_whole_history() -> None:
    async with ModelServer([ALWAYS], personality=VLLM) as server, model_at(server, api="responses") as model:
        await walk(model, 2)
        assert [request.status for request in server.requests] == [501, 200, 200]
        assert [request.body["store"] for request in server.requests] == [True, False, False]
        assert "previous_response_id" not in server.requests[2].body


async def test_an_endpoint_without_the_api_falls_back_once() -> None:
    async with ModelServer([ALWAYS], personality=DEEPSEEK) as server, model_at(server, api="responses") as model:
        for number in (1, 2):
            await model.complete(acting(step(number, with_image=False)))
        assert [request.path for request in server.requests] == ["/v1/chat/completions"] * 2
        assert server.unknown_paths == ["/v1/responses"]


async def test_other_purposes_leave_nothing_at_the_endpoint() -> None:
    async with ModelServer([ALWAYS]) as server, model_at(server, api="responses") as model:
        await model.complete(asking(purpose=Purpose.VERIFY, conversation="run-1"))
        assert server.requests[0].body["store"] is False
        assert len(server.store) == 0


async def test_an_unknown_model_is_no_missing_api() -> None:
    async with ModelServer([ALWAYS], models=("other",)) as server, model_at(server, api="responses") as model:
        with pytest.raises(UnknownModel):
            await model.complete(acting(step(1)))
        assert len(server.requests) == 1


@pytest.mark.parametrize("streams", [True, False])
async def test_everything_of_an_answer_is_read(streams: bool) -> None:
    collected = Collected()
    personality = Personality("plain", responses="stateful", streams=streams)
    calls = (Call(name="tap", arguments={"element": 2}),)
    answer = Answer(text="Here, 这里.", reasoning="Because.", tool_calls=calls)
    async with ModelServer([answer], personality=personality) as server, model_at(server, api="responses") as model:
        reply = await model.complete(acting(step(1)), on_delta=collected)
        assert reply.usage.input == server.tokens.input
    assert (reply.text, reply.reasoning) == ("Here, 这里.", "Because.")
    assert reply.tool_calls == (ToolCall("call_1_0", "tap", '{"element": 2}'),)
    assert 0 < reply.usage.reasoning < reply.usage.output
    assert not reply.usage.estimated
    assert (collected.text, collected.reasoning) == (("Here, 这里.", "Because.") if streams else ("", ""))
    written = [delta.call for delta in collected.deltas if delta.call is not None]
    assert [(call.name, call.arguments) for call in written[-1:]] == ([("tap", '{"element": 2}')] if streams else [])


async def test_a_cut_answer_says_length() -> None:
    answer = Answer(text="Cut", finish_reason="length")
    async with ModelServer([answer]) as server, model_at(server, api="responses") as model:
        assert (await model.complete(acting(step(1)))).finish_reason == "length"


@pytest.mark.parametrize("fault", [Answer(text="A long enough answer.", cut_after=2), rate_limited()])
async def test_what_may_pass_is_tried_again(fault: Answer) -> None:
    time = VirtualTime()
    async with ModelServer([fault, "Here."]) as server, model_at(server, api="responses", time=time) as model:
        assert (await model.complete(acting(step(1)))).text == "Here."
    assert time.waits == [1.0]


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "server_error", "message": "Oh."}, ModelUnreachable),
        ({"type": "error", "code": "invalid_prompt", "message": "No."}, ModelError),
        (
            {
                "type": "response.failed",
                "response": {"id": "r", "status": "failed", "error": {"code": "rate_limit_exceeded", "message": "…"}},
            },
            ModelUnreachable,
        ),
    ],
)
async def test_an_error_inside_the_stream_is_what_it_says(event: dict[str, object], kind: type[ModelError]) -> None:
    fault = Answer(text="A long enough answer.", break_after=2, event=event, times=0)
    async with ModelServer([fault]) as server, model_at(server, api="responses", timeout=60) as model:
        with pytest.raises(kind) as caught:
            await model.complete(acting(step(1)))
        assert len(server.requests) == (4 if type(caught.value) is ModelUnreachable else 1)


async def test_cancelling_closes_the_connection_within_a_second() -> None:
    answer = Answer(text="A long story.", hang="during")
    async with ModelServer([answer]) as server, model_at(server, api="responses") as model:
        call = asyncio.create_task(model.complete(acting(step(1))))
        sent = await server.arrived(1)
        call.cancel()
        async with asyncio.timeout(1):
            with pytest.raises(asyncio.CancelledError):
                await call
            await sent.gone.wait()
