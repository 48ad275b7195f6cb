"""A phone that runs empty or hot under a task: told once, and an honest end before it goes off."""

from __future__ import annotations

import pytest

from agent.events import Told
from agent.models.base import ModelReply, ModelRequest
from agent.run import Outcome
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, models, tap

FINISH = call("finish", status="success", summary="done")
NOTES = call("open_app", name="Notes")


def told(work: Work) -> list[str]:
    return [event.text for event in work.events if isinstance(event, Told)]


async def test_a_low_battery_is_told_once_and_the_task_goes_on(rig: Rig) -> None:
    rig.phone.state.charging, rig.phone.state.battery = False, 12
    have, _ = models([NOTES, tap("New note"), FINISH])
    work = Work(rig.agent(have), order("make a note"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    (text,) = told(work)
    assert text.endswith("is at 12 %: charge it.")


async def test_a_charger_says_that_all_is_well(rig: Rig) -> None:
    rig.phone.state.battery = 2
    have, _ = models([NOTES, FINISH])
    work = Work(rig.agent(have), order("open notes"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert told(work) == []


@pytest.mark.parametrize(
    ("battery", "tenths", "why"), [(3, 271, "is at 3 % and is not being charged"), (80, 600, "its battery is at 60 °C")]
)
async def test_a_phone_that_may_go_off_ends_the_task_before_the_next_action(
    rig: Rig, battery: int, tenths: int, why: str
) -> None:
    """Seen failing (New note is tapped, and the task succeeds) without `look_after` in `screenshot`."""

    def runs_down(_: ModelRequest) -> ModelReply:
        rig.phone.state.charging, rig.phone.state.battery, rig.phone.state.temperature = False, battery, tenths
        return NOTES

    have, _ = models([runs_down, tap("New note"), FINISH])
    ended = await Work(rig.agent(have), order("make a note")).ended()
    assert ended.outcome is Outcome.BLOCKED
    assert why in ended.summary
    assert not any("tap" in line for line in rig.inputs())


async def test_heat_is_told_once(rig: Rig) -> None:
    rig.phone.state.temperature = 465
    have, _ = models([NOTES, tap("New note"), FINISH])
    work = Work(rig.agent(have), order("make a note"))
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    (text,) = told(work)
    assert text.endswith("is hot: its battery is at 46 °C.")
