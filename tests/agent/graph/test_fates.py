"""What became of a step is a fact of its own; a state of a former version has it in its sentences alone."""

from __future__ import annotations

import json

import pytest

from agent.events import Asked
from agent.graph.executor.state import NotDoneData, PastData, did_as, fate_of, not_done_of
from agent.models.base import Purpose
from agent.scene import NotDone, PastStep, StepFate
from agent.wording import kept, words
from devices.wording import said, worded
from devices.wording import words as phone_words
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import ScriptedModel, call, models, tap

GIVE_UP = call("finish", status="failure", summary="stopped")
WHAT = words("did.open_app", name="'Foo'")


def last_step(model: ScriptedModel) -> PastStep:
    """The last step that the acting model was told of."""
    scene = model.asked(Purpose.ACT)[-1].scene
    assert scene is not None
    return scene.past[-1]


def past(fate: StepFate) -> PastData:
    """A step as a former version has kept it."""
    data: PastData = {
        "number": 1,
        "reply": "",
        "thought": "",
        "did": [kept(WHAT), kept(did_as(fate, WHAT))],
        "effect": [],
        "app": "",
        "frame": None,
    }
    again: PastData = json.loads(json.dumps(data))
    return again


@pytest.mark.parametrize("fate", StepFate)
def test_a_step_of_a_former_version_has_its_fate_in_its_sentences(fate: StepFate) -> None:
    assert fate_of(past(fate)) is fate
    assert fate_of({**past(fate), "did": "a text of an earlier version still"}) is StepFate.DONE  # type: ignore[typeddict-item]


@pytest.mark.parametrize("fate", StepFate)
def test_the_sentence_says_nothing_where_the_fate_is_kept(fate: StepFate) -> None:
    assert fate_of({**past(StepFate.REFUSED), "fate": fate.value}) is fate


@pytest.mark.parametrize(
    ("kind", "unknown"), [("phone.rejected.no_app", True), ("phone.rejected.no_app_near", True), ("did.noted", False)]
)
def test_a_reason_of_a_former_version_tells_an_unknown_app(kind: str, unknown: bool) -> None:
    reason = phone_words(kind, name="'Foo'", near="Fox") if unknown else words(kind)
    former: NotDoneData = {"reason": kept(reason), "uncertain": False}
    assert not_done_of(former) == NotDone(reason, unknown_app=unknown)
    now: NotDoneData = {"reason": kept(reason), "uncertain": False, "unknown_app": not unknown}
    assert not_done_of(now) == NotDone(reason, unknown_app=not unknown)


async def test_an_app_that_is_not_there(rig: Rig) -> None:
    have, model = models([call("open_app", name="Frobnicator"), GIVE_UP])
    await Work(rig.agent(have), order("open it")).ended()
    step = last_step(model)
    assert step.not_done is not None
    assert step.not_done.unknown_app
    assert step.not_done.reason.startswith("No installed app")


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
    assert [step.fate for step in scene.past] == [StepFate.NOT_ALLOWED, StepFate.REFUSED]


def test_a_fate_is_worded() -> None:
    with worded(lambda kind, _: kind):
        assert [said(did_as(fate, WHAT)) for fate in StepFate] == [
            "did.open_app",
            *(f"did.{fate}" for fate in list(StepFate)[1:]),
        ]
