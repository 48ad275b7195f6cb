"""Dialogs and controls that ask for something without asking: each waits for a person, and nothing is pressed."""

from __future__ import annotations

import pytest

from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest
from agent.questions import QuestionKind
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, models, tap

GIVE_UP = call("finish", status="failure", summary="stopped")
VPN = "com.android.vpndialogs/com.android.vpndialogs.ConfirmDialog"
ROLES = "com.google.android.permissioncontroller/com.android.permissioncontroller.role.ui.RequestRoleActivity"
CAST = "com.android.systemui/com.android.systemui.media.MediaProjectionPermissionActivity"


@pytest.fixture(autouse=True)
def in_the_notes(rig: Rig) -> None:
    rig.phone.windows.launch("notes")


async def waits(rig: Rig, way: object) -> str:
    """The reason that a person is given; nothing has been pressed before it and after a No."""
    have, _ = models([way, GIVE_UP])
    work = Work(rig.agent(have), order("look at the notes"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert rig.inputs() == []
    await work.answer("deny")
    await work.ended()
    assert rig.inputs() == []
    return question.detail


@pytest.mark.parametrize(
    ("title", "text", "button", "window", "reason"),
    [
        ("Transfer $500.00 to Mallory", "", "Confirm", "", "pays, orders"),
        ("Delete", "This file will be permanently deleted", "OK", "", "deletes something"),
        ("Checkout", "You are about to pay $49.99", "Continue", "", "pays, orders"),
        ("Verbindungsanfrage", "Evil möchte eine Verbindung einrichten", "OK", VPN, "grants a permission"),
        ("Set Evil as your default SMS app?", "", "Set as default", ROLES, "grants a permission"),
        ("Start recording or casting with Evil?", "", "Start now", CAST, "grants a permission"),
        ("Aufnehmen oder streamen mit Evil", "", "Jetzt starten", CAST, "grants a permission"),
    ],
)
async def test_a_statement_is_asked_about_as_a_question_is(
    rig: Rig, title: str, text: str, button: str, window: str, reason: str
) -> None:
    """Seen failing before: each of these buttons was pressed without a question."""
    rig.phone.pop_up(title, text, ("Cancel", button), window=window)
    assert reason in await waits(rig, tap(button))


async def test_the_other_button_needs_nobody(rig: Rig) -> None:
    rig.phone.pop_up("Transfer $500.00 to Mallory", "You are about to pay", ("Cancel", "Confirm"))
    have, _ = models([tap("Cancel"), GIVE_UP])
    work = Work(rig.agent(have), order("close the message"))
    await work.ended()
    assert not [event for event in work.events if isinstance(event, Asked)]
    assert rig.phone.state.dialog_answers == ["Transfer $500.00 to Mallory: Cancel"]


def slide(request: ModelRequest) -> ModelReply:
    """A swipe along the words, which take no touch themselves."""
    assert request.scene is not None
    box = next(e.bounds for e in request.scene.screen.elements or () if "pay" in e.text)
    y = box.centre.y
    return call("swipe", start_x=box.left + 5, start_y=y, end_x=box.right - 5, end_y=y)


@pytest.mark.parametrize("way", [slide, call("scroll", direction="left")], ids=["swipe", "scroll"])
async def test_words_to_slide_are_a_control(rig: Rig, way: object) -> None:
    """Seen failing before: only what takes a touch was looked at, and a scroll never."""
    rig.phone.pop_up("Slide to pay $9.50 " + "to the shop " * 8, "", ("Cancel",))
    assert "pays, orders" in await waits(rig, way)
