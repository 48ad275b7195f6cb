"""What can go wrong between the agent and an endpoint, and how the task ends."""

from __future__ import annotations

import pytest

from agent.run import Outcome
from tests.agent.graph.rig import Rig
from tests.agent.models.endpoints import KEY
from tests.agent.providers.speaking import Think, acting, switcher
from tests.agent.providers.world import World, world
from tests.fakes.model_server import Answer, ModelServer, Recorded, rate_limited, refused

TOO_LONG = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."
HANGS = Answer(hang="before", times=0)


def after(*faults: Answer) -> Think:
    """These answers first (the last one for ever if it says so), then the model that does the task."""
    rest = list(faults)
    think = switcher()

    def answer(request: Recorded) -> Answer:
        if rest:
            return rest.pop(0) if rest[0].times else rest[0]
        return think(request)

    return answer


def done_once(there: World) -> bool:
    """Whether the switch was touched exactly once."""
    return there.bluetooth and len([line for line in there.rig.inputs() if "input tap" in line]) == 1


@pytest.mark.parametrize(
    "fault",
    [Answer(status=500), Answer(status=503), Answer(cut_after=1), Answer(break_after=1), rate_limited()],
    ids=["500", "503", "reset", "error in the stream", "429"],
)
async def test_what_passes_is_tried_again(rig: Rig, fault: Answer) -> None:
    async with world(rig, ModelServer(after(fault))) as there:
        assert (await there.do()).outcome is Outcome.SUCCEEDED
        assert done_once(there)
        assert len(there.time.waits) == 1


async def test_what_was_too_long_is_made_shorter_and_the_window_is_remembered(rig: Rig) -> None:
    async with world(rig, ModelServer(after(refused(400, TOO_LONG))), image_window=3) as there:
        assert (await there.do()).outcome is Outcome.SUCCEEDED
        assert done_once(there)
        assert there.time.waits == []
        assert await there.model.window() == 8_192
        assert [len(request.images) for request in acting(there.server.requests)] == [1, 1, 1, 1]


async def test_the_wait_that_is_asked_for_is_kept(rig: Rig) -> None:
    async with world(rig, ModelServer(after(rate_limited("7")))) as there:
        assert (await there.do()).outcome is Outcome.SUCCEEDED
        assert there.time.waits == [7.0]


@pytest.mark.parametrize(
    ("fault", "outcome", "words"),
    [
        (Answer(status=500, times=0), Outcome.BLOCKED, ["reported an internal error", "again in a few minutes"]),
        (rate_limited("900", times=0), Outcome.BLOCKED, ["accepts no more requests", "900 s"]),
        (Answer(cut_after=1, times=0), Outcome.BLOCKED, ["dropped the connection"]),
        (Answer(garbage=True, times=0), Outcome.BLOCKED, ["not a model's answer", "base URL"]),
        (
            refused(429, "No money.", code="insufficient_quota", times=0),
            Outcome.BLOCKED,
            ["no credit or", "“No money.”"],
        ),
        (refused(400, "Too many tokens.", times=0), Outcome.FAILED, ["refused the request (400)", "Too many tokens."]),
        (refused(400, TOO_LONG, times=0), Outcome.FAILED, ["context window of fake-vl", "larger window"]),
    ],
    ids=["500", "429", "reset", "no API", "no credit", "400", "too long"],
)
async def test_what_does_not_pass_ends_the_task_with_its_sentence(
    rig: Rig, fault: Answer, outcome: Outcome, words: list[str]
) -> None:
    async with world(rig, ModelServer(after(fault))) as there:
        end = await there.do()
    assert end.outcome is outcome
    assert all(each in end.summary for each in words), end.summary
    assert "nothing is repeated automatically" in end.summary
    assert rig.inputs() == []


async def test_an_endpoint_that_stays_silent(rig: Rig) -> None:
    async with world(rig, ModelServer(after(HANGS)), timeout=0.5) as there:
        end = await there.do()
    assert end.outcome is Outcome.BLOCKED
    assert "did not answer in time" in end.summary


async def test_a_rejected_key_blocks_and_is_not_repeated_to_anybody(rig: Rig) -> None:
    async with world(rig, ModelServer(switcher(), key="another")) as there:
        end = await there.do()
    assert end.outcome is Outcome.BLOCKED
    assert "rejected the API key" in end.summary
    assert "VLM_API_KEY" in end.summary
    assert KEY not in end.summary


async def test_an_unknown_model_blocks(rig: Rig) -> None:
    async with world(rig, ModelServer(switcher(), models={"fake-vl-2"})) as there:
        end = await there.do()
    assert end.outcome is Outcome.BLOCKED
    assert "does not know the model 'fake-vl'" in end.summary
    assert "VLM_MODEL" in end.summary


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(text=""), "It was empty."),
        (Answer(text="Let me think about", finish_reason="length"), "cut off because it was too long"),
        (Answer(text="Bluetooth is on!"), "There is no call in your answer."),
        (Answer(refusal="I cannot help with that."), "There is no call in your answer."),
    ],
    ids=["empty", "length", "prose", "refusal"],
)
async def test_a_useless_answer_is_told_to_the_model(rig: Rig, answer: Answer, words: str, api: str) -> None:
    async with world(rig, ModelServer(after(answer)), api="chat" if api == "chat" else "responses") as there:
        end = await there.do()
        assert end.outcome is Outcome.SUCCEEDED
        assert done_once(there)
        assert words in acting(there.server.requests)[1].text


async def test_a_content_filter_is_told_and_the_third_time_ends_it(rig: Rig) -> None:
    filtered = Answer(text="", finish_reason="content_filter", times=0)
    async with world(rig, ModelServer(after(filtered))) as there:
        end = await there.do()
        assert "content filter" in acting(there.server.requests)[1].text
    assert end.outcome is Outcome.FAILED
    assert "3 answers in a row" in end.summary
    assert "content filter" in end.summary
    assert rig.inputs() == []
