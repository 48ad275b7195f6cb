"""What every runner has to do, here and behind a wire: nothing but orders, events, answers and signals reaches it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from agent.control import Cancel, Pause, Resume, Steer
from agent.dialects.select import dialect_for
from agent.events import Asked, Resumed, RunEnded, RunEvent, Started, Step
from agent.models.base import Models, Purpose
from agent.ports.runner import Runner, RunOrder
from agent.questions import Answer, QuestionKind, QuestionOrigin
from agent.run import Outcome, RunId
from agent.run_config import FixedRunConfig, RunConfig
from tests.agent.graph.rig import LIMIT, Rig
from tests.fakes.over_json import JsonRunner
from tests.fakes.scripted_model import HANG, call, models

pytestmark = pytest.mark.over_the_wire

E = TypeVar("E", bound=RunEvent)
RUN = RunId("7")
OPEN = call("open_app", name="Notes")
FINISH = call("finish", status="success", summary="done")
SOON_S = 2.0


def runner(rig: Rig, have: Models) -> Runner:
    return rig.runner(FixedRunConfig(RunConfig(have, dialect_for("tools", "scripted"), image_window=1)))


def order(subtask: int = 1, **more: Any) -> RunOrder:
    return RunOrder(run=RUN, subtask=subtask, task="write a note", goal="the notes are open", **more)


class Running:
    """A sub-task of a runner, with all its events."""

    def __init__(self, of: Runner, order: RunOrder) -> None:
        self.events: list[RunEvent] = []
        self._news = asyncio.Event()
        self.reading = asyncio.create_task(self._read(of, order))

    async def _read(self, of: Runner, order: RunOrder) -> None:
        try:
            async for event in of.start(order):
                self.events.append(event)
                self._news.set()
        finally:
            self._news.set()

    async def until(self, kind: type[E], such: Callable[[E], bool] = lambda _: True) -> E:
        async with asyncio.timeout(LIMIT):
            while True:
                for event in self.events:
                    if isinstance(event, kind) and such(event):
                        return event
                assert not self.reading.done(), self.events
                self._news.clear()
                await self._news.wait()

    async def over(self) -> list[RunEvent]:
        async with asyncio.timeout(LIMIT):
            await self.reading
        return self.events

    async def ended(self) -> RunEnded:
        """The end, which is the last event and the only one."""
        *before, end = await self.over()
        assert isinstance(end, RunEnded)
        assert not [event for event in before if isinstance(event, RunEnded)]
        return end


async def test_a_subtask_from_its_phone_to_its_end(rig: Rig) -> None:
    have, _ = models([OPEN, FINISH])
    work = Running(runner(rig, have), order())
    end = await work.ended()
    assert (end.run, end.subtask, end.outcome, end.summary) == (RUN, 1, Outcome.SUCCEEDED, "done")
    started, first = work.events[0], await work.until(Step)
    assert isinstance(started, Started)
    assert (started.run, first.run, first.subtask, first.step) == (RUN, RUN, 1, 1)
    assert set(rig.leases.held) == {RUN}, "the phone is kept for the next sub-task"


async def test_one_that_has_ended_tells_its_end_again_and_does_nothing(rig: Rig) -> None:
    have, model = models([OPEN, FINISH])
    first = runner(rig, have)
    end = await Running(first, order()).ended()
    asked, sent = len(model.requests), rig.inputs()
    assert await Running(first, order()).over() == [end]
    assert await Running(runner(rig, have), order()).over() == [end], "a new process knows it as well"
    assert (len(model.requests), rig.inputs()) == (asked, sent)


async def test_the_next_subtask_has_the_phone_still_and_a_release_gives_it_back(rig: Rig) -> None:
    have, _ = models([OPEN, FINISH, FINISH])
    one = runner(rig, have)
    await Running(one, order()).ended()
    second = Running(one, order(2))
    assert (await second.ended()).subtask == 2
    assert not [event for event in second.events if isinstance(event, Started)]
    await one.release(RUN)
    assert rig.leases.held == {}
    await one.release(RUN)  # a second time nothing happens


async def test_the_answer_to_its_own_question_counts(rig: Rig) -> None:
    have, model = models([call("ask_user", question="Which colour?"), FINISH])
    one = runner(rig, have)
    work = Running(one, order())
    question = (await work.until(Asked)).question
    assert (question.run, question.origin, question.kind) == (RUN, QuestionOrigin.RUN, QuestionKind.ASK)
    await one.answer(RUN, Answer(question="another", text="green", by="Anna"))
    await one.answer(RUN, Answer(question=question.id, text="blue", by="Anna"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert (await work.until(Resumed)).question == question.id
    (told,) = [request.scene.notices for request in model.asked(Purpose.ACT)[1:] if request.scene is not None]
    assert "answered: blue" in " ".join(told)
    assert "green" not in " ".join(told)


async def test_an_open_question_is_asked_again_with_the_same_id_after_a_restart(rig: Rig) -> None:
    have, _ = models([call("ask_user", question="Which colour?"), FINISH])
    first = runner(rig, have)
    work = Running(first, order())
    question = (await work.until(Asked)).question
    await first.shutdown()
    assert not [event for event in await work.over() if isinstance(event, RunEnded)]
    second = runner(rig, have)
    again = Running(second, order())
    assert (await again.until(Asked)).question == question
    await second.answer(RUN, Answer(question=question.id, text="blue", by="Anna"))
    assert (await again.ended()).outcome is Outcome.SUCCEEDED


async def test_a_note_is_read_also_one_that_came_before_the_work(rig: Rig) -> None:
    have, model = models([OPEN, FINISH])
    one = runner(rig, have)
    await one.signal(RUN, Steer(note="use the blue one"))
    await Running(one, order()).ended()
    scenes = [request.scene for request in model.asked(Purpose.ACT)]
    assert scenes[0] is not None
    assert "use the blue one" in " ".join(scenes[0].notices)


async def test_a_pause_stands_still_and_a_resume_goes_on(rig: Rig) -> None:
    have, model = models([HANG, FINISH])
    one = runner(rig, have)
    work = Running(one, order())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    async with asyncio.timeout(SOON_S):
        await one.signal(RUN, Pause())
        await one.signal(RUN, Pause())  # a second one changes nothing
    asked = len(model.requests)
    assert not work.reading.done()
    await one.signal(RUN, Resume(note="the blue one"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    scene = model.asked(Purpose.ACT)[asked].scene
    assert scene is not None
    assert "the blue one" in " ".join(scene.notices)


@pytest.mark.parametrize("when", ["before", "while the model hangs", "paused"])
async def test_a_cancel_ends_it(rig: Rig, when: str) -> None:
    have, model = models([HANG])
    one = runner(rig, have)
    if when == "before":
        await one.signal(RUN, Cancel())
    work = Running(one, order())
    if when != "before":
        await asyncio.wait_for(model.hanging.wait(), LIMIT)
    if when == "paused":
        await one.signal(RUN, Pause())
    async with asyncio.timeout(SOON_S):
        await one.signal(RUN, Cancel())
        end = await work.ended()
    assert (end.outcome, rig.inputs()) == (Outcome.CANCELLED, [])


async def test_a_shutdown_gives_the_phone_back_and_the_next_start_goes_on(rig: Rig) -> None:
    have, model = models([OPEN, HANG, FINISH])
    first = runner(rig, have)
    work = Running(first, order())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    async with asyncio.timeout(SOON_S):
        await first.shutdown()
        events = await work.over()
    assert not [event for event in events if isinstance(event, RunEnded)]
    assert rig.leases.held == {}
    sent = rig.inputs()
    end = await Running(runner(rig, have), order()).ended()
    assert (end.outcome, end.steps) == (Outcome.SUCCEEDED, 2)
    assert rig.inputs() == sent, "what was done is not done again"


async def test_it_all_was_json(rig: Rig, wire: bool) -> None:
    """That the wire is there where it is said to be: without it this file would test one runner twice."""
    have, _ = models([call("ask_user", question="Which colour?"), FINISH])
    one = runner(rig, have)
    assert isinstance(one, JsonRunner) is wire
    work = Running(one, order())
    question = (await work.until(Asked)).question
    await one.signal(RUN, Steer(note="soon"))
    await one.answer(RUN, Answer(question=question.id, text="blue"))
    await work.ended()
    if isinstance(one, JsonRunner):
        assert {"RunOrder", "Started", "Asked", "Steer", "Answer", "Resumed", "RunEnded"} <= one.crossed
