"""Models that accept no pictures operate the phone by the list of its elements."""

from __future__ import annotations

import pytest

from agent.events import Told
from agent.run import Outcome
from agent.wording import words
from tests.agent.graph.rig import Rig
from tests.agent.providers.speaking import Think, acting, switcher
from tests.agent.providers.world import world
from tests.fakes.model_server import Answer, ModelServer, Recorded

LLAMA_CPP = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
REFUSALS = {
    "llama.cpp": Answer(status=500, body={"error": {"code": 500, "message": LLAMA_CPP, "type": "server_error"}}),
    "vLLM": Answer(status=400, body={"object": "error", "message": "qwen3-8b is not a multimodal model", "code": 400}),
    "Ollama": Answer(status=500, body={"error": "this model is missing data required for image input"}),
    "LM Studio": Answer(body={"error": {"message": "Vision add-on is not loaded, but images were provided"}}),
}
"""As they are sent; their sources are in tests/agent/models/refusals.toml."""


def blind(refusal: Answer) -> Think:
    """Does the task as long as no picture is sent."""
    think = switcher()
    return lambda request: refusal if request.images else think(request)


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
async def test_a_refused_picture_is_no_outage_and_no_end(rig: Rig, refusal: Answer) -> None:
    """Seen failing (blocked, or waiting for the endpoint) with `takes_pictures` always true."""
    async with world(rig, ModelServer(blind(refusal))) as there:
        work = there.work()
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
        assert there.bluetooth
        assert [len(request.images) for request in acting(there.server.requests)][:2] == [1, 0]
        assert sum(len(request.images) for request in there.server.requests) == 1, "it is found out once"
        assert there.time.waits == []
        told = [event.text for event in work.events if isinstance(event, Told)]
        assert str(words("told.by_list", model="fake-vl")) in told
        assert not there.model.takes_pictures


async def test_what_was_found_out_holds_for_the_next_task(rig: Rig) -> None:
    async with world(rig, ModelServer(blind(REFUSALS["llama.cpp"]))) as there:
        await there.do(task="7")
        before = len(there.server.requests)
        await there.do(task="8")
        later = there.server.requests[before:]
        assert later
        assert not any(request.images for request in later)
        assert "You are shown no pictures" in acting(later)[0].text
        assert "Its screenshot:" not in acting(later)[0].text


async def test_a_model_that_is_never_shown_pictures_is_sent_none(rig: Rig) -> None:
    async with world(rig, ModelServer(switcher()), pictures="never", image_window=3) as there:
        assert (await there.do()).outcome is Outcome.SUCCEEDED
        assert not any(request.images for request in there.server.requests)


async def test_empty_answers_to_pictures_are_asked_for_by_the_list(rig: Rig) -> None:
    """Three of them in a row do not end what can be asked otherwise. Seen failing with `can_ask_otherwise` false."""
    async with world(rig, ModelServer(blind(Answer(text="")))) as there:
        assert (await there.do()).outcome is Outcome.SUCCEEDED
        assert there.bluetooth
        assert [len(request.images) for request in acting(there.server.requests)][:4] == [1, 1, 1, 0]
        assert there.model.takes_pictures, "nothing was refused: it may see in the next task"


async def test_empty_answers_to_lists_end_it_as_well(rig: Rig) -> None:
    def empty(_: Recorded) -> Answer:
        return Answer(text="")

    async with world(rig, ModelServer(empty)) as there:
        end = await there.do()
        assert end.outcome is Outcome.FAILED
        assert [len(request.images) for request in acting(there.server.requests)] == [1, 1, 1, 0, 0, 0]
