"""Runs on the phone of a host: what a runner has to do, with a real engine between it and the phone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.control import Cancel, Pause, Resume, Steer
from agent.events import Asked, Resumed, RunEnded, Started, Step, Told
from agent.models.base import Purpose
from agent.ports.runner import RunOrder, RunOutOfReach
from agent.ports.stores import GivenFile
from agent.questions import Answer, QuestionKind
from agent.run import Outcome
from tests.agent.test_runner_contract import FINISH, OPEN, RUN, Running
from tests.fakes.scripted_model import HANG, call, models
from tests.fleet.rig import HASTY, LIMIT, STEADY, EngineKind, FleetRig, fleet_rig

pytestmark = pytest.mark.slow

SOON_S = 5.0


def order(subtask: int = 1, **more: Any) -> RunOrder:
    return RunOrder(run=RUN, subtask=subtask, task="write a note", goal="the notes are open", **more)


async def test_a_subtask_from_its_phone_to_its_end(fleet: FleetRig) -> None:
    have, _ = models([OPEN, FINISH, FINISH])
    machine = await fleet.add_host("shelf", have)
    phone = await fleet.there()
    work = Running(fleet.runner, order())
    end = await work.ended()
    assert (end.run, end.subtask, end.outcome, end.summary) == (RUN, 1, Outcome.SUCCEEDED, "done")
    assert (await work.until(Started)).phone == phone
    assert [event.step for event in work.events if isinstance(event, Step)] == [1, 2]
    step = await work.until(Step)
    assert step.frame is not None
    assert (await fleet.store.frames.load(step.frame))[:2] == b"\xff\xd8", "the picture comes when it is shown"
    assert [lease.run for lease in fleet.leases.held] == [RUN], "the phone is kept for the next sub-task"
    second = Running(fleet.runner, order(2))
    assert (await second.ended()).subtask == 2
    assert not [event for event in second.events if isinstance(event, Started)]
    await fleet.runner.release(RUN)
    assert fleet.leases.held == ()
    assert (await fleet.store.fleet.runs(), await fleet.store.fleet.events()) == ((), ())
    assert len(machine.inputs()) > 0


async def test_a_host_that_joins_need_not_wait_for_the_next_beat(tmp_path: Path) -> None:
    async with fleet_rig(tmp_path, "fake", replace(STEADY, beat=LIMIT)) as fleet:
        await fleet.add_host("shelf", models([])[0])
        async with asyncio.timeout(LIMIT / 4):
            assert await fleet.there()


async def test_answers_notes_and_files_arrive(fleet: FleetRig) -> None:
    have, model = models([call("ask_user", question="Which colour?"), FINISH])
    machine = await fleet.add_host("shelf", have)
    await fleet.there()
    content = await fleet.store.frames.save(b"1" * 1_500_000, suffix="bin")
    await fleet.runner.signal(RUN, Steer(note="use the large one"))
    work = Running(fleet.runner, order(files=(GivenFile(name="a.txt", content=content),)))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.ASK
    assert machine.phone.files.read(f"/sdcard/Download/OpenGUI/{RUN}/a.txt") == b"1" * 1_500_000
    await fleet.runner.answer(RUN, Answer(question=question.id, text="blue", by="Anna"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert (await work.until(Resumed)).question == question.id
    told = " ".join(" ".join(r.scene.notices) for r in model.asked(Purpose.ACT) if r.scene is not None)
    assert "use the large one" in told
    assert "answered: blue" in told


async def test_a_pause_a_resume_and_a_stop(fleet: FleetRig) -> None:
    have, model = models([HANG, HANG])
    await fleet.add_host("shelf", have)
    await fleet.there()
    work = Running(fleet.runner, order())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    async with asyncio.timeout(SOON_S):
        await fleet.runner.signal(RUN, Pause())
    asked = len(model.requests)
    model.hanging.clear()
    await fleet.runner.signal(RUN, Resume())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    assert len(model.requests) > asked
    async with asyncio.timeout(SOON_S):
        await fleet.runner.signal(RUN, Cancel())
        end = await work.ended()
    assert end.outcome is Outcome.CANCELLED


async def test_a_cut_cable_stands_still_and_goes_on(hasty: FleetRig, caplog: pytest.LogCaptureFixture) -> None:
    """The host keeps what it does until the hub is heard again; nothing is told twice or lost."""
    have, model = models([OPEN, HANG, OPEN, FINISH])
    machine = await hasty.add_host("shelf", have)
    await hasty.there()
    work = Running(hasty.runner, order())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    await machine.cable.cut()
    await hasty.until(lambda: any(isinstance(event, Told) and "shelf" in event.text for event in work.events))
    await hasty.until(lambda: f"run {RUN} will pause" in caplog.text)
    sent = machine.inputs()
    await machine.cable.mend()
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert [event.step for event in work.events if isinstance(event, Step)] == [1, 2, 3]
    assert len(machine.inputs()) > len(sent)


async def test_the_engine_is_killed_and_comes_back(hasty: FleetRig) -> None:
    have, _ = models([OPEN, call("ask_user", question="Which colour?"), FINISH])
    await hasty.add_host("shelf", have)
    await hasty.there()
    work = Running(hasty.runner, order())
    question = (await work.until(Asked)).question
    await hasty.engine.kill()
    await hasty.until(lambda: not hasty.hub.hosts.usable("shelf"))
    await hasty.runner.answer(RUN, Answer(question=question.id, text="blue", by="Anna"))
    await hasty.engine.start()
    end = await work.ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert len([event for event in work.events if isinstance(event, Step)]) == 3


async def test_a_host_that_is_started_again_goes_on_from_its_checkpoint(fleet: FleetRig) -> None:
    have, model = models([OPEN, HANG, FINISH])
    machine = await fleet.add_host("shelf", have)
    await fleet.there()
    work = Running(fleet.runner, order())
    await asyncio.wait_for(model.hanging.wait(), LIMIT)
    await machine.stop()
    sent = machine.inputs()
    await machine.start()
    end = await work.ended()
    assert (end.outcome, end.steps) == (Outcome.SUCCEEDED, 2)
    assert machine.inputs() == sent, "what was done is not done again"


async def test_a_hub_that_is_started_again_attaches(fleet: FleetRig) -> None:
    """It was away while the question was open: the same one is asked again, and the run goes on where it was."""
    have, _ = models([OPEN, call("ask_user", question="Which colour?"), FINISH])
    machine = await fleet.add_host("shelf", have)
    await fleet.there()
    work = Running(fleet.runner, order())
    question = (await work.until(Asked)).question
    sent = machine.inputs()
    await fleet.stop_hub()
    assert not [event for event in await work.over() if isinstance(event, RunEnded)]
    await fleet.start_hub()
    again = Running(fleet.runner, order())
    assert (await again.until(Asked)).question.id == question.id
    await fleet.runner.answer(RUN, Answer(question=question.id, text="blue", by="Anna"))
    assert (await again.ended()).outcome is Outcome.SUCCEEDED
    assert machine.inputs() == sent


async def test_a_host_that_stays_away_is_told_and_attached_to_later(tmp_path: Path, kind: EngineKind) -> None:
    async with fleet_rig(tmp_path, kind, replace(HASTY, lost=2.0)) as fleet:
        have, model = models([OPEN, HANG, FINISH])
        machine = await fleet.add_host("shelf", have)
        await fleet.there()
        work = Running(fleet.runner, order())
        await asyncio.wait_for(model.hanging.wait(), LIMIT)
        await machine.cable.cut()
        with pytest.raises(RunOutOfReach):
            await work.over()
        await fleet.leases.release(RUN)
        await machine.cable.mend()
        await fleet.there()
        assert (await Running(fleet.runner, order()).ended()).outcome is Outcome.SUCCEEDED
