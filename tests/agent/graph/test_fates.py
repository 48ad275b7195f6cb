"""What became of a step is a fact of its own, whatever its sentences say."""

from __future__ import annotations

from agent.events import Asked
from agent.graph.executor.state import did_as
from agent.models.base import Purpose
from agent.scene import PastStep, StepStatus
from agent.wording import words
from devices.wording import said, worded
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import ScriptedModel, call, models, tap

GIVE_UP = call("finish", status="failure", summary="stopped")
WHAT = words("did.open_app", name="'Foo'")


def last_step(model: ScriptedModel) -> PastStep:
    """The last step that the acting model was told of."""
    scene = model.asked(Purpose.ACT)[-1].scene
    assert scene is not None
    return scene.past[-1]


async def test_an_app_that_is_not_there(rig: Rig) -> None:
    have, model = models([call("open_app", name="Frobnicator"), GIVE_UP])
    await Work(rig.agent(have), order("open it")).ended()
    step = last_step(model)
    assert step.failure is not None
    assert step.failure.unknown_app
    assert step.failure.reason.startswith("No installed app")


async def test_what_a_person_denied(rig: Rig) -> None:
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person="Alice")
    rig.phone.windows.page.fields["compose_message_text"] = "hello"
    have, model = models([tap("Send"), tap("Send"), GIVE_UP])
    work = Work(rig.agent(have), order("tell Alice"))
    await work.until(Asked)
    await work.answer("deny")
    await work.ended()
    scene = model.asked(Purpose.ACT)[-1].scene
    assert scene is not None
    assert [step.status for step in scene.past] == [StepStatus.NOT_ALLOWED, StepStatus.REFUSED]


def test_a_fate_is_worded() -> None:
    with worded(lambda kind, _: kind):
        assert [said(did_as(fate, WHAT)) for fate in StepStatus] == [
            "did.open_app",
            *(f"did.{fate}" for fate in list(StepStatus)[1:]),
        ]
