"""What leaves the machine of an app that forbids pictures: the bodies that a real endpoint receives over HTTP."""

from __future__ import annotations

import json

import pytest

from tests.end_to_end.brain import FINISH, brain, call, tap
from tests.end_to_end.service import Place
from tests.fakes.model_server import Answer, ModelServer, Recorded

WORDS = "maple river candle orbit"
ACTS = (
    call("open_app", name="Vault"),
    call("note", text="seen", screen=True),
    tap("•••••• id:summary"),
    call("read_words", app="org.example.vault"),
    call("key", key="home"),
    FINISH,
)


@pytest.mark.parametrize("fast_lane", ["auto", "off"])
@pytest.mark.parametrize("answer", ["allow", "deny"])
async def test_recovery_words_are_in_no_request_before_a_yes(place: Place, answer: str, fast_lane: str) -> None:
    """Seen failing with `covers_words` always false: they were in the second request."""
    acting = brain(*ACTS)

    def think(request: Recorded) -> Answer:
        if "The press and its window" in request.text:
            return Answer(text='{"consequence": "none", "object": ""}')
        return acting(request)

    async with ModelServer(think) as model:
        settings = {"VLM_BASE_URL": model.base_url, "VLM_MODEL": "a-model", "GUARD": "auto", "FAST_LANE": fast_lane}
        async with place.service(**settings):
            await place.opengui("do", "--answer", answer, "look into the vault", **settings)
    bodies = [json.dumps(request.body, ensure_ascii=False) for request in model.requests]
    assert any("id:summary" in body for body in bodies)
    first = next((number for number, body in enumerate(bodies) if WORDS in body), len(bodies))
    asked = [number for number, body in enumerate(bodies) if "lets you read the words" in body]
    assert first == (min(asked) if answer == "allow" else len(bodies))
