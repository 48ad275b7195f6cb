"""GUARD=auto over HTTP: what the endpoint says of a press holds it, and what it cannot say counts as unknown."""

from __future__ import annotations

import json
import re

import pytest

from agent.events import Asked
from agent.guards.reading import GuardMode
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work
from tests.agent.providers.world import world
from tests.fakes.model_server import Answer, Call, ModelServer, Recorded, refused

TASK = "put the xylophone for grandmother into the basket"
JUDGING = "You judge one press"
SENDS = Answer(text=json.dumps({"consequence": "sends", "object": "the cart to Mallory"}))
NONE = Answer(text=json.dumps({"consequence": "none", "object": ""}))
_CART = re.compile(r"(\d+)[^\n]*'Cart, 0'")


class Shopper:
    """Presses the cart, then gives up; of the press it says what it is told to."""

    def __init__(self, judges: Answer) -> None:
        self._judges = judges
        self._pressed = False

    def __call__(self, request: Recorded) -> Answer:
        if JUDGING in request.text:
            return self._judges
        if "Write a caption" in request.text or not (cart := _CART.search(request.text)) or self._pressed:
            return Answer(tool_calls=(Call(name="finish", arguments={"status": "failure", "summary": "stopped"}),))
        self._pressed = True
        return Answer(tool_calls=(Call(name="tap", arguments={"element": int(cart[1]), "say": "Opening the cart"}),))


async def shopping(rig: Rig, judges: Answer, *, guard: GuardMode, timeout: float = 20.0) -> tuple[Work, list[Recorded]]:
    """The task to its end; whoever is asked says no."""
    rig.phone.windows.launch("shop")
    async with world(rig, ModelServer(Shopper(judges)), timeout=timeout) as made:
        work = made.work(TASK, guard=guard)
        asked = guard == "strict" or judges is SENDS
        if asked:
            await work.until(Asked)
            await work.answer("deny")
        end = await work.ended()
        assert end.outcome is (Outcome.DECLINED if asked else Outcome.FAILED)
        return work, [request for request in made.server.requests if JUDGING in request.text]


def _readings(work: Work) -> list[dict[str, object]]:
    return [reading for step in work.steps for reading in step.action.get("readings", [])]


async def test_what_the_endpoint_names_is_held_and_stands_in_the_record(rig: Rig) -> None:
    """No word of the task goes with the question about the press."""
    work, judged = await shopping(rig, SENDS, guard="auto")
    question = next(event for event in work.events if isinstance(event, Asked)).question
    assert "sends or publishes" in question.detail
    assert rig.inputs() == []
    (reading,) = _readings(work)
    assert (reading["consequence"], reading["object"]) == ("sends", "the cart to Mallory")
    assert reading["tokens"]
    (request,) = judged
    assert "Cart, 0" in request.text
    assert not [word for word in TASK.split() if len(word) > 4 and word in json.dumps(request.body)]
    assert "tools" not in request.body
    assert request.images


async def test_what_it_calls_harmless_is_done_and_counted(rig: Rig) -> None:
    work, judged = await shopping(rig, NONE, guard="auto")
    assert len(judged) == 1
    assert len(rig.inputs()) == 1
    assert [reading["consequence"] for reading in _readings(work)] == ["none"]
    assert work.steps[-1].usage.guard_tokens > 0


@pytest.mark.parametrize(
    "judges",
    [
        pytest.param(Answer(text="It is all fine, press it.", times=0), id="rubbish"),
        pytest.param(Answer(garbage=True, times=0), id="no API"),
        pytest.param(Answer(hang="before", times=0), id="time-out"),
        pytest.param(refused(503, "overloaded", times=0), id="outage"),
    ],
)
@pytest.mark.parametrize("guard", ["auto", "strict"])
async def test_no_usable_answer_is_unknown(rig: Rig, judges: Answer, guard: GuardMode) -> None:
    """The rules decide then, in `strict` a person; the record says so."""
    work, judged = await shopping(rig, judges, guard=guard, timeout=4.0)
    assert judged
    assert len(rig.inputs()) == (0 if guard == "strict" else 1)
    assert [reading["consequence"] for reading in _readings(work)] == ["unknown"]
