"""An approval is for what the person saw: another screen that comes in its place is not touched, and asked anew."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.questions import Question, QuestionKind
from agent.run import Outcome
from bot.texts import speaking
from devices.virtual_phone.phone import DEFAULT_DENSITY, DEFAULT_SIZE
from devices.virtual_phone.state import Dialog
from tests.agent.graph.rig import Rig, Work, direct_rig, order, rig_on
from tests.fakes.scripted_model import call, models, tap
from tests.fixtures.adb import AdbServer

pytestmark = pytest.mark.slow

FINISH = call("finish", status="success", summary="done")
GIVE_UP = call("finish", status="failure", summary="stopped")
MAPS = "Allow Maps to use your location?"
EVIL = "Allow EvilApp to record audio and read all SMS?"


def shows(rig: Rig, title: str, text: str = "", *buttons: str) -> None:
    """The dialog on the phone is this one, whichever was there before."""
    rig.phone.state.dialogs[:] = [Dialog(title, text, list(buttons))]


async def question_after(work: Work, *before: Question) -> Question:
    """The next question."""
    ids = {each.id for each in before}
    return (await work.until(Asked, lambda each: each.question.id not in ids)).question


@pytest.mark.parametrize(
    ("title", "text", "other_title", "other_text", "button"),
    [
        pytest.param(MAPS, "", EVIL, "", "Allow", id="another app"),
        pytest.param("Delete old.txt?", "", "Delete the whole photo library?", "", "Delete", id="another thing"),
        pytest.param("Pay $50.00", "To DE89 3704 0044", "Pay $50.00", "To DE12 5001 0517", "Pay", id="another IBAN"),
        pytest.param("Send it?", "To Alice", "Send it?", "To Mallory", "Send", id="another recipient"),
    ],
)
async def test_another_dialog_in_its_place_is_not_pressed(
    rig: Rig, title: str, text: str, other_title: str, other_text: str, button: str
) -> None:
    """Seen failing before: the other dialog's button was pressed, for it looks the same."""
    shows(rig, title, text, "Cancel", button)
    have, model = models([tap(button), tap(button), GIVE_UP])
    work = Work(rig.agent(have), order("go on"))
    first = await question_after(work)
    assert title in first.detail
    assert text in first.detail
    shows(rig, other_title, other_text, "Cancel", button)
    await work.answer("allow")
    second = await question_after(work, first)
    assert rig.inputs() == []
    assert other_title in second.detail
    assert other_text in second.detail
    assert second.frame != first.frame
    assert second.before == first.frame
    assert second.frame is not None
    assert {first.frame, second.frame} <= set(rig.frames.kept)
    assert "You allowed it before" in second.detail
    await work.answer("deny")
    await work.ended()
    assert rig.phone.state.dialog_answers == []
    scene = model.asked(Purpose.ACT)[1].scene
    assert scene is not None
    assert "not the same any more" in " ".join(scene.notices)


async def test_what_stays_is_pressed_once(rig: Rig) -> None:
    shows(rig, MAPS, "", "Deny", "Allow")
    have, _ = models([tap("Allow"), FINISH])
    work = Work(rig.agent(have), order("let Maps find me"))
    await question_after(work)
    await work.answer("allow")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.state.dialog_answers == [f"{MAPS}: Allow"]


async def test_the_question_says_the_words_of_the_dialog_in_the_persons_language(rig: Rig) -> None:
    """Seen failing before: it said neither which app, nor what it would be allowed."""
    shows(rig, EVIL, "It asks for this at every start.", "Deny", "Allow")
    have, _ = models([tap("Allow"), GIVE_UP])
    with speaking("zh"):
        work = Work(rig.agent(have), order("go on"))
        question = await question_after(work)
        assert f"对话框写着：{EVIL} · It asks for this at every start." in question.detail
        await work.answer("deny")
        await work.ended()


async def test_after_two_askings_a_person_does_it(rig: Rig) -> None:
    """Seen failing before: a page that changes each time had the same question asked as long as the task lasted."""
    shows(rig, MAPS, "", "Deny", "Allow")
    have, model = models([tap("Allow"), tap("Allow"), tap("Allow"), FINISH])
    work = Work(rig.agent(have), order("let Maps find me"))
    first = await question_after(work)
    shows(rig, EVIL, "", "Deny", "Allow")
    await work.answer("allow")
    second = await question_after(work, first)
    shows(rig, MAPS, "", "Deny", "Allow")
    await work.answer("allow")
    third = await question_after(work, first, second)
    assert third.kind is QuestionKind.TAKE_OVER
    assert "'Allow'" in third.text
    assert MAPS in third.detail
    assert rig.inputs() == []
    rig.phone.state.dialogs.clear()
    await work.answer("done")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    scene = model.asked(Purpose.ACT)[3].scene
    assert scene is not None
    assert "has finished on the phone" in " ".join(scene.notices)


def ticking(rig: Rig, then: str, button: str) -> Callable[[ModelRequest], ModelReply]:
    """Taps the button, and while the model thinks of it a second goes by."""

    def answer(request: ModelRequest) -> ModelReply:
        rig.phone.state.dialogs[-1].text = then
        return tap(button)(request)

    return answer


async def test_a_countdown_that_is_seen_running_does_not_count(rig: Rig) -> None:
    shows(rig, "Delete old.txt?", "Ends in 0:59", "Cancel", "Delete")
    have, _ = models([ticking(rig, "Ends in 0:58", "Delete"), FINISH])
    work = Work(rig.agent(have), order("delete old.txt"))
    await question_after(work)
    rig.phone.state.dialogs[-1].text = "Ends in 0:31"
    await work.answer("allow")
    assert (await work.ended()).outcome is Outcome.SUCCEEDED
    assert rig.phone.state.dialog_answers == ["Delete old.txt?: Delete"]


async def test_an_amount_counts_also_where_it_was_seen_changing(rig: Rig) -> None:
    """Seen failing before: the question told the amount of the look before."""
    shows(rig, "Your order", "Pay $5.00", "Cancel", "Pay")
    have, _ = models([ticking(rig, "Pay $6.00", "Pay"), GIVE_UP])
    work = Work(rig.agent(have), order("pay for it"))
    assert "$6.00" in (await question_after(work)).detail
    rig.phone.state.dialogs[-1].text = "Pay $7.00"
    await work.answer("allow")
    await work.ended()
    assert rig.inputs() == []


def _middle_of(rig: Rig, button: str) -> tuple[int, int]:
    """Where a button is in the picture, which is all that a model has without a tree."""
    node = next(each for each in rig.phone.scene().root.walk() if each.text == button and each.clickable)
    return node.bounds.centre.x, node.bounds.centre.y


def pointing(rig: Rig, button: str) -> Callable[[ModelRequest], ModelReply]:
    """Taps where the button is in the picture, and says that it matters."""

    def answer(request: ModelRequest) -> ModelReply:
        assert request.scene is not None
        assert not request.scene.screen.elements
        space = request.scene.screen.space
        x, y = _middle_of(rig, button)
        return call("tap", x=x * space.width // 1080, y=y * space.height // 2400, sensitive="it grants something")

    return answer


@pytest.fixture
async def large_rig(virtual_time: None) -> AsyncIterator[Rig]:  # noqa: ARG001  # chooses the loop
    """With a picture of the usual size, of which a part is compared."""
    async with direct_rig(size=DEFAULT_SIZE, density=DEFAULT_DENSITY) as made:
        yield made


@pytest.mark.parametrize("swapped", [True, False])
async def test_without_a_tree_the_picture_around_it_counts(large_rig: Rig, swapped: bool) -> None:
    """Seen failing before: with the places of both buttons alike the dialog of another app was pressed."""
    rig = large_rig
    rig.phone.faults.set(no_tree=True)
    shows(rig, "Allow Mail to use 1 photo?", "", "Deny", "Allow")
    have, _ = models([pointing(rig, "Allow"), GIVE_UP])
    work = Work(rig.agent(have), order("let Photos find me"))
    assert (await question_after(work)).kind is QuestionKind.APPROVE
    if swapped:
        shows(rig, "Allow Mail to use 7 photo?", "", "Deny", "Allow")
    await work.answer("allow")
    await work.ended()
    assert len(rig.phone.state.dialog_answers) == (0 if swapped else 1)


async def test_on_the_first_look_a_field_is_the_same_later(adb_server: AdbServer) -> None:
    """The first look is plain adb's, which knows no hints; the next ones come by the fast lane, which does.

    Seen failing before: the empty field was "Text" first and "Text message" then, and nothing allowed was ever done.
    """
    async with rig_on(adb_server, fast_lane=True) as rig:
        rig.phone.windows.launch("messages")
        rig.phone.windows.open("new")
        rig.phone.windows.page.fields["to"] = "Alice"
        rig.phone.faults.set(hang="u2.jar")
        script: list[Any] = [FINISH]

        def send(request: ModelRequest) -> ModelReply:
            assert request.scene is not None
            if request.scene.screen.elements:
                return tap("Send", sensitive="a test")(request)
            script.insert(0, send)  # the very first picture comes before any list
            return call("wait", seconds=1)

        script.insert(0, send)
        have, _ = models(script)
        work = Work(rig.agent(have), order("send it"))
        await question_after(work)
        rig.phone.faults.set(hang="")
        lane = rig.phones.get(rig.phones.list()[0].id)
        while lane.info.lane != "fast":
            await rig.phones.refresh()
        sent = len(rig.inputs())
        await work.answer("allow")
        assert (await work.ended()).outcome is Outcome.SUCCEEDED
        assert len(rig.inputs()) == sent + 1
