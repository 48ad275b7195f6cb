"""A simple task, from words to a changed phone."""

from __future__ import annotations

import pytest

from agent.events import Seen, Started, Step
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, data, models, tap

pytestmark = pytest.mark.over_the_wire


async def test_a_toggle_is_switched(rig: Rig) -> None:
    have, model = models(
        [
            call("open_app", name="Settings", say="Opening the settings"),
            tap("Bluetooth"),
            call("finish", status="success", summary="Bluetooth is toggled", data="on"),
        ]
    )
    work = Work(rig.agent(have), order("switch Bluetooth"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert (end.summary, end.data, end.steps) == ("Bluetooth is toggled", "on", 3)
    assert end.usage.calls == 5, "three of them acting, a caption, and whether it is proven"
    assert isinstance(work.events[0], Started)
    first, second = work.steps[:2]
    (seen,) = [event for event in work.events if isinstance(event, Seen)]
    assert seen.frame == first.frame, "the first look is told before there is a step, and only once"
    assert work.events.index(seen) < work.events.index(first)
    assert (first.step, first.max_steps, first.summary) == (1, 20, "Opening the settings")
    assert first.frame in rig.frames.kept
    assert second.mark is not None
    assert model.requests[0].scene is not None
    assert model.requests[0].scene.screen.elements
    assert rig.leases.log == ["acquire", "release"]


async def test_a_question_that_needs_no_phone_touches_none(rig: Rig) -> None:
    have, _ = models([], intent=[data(kind="chat", answer="Four.")])
    work = Work(rig.agent(have), order("what is two and two?", quick=False))
    end = await work.ended()
    assert (end.outcome, end.summary) == (Outcome.ANSWERED, "Four.")
    assert rig.leases.log == []
    assert not any(isinstance(event, Step) for event in work.events)
