"""Cancel and pause while something hangs: within a second, with the line to it closed."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import pytest

from agent.events import ModelAway, Step
from agent.models.base import Models
from agent.models.state import Cause
from agent.outages import patient
from agent.run import Outcome
from devices.virtual_phone.faults import Faults
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.providers.speaking import TASK, switcher
from tests.agent.providers.test_trouble import after
from tests.agent.providers.world import world
from tests.fakes.model_server import Answer, ModelServer, Recorded, rate_limited

SECOND = 1.0
TAP = "input tap"


@dataclass(slots=True)
class WatchedFaults(Faults):
    """Tells when a command has begun to hang, and when the one who waits for it has hung up."""

    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def before_command(self, line: str) -> float:
        """Wait as the faults say."""
        hangs = bool(self.hang) and self.hang in line
        if hangs:
            self.hanging.set()
        try:
            return await Faults.before_command(self, line)  # no super(): the class is made anew for its slots
        except asyncio.CancelledError:
            if hangs:
                self.left.set()
            raise


@pytest.fixture
def faults(rig: Rig) -> WatchedFaults:
    """The phone never answers a tap."""
    rig.phone.faults = watched = WatchedFaults(hang=TAP)
    return watched


@pytest.mark.parametrize("hang", ["before", "during"])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_cancel_closes_a_hanging_model_call(rig: Rig, hang: str, api: str) -> None:
    """Seen failing (the socket stays open) with `control.guard` in vision_model replaced by a plain await."""
    silent = Answer(text="Hm", hang="before" if hang == "before" else "during")
    async with world(rig, ModelServer(after(silent)), api="chat" if api == "chat" else "responses") as there:
        work = there.work()
        request = await there.server.arrived(1, timeout=30)
        await work.agent.cancel("7")
        async with asyncio.timeout(SECOND):
            await request.gone.wait()
        assert (await work.ended()).outcome is Outcome.CANCELLED
        assert len(there.server.requests) == 1
    assert rig.inputs() == []
    assert rig.leases.held == {}


async def test_pause_closes_a_hanging_model_call_and_resume_asks_anew(rig: Rig) -> None:
    async with world(rig, ModelServer(after(Answer(hang="before")))) as there:
        work = there.work()
        request = await there.server.arrived(1, timeout=30)
        async with asyncio.timeout(SECOND):
            await work.agent.pause("7")
            await request.gone.wait()
        assert len(there.server.requests) == 1
        await work.agent.resume("7")
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
        assert there.bluetooth


async def test_cancel_closes_a_hanging_command(rig: Rig, faults: WatchedFaults) -> None:
    """The tap is not done when the phone answers again. Seen failing with `control.guard` in `act` replaced by a plain
    await.
    """
    async with world(rig, ModelServer(switcher())) as there:
        work = there.work()
        async with asyncio.timeout(30):
            await faults.hanging.wait()
        await work.agent.cancel("7")
        async with asyncio.timeout(SECOND):
            await faults.left.wait()
        assert (await work.ended()).outcome is Outcome.CANCELLED
        faults.set(hang="")
        await rig.phone_key("HOME")
        assert not there.bluetooth
    states = [entry.state for entry in rig.journal.rows.values()]
    assert states == ["done", "uncertain"]


async def test_pause_closes_a_hanging_command_and_resume_looks_first(rig: Rig, faults: WatchedFaults) -> None:
    async with world(rig, ModelServer(switcher())) as there:
        work = there.work()
        async with asyncio.timeout(30):
            await faults.hanging.wait()
        async with asyncio.timeout(SECOND):
            await work.agent.pause("7")
            await faults.left.wait()
        faults.set(hang="")
        asked = len(there.server.requests)
        await work.agent.resume("7")
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
        assert there.bluetooth
        assert len(there.server.requests[asked].images) == 1
    assert [entry.state for entry in rig.journal.rows.values()] == ["done", "uncertain", "done"]
    assert len([line for line in rig.inputs() if TAP in line]) == 1
    assert [event.step for event in work.events if isinstance(event, Step)] == [1, 2, 3, 4]


@pytest.mark.parametrize("how", ["stop", "pause"])
async def test_refused_for_ever_is_told_with_its_end_and_stopped_within_a_second(rig: Rig, how: str) -> None:
    """Seen failing before: what the work waited for was a sentence without a time, and it stood on a paused task."""
    think, busy = switcher(), asyncio.Event()
    told: list[ModelAway] = []

    def answers(request: Recorded) -> Answer:
        """The first call is answered, and then no more."""
        return think(request) if len(server.requests) == 1 else rate_limited("600", times=0)

    def hear(_request: object, away: ModelAway) -> None:
        told.append(away)
        busy.set()

    server = ModelServer(answers)
    async with world(rig, server) as there:
        models, _ = patient(Models(there.model, there.model, there.model), hear)
        work = Work(rig.agent(models), order(TASK))
        async with asyncio.timeout(30):
            await busy.wait()
        left = (told[0].until or 0.0) - time.time()
        assert told[0].cause is Cause.BUSY
        assert 14 * 60 < left <= 15 * 60
        async with asyncio.timeout(SECOND):
            await (work.agent.cancel("7") if how == "stop" else work.agent.pause("7"))
            while told[-1].until is not None:
                await asyncio.sleep(0)
        await work.agent.cancel("7")
        assert (await work.ended()).outcome is Outcome.CANCELLED
    assert len(told) == 2
