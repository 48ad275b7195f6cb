"""What the phone itself says of an input that it did not do: the model is told at once, the person at the end."""

from __future__ import annotations

import pytest

from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from devices.wording import words
from tests.agent.graph.rig import SMALL, Rig, Work, order
from tests.fakes.scripted_model import call, models, tap

pytestmark = pytest.mark.over_the_wire

CHINESE = ["购物清单", "牛奶", "面包"]
WHY = words("phone.rejected.letters")


@pytest.fixture
def editing(rig: Rig) -> Rig:
    """A phone that can type no Chinese, with the page of a note."""
    rig.phone.faults.set(no_adb_keyboard=True)
    rig.phone.windows.launch("notes")
    rig.phone.windows.open("edit")
    return rig


async def test_one_reason_three_times_ends_the_attempt_with_it(editing: Rig) -> None:
    """Also where other words are typed each time, and the field is touched in between."""
    typing = [each for text in CHINESE for each in (call("type", text=text), tap("Title"))]
    have, model = models([tap("Title"), *typing])
    end = await Work(editing.agent(have), order("write a shopping list")).ended()
    assert end.outcome is Outcome.BLOCKED
    assert WHY in end.summary
    assert end.steps == 6
    told = [request.scene.notices for request in model.asked(Purpose.ACT) if request.scene]
    assert [any(WHY in notice for notice in notices) for notices in told] == [False, False, True, False, True, False]


async def test_a_person_reads_the_reason_where_the_model_gives_up(editing: Rig) -> None:
    acts = [tap("Title"), call("type", text="牛奶"), call("finish", status="failure", summary="I could not do it.")]
    have, _ = models(acts)
    end = await Work(editing.agent(have), order("write a shopping list")).ended()
    assert end.outcome is Outcome.FAILED
    assert "I could not do it." in end.summary
    assert WHY in end.summary


async def test_what_went_well_in_another_way_ends_without_the_reason(editing: Rig) -> None:
    acts = [tap("Title"), call("type", text="牛奶"), call("type", text="Milk"), call("finish", status="success")]
    have, _ = models(acts)
    end = await Work(editing.agent(have), order("write a shopping list")).ended()
    assert end.outcome is Outcome.SUCCEEDED
    assert WHY not in end.summary


async def test_a_screen_that_is_another_one_at_every_touch_ends_with_that_reason(rig: Rig) -> None:
    """As where a phone is unfolded and folded again: each touch was chosen on a screen of another size."""
    rig.phone.windows.launch("notes")

    def folding(request: ModelRequest) -> ModelReply:
        narrow = rig.phone.state.width < SMALL.width
        rig.phone.state.resize(SMALL.width if narrow else SMALL.width - 100, SMALL.height)
        rig.phone.changed()
        return tap("New note")(request)

    have, _ = models([folding] * 5)
    end = await Work(rig.agent(have), order("make a note")).ended()
    assert end.outcome is Outcome.BLOCKED
    assert words("phone.rejected.resized") in end.summary
    assert end.steps == 3
    assert not any("input tap" in line for line in rig.inputs())
