"""The model is shown a changed screen at once; what it says counts only when the screen stood still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from agent.effect_facts import in_english
from agent.events import Step
from agent.graph.executor.speculative import LONGEST_PENALTY, SpeculationBackoff
from agent.models.base import Delta, ModelReply, ModelRequest, Models, Purpose
from agent.ports.journal import ActionKey
from agent.run import Outcome, RunId
from tests.agent.graph.rig import LIMIT, Rig, Work, order
from tests.fakes.scripted_model import ScriptedModel, call, models, tap

FINISH = call("finish", status="success", summary="Done")


def pop_up(rig: Rig) -> None:
    rig.phone.pop_up("Update", "There is a new version.", ("Later",))
    rig.phone.changed()


def labels(request: ModelRequest) -> list[str]:
    assert request.scene is not None
    return [line.text for line in request.scene.screen.elements or ()]


def taps(rig: Rig) -> list[str]:
    return [line for line in rig.inputs() if "input tap" in line]


async def test_what_was_said_to_a_screen_that_moved_counts_for_nothing(rig: Rig) -> None:
    """Seen failing with `confirmed` not asked: the button under the new window was touched."""

    def moved(request: ModelRequest) -> ModelReply:
        pop_up(rig)
        return tap("New note")(request)

    have, model = models([call("open_app", name="Notes"), moved, tap("Later"), FINISH])
    work = Work(rig.agent(have), order("look at the notes"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    asked = model.asked(Purpose.ACT)
    assert [request.scene.step for request in asked if request.scene] == [1, 2, 2, 3]
    assert "New note" in labels(asked[1])
    assert "Later" in labels(asked[2])
    assert len(taps(rig)) == 1
    assert end.usage.calls == 7, "the answer in vain was paid for, too, and two captions"
    # What the first action changed is told as it was when all had come to rest.
    assert asked[2].scene is not None
    assert "'Later'" in in_english(asked[2].scene.past[0].effects)
    assert [step.step for step in work.steps] == [1, 2, 3]
    assert "'Later'" in in_english(work.steps[0].effect)
    assert "'Later'" in rig.journal.rows[ActionKey(RunId("7"), 1, 1, 0)].effect


@dataclass
class HangingModel(ScriptedModel):
    """Does something when it is asked for the second time, and never answers that."""

    then: Callable[[], None] = lambda: None

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        if request.purpose is Purpose.ACT and len(self.asked(Purpose.ACT)) == 1:
            self.requests.append(request)
            self.then()
            self.hanging.set()
            await asyncio.Event().wait()
        return await super().complete(request, on_delta=on_delta)


def hanging(then: Callable[[], None], *rest: object) -> HangingModel:
    return HangingModel({Purpose.ACT: [call("open_app", name="Notes"), *rest]}, then=then)


async def test_a_call_about_a_screen_that_moved_is_cut_off_and_its_cost_estimated(rig: Rig) -> None:
    model = hanging(lambda: pop_up(rig), tap("Later"), FINISH)
    work = Work(rig.agent(Models(model, model, model)), order("look at the notes"))
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert len(taps(rig)) == 1
    assert end.usage.estimated
    assert end.usage.calls == 7
    assert end.usage.input > 100 * 4


async def test_a_screen_that_stood_still_is_sent_once_and_the_step_is_told_before_the_answer(rig: Rig) -> None:
    model = hanging(lambda: None)
    work = Work(rig.agent(Models(model, model, model)), order("look at the notes"))
    step = await work.until(Step)
    assert "'New note'" in in_english(step.effect)
    assert len(model.asked(Purpose.ACT)) == 2
    await work.agent.cancel("7")
    assert (await work.ended()).outcome is Outcome.CANCELLED
    assert [step.step for step in work.steps] == [1]


async def test_cancel_while_it_is_being_found_out(rig: Rig) -> None:
    """Seen failing with the wait for it outside of the guard."""
    asked = asyncio.Event()

    def hang(request: ModelRequest) -> ModelReply:
        rig.phone.faults.set(hang="screencap")
        asked.set()
        return tap("New note")(request)

    have, _ = models([call("open_app", name="Notes"), hang])
    work = Work(rig.agent(have), order("look at the notes"))
    await asyncio.wait_for(asked.wait(), LIMIT)
    async with asyncio.timeout(2):
        await work.agent.cancel("7")
        assert (await work.ended()).outcome is Outcome.CANCELLED
    assert taps(rig) == []
    assert [step.step for step in work.steps] == [1]


async def test_pause_while_it_is_being_found_out(rig: Rig) -> None:
    asked = asyncio.Event()

    def hang(request: ModelRequest) -> ModelReply:
        rig.phone.faults.set(hang="screencap")
        asked.set()
        return tap("New note")(request)

    have, model = models([call("open_app", name="Notes"), hang, FINISH])
    work = Work(rig.agent(have), order("look at the notes"))
    await asyncio.wait_for(asked.wait(), LIMIT)
    await work.agent.pause("7")
    rig.phone.faults.set(hang="")
    await work.agent.resume("7")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert taps(rig) == [], "what was said before the pause is not done after it"
    assert len(model.asked(Purpose.ACT)) == 3
    assert [step.step for step in work.steps] == [1, 2]


def test_after_looks_in_vain_the_next_ones_take_their_time() -> None:
    haste = SpeculationBackoff()
    assert haste.ready()
    haste.moved()
    assert [haste.ready(), haste.ready()] == [False, True]
    haste.moved()
    assert [haste.ready(), haste.ready(), haste.ready()] == [False, False, True]
    for _ in range(9):
        haste.moved()
    assert [haste.ready() for _ in range(LONGEST_PENALTY + 1)] == [False] * LONGEST_PENALTY + [True]
    haste.stood_still()
    haste.moved()
    assert [haste.ready(), haste.ready()] == [False, True]
