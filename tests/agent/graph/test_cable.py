"""What a run does when its phone goes away: soon back it goes on, too late it is blocked."""

from __future__ import annotations

import asyncio

from agent.events import Step, TaskEnded, Told
from agent.run import Outcome
from devices.phone import Health
from devices.virtual_phone.adbd import LinkState
from tests.agent.graph.rig import LIMIT, Rig, Work, order
from tests.fakes.scripted_model import call, models, tap

FINISH = call("finish", status="success", summary="done")
LONG, SHORT = 30.0, 0.2
"""Seconds of grace: much more, and much less, than the phone is away."""


async def known_as(rig: Rig, health: Health) -> None:
    async with asyncio.timeout(LIMIT):
        while rig.phones.list()[0].health is not health:
            await rig.phones.wait_for_change()


async def test_a_cable_that_is_soon_back_interrupts_nothing(rig: Rig) -> None:
    """Seen failing without the waiting in `screenshot`: the task was blocked."""
    have, _ = models([call("open_app", name="Notes"), call("wait", seconds=1), tap("New note"), FINISH])
    work = Work(rig.agent(have, grace=LONG), order("write a note"))
    await work.until(Step)
    await rig.phone.set_link(LinkState.GONE)
    await work.until(Told, lambda told: "away" in told.text)
    await known_as(rig, Health.OFFLINE)
    await rig.phone.set_link(LinkState.OPEN)
    ended = await work.ended()
    assert ended.outcome is Outcome.SUCCEEDED
    taps = [line for line in rig.inputs() if "input tap" in line]
    assert len(taps) == 1, "the tap was made, and only once"
    assert rig.phone.windows.page.page == "edit"


async def test_a_cable_that_stays_out_blocks_the_task(rig: Rig) -> None:
    have, _ = models([call("open_app", name="Notes"), call("wait", seconds=1), tap("New note"), FINISH])
    work = Work(rig.agent(have, grace=SHORT), order("write a note"))
    await work.until(Step)
    await rig.phone.set_link(LinkState.GONE)
    ended: TaskEnded = await work.ended()
    assert ended.outcome is Outcome.BLOCKED
    assert "did not come back" in ended.summary or "not attached" in ended.summary
    assert not [line for line in rig.inputs() if "input tap" in line]
