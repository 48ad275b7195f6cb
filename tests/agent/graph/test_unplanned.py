"""A window that the plan does not name: the model may have the plan looked at again, and goes on where it need not."""

from __future__ import annotations

from typing import Any

import pytest

from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.run import Outcome
from devices.virtual_phone.state import Dialog
from tests.agent.graph.rig import Rig, Work, order
from tests.agent.graph.test_main import FINISH
from tests.fakes.scripted_model import ScriptedModel, call, data, models, text

OPEN = call("open_app", name="Notes")
GIVE_UP = call("finish", status="failure", summary="The notes ask for a backup first.")
TOLD = "The window in front is one that the plan does not name"
PLAN = "1. open the notes and write one down"


def planned(act: list[Any], supervise: list[ModelReply], rig: Rig, title: str) -> tuple[Any, ScriptedModel]:
    """A planned task; with the second answer a dialog comes up."""

    def after(_request: ModelRequest) -> ModelReply:
        rig.phone.state.dialogs.append(Dialog(title, "It takes a minute.", ["Later", "Now"]))
        rig.phone.changed()
        return call("tap", x=270, y=600)

    given = {"intent": [data(kind="complex")], "plan": [text(PLAN)], "summarize": [text("words")]}
    return models([OPEN, after, *act], supervise=supervise, **given)


def heard(model: ScriptedModel) -> list[bool]:
    return [TOLD in request.messages[-1].text for request in model.asked(Purpose.ACT)]


async def test_the_supervisor_looks_again_where_the_model_wants_it(rig: Rig) -> None:
    again = data(decision="continue", remaining=["close it"], next="close it")
    done = data(decision="complete")
    asked, model = planned(
        [GIVE_UP, FINISH], [data(decision="continue", remaining=["a"], next="a"), again, done], rig, "Backup is due"
    )
    await Work(rig.agent(asked), order("write a note", quick=False)).ended()
    assert heard(model)[:3] == [False, False, True]
    scene = model.asked(Purpose.ACT)[2].scene
    assert scene is not None
    assert not any("Backup" in notice for notice in scene.notices), "what the screen says is no word of ours"
    told = model.asked(Purpose.SUPERVISE)[1].messages[-1].text
    assert "The notes ask for a backup first." in told


def icon(request: ModelRequest) -> ModelReply:
    """Touches the icon of an app."""
    assert request.scene is not None
    return call("tap", element=next(e.id for e in request.scene.screen.elements or () if e.text == "Shop"))


@pytest.mark.parametrize("script", [[icon], [call("open_app", name="Shop")]])
async def test_another_app_is_told_unless_it_was_opened_by_name(rig: Rig, script: list[Any]) -> None:
    first, done = data(decision="continue", remaining=["a"], next="a"), data(decision="complete")
    given = {"intent": [data(kind="complex")], "plan": [text(PLAN)], "summarize": [text("words")]}
    asked, model = models([*script, FINISH], supervise=[first, done], **given)
    await Work(rig.agent(asked), order("write a note", quick=False)).ended()
    assert heard(model) == [False, script == [icon]]


async def test_no_request_more_where_the_model_goes_on(rig: Rig) -> None:
    first, done = data(decision="continue", remaining=["a"], next="a"), data(decision="complete")
    wait = call("wait", seconds=0)
    asked, model = planned([wait, wait, FINISH], [first, done], rig, "Backup is due")
    await Work(rig.agent(asked), order("write a note", quick=False)).ended()
    assert heard(model) == [False, False, True, False, False], "it is told once"
    assert len(model.asked(Purpose.SUPERVISE)) == 2


async def test_a_window_that_the_plan_names_is_no_news(rig: Rig) -> None:
    first, done = data(decision="continue", remaining=["a"], next="a"), data(decision="complete")
    asked, model = planned([FINISH], [first, done], rig, "Open your notes?")
    await Work(rig.agent(asked), order("write a note", quick=False)).ended()
    assert not any(heard(model))


async def test_without_a_plan_nobody_is_told(rig: Rig) -> None:
    rig.phone.state.dialogs.append(Dialog("Backup is due", "Now?", ["Later"]))
    asked, model = models([call("wait", seconds=0), FINISH])
    assert (await Work(rig.agent(asked), order("look around")).ended()).outcome is not Outcome.FAILED
    assert not any(heard(model))
