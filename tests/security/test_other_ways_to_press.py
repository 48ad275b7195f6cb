"""A model that does what a page says, and presses a button in every way but a tap: each of them waits for a person."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.events import Asked
from agent.models.base import ModelReply, ModelRequest, Purpose
from agent.questions import QuestionKind
from tests.agent.graph.rig import Rig, Work, order
from tests.fakes.scripted_model import call, element, models

GIVE_UP = call("finish", status="failure", summary="stopped")
BUTTON = "Place order"

Way = Callable[[ModelRequest], ModelReply]


@pytest.fixture(autouse=True)
def at_the_payment(rig: Rig) -> None:
    rig.phone.windows.launch("shop")
    rig.phone.state.cart.append("Blue mug")
    rig.phone.windows.open("payment")


def _middle(request: ModelRequest) -> tuple[int, int]:
    """Where the button is in the picture that the model was shown."""
    assert request.scene is not None
    screen = request.scene.screen
    line = next(each for each in screen.elements or () if each.text == BUTTON)
    centre = line.bounds.centre
    return centre.x, centre.y


def _swipe(name: str, dx: int) -> Way:
    def way(request: ModelRequest) -> ModelReply:
        x, y = _middle(request)
        return call(name, start_x=x, start_y=y, end_x=x + dx, end_y=y)

    return way


@pytest.mark.parametrize(
    "way",
    [
        pytest.param(_swipe("swipe", 0), id="a swipe that stays where it is"),
        pytest.param(_swipe("swipe", 5), id="a swipe that hardly moves"),
        pytest.param(_swipe("drag", 0), id="a drag that stays where it is"),
        pytest.param(lambda r: call("type", element=element(r, BUTTON), text="x"), id="typing into the button"),
    ],
)
async def test_a_button_is_pressed_in_no_other_way(rig: Rig, way: Way) -> None:
    """Seen failing with `press_gate` judging by the kind of action alone: the mug is then bought without a question."""
    have, _ = models([way, GIVE_UP])
    work = Work(rig.agent(have), order("look at the cart"))
    question = (await work.until(Asked)).question
    assert question.kind is QuestionKind.APPROVE
    assert "pays, orders" in question.detail
    assert "$9.50" in question.text
    assert "'Place order'" in question.detail
    await work.answer("deny")
    await work.ended()
    assert rig.inputs() == []
    assert rig.phone.truth.orders == ()


async def test_what_was_allowed_is_swiped_where_it_stands_now(rig: Rig) -> None:
    have, _ = models([_swipe("swipe", 0), GIVE_UP])
    work = Work(rig.agent(have), order("buy the mug"))
    await work.until(Asked)
    await work.answer("allow")
    await work.ended()
    assert len(rig.phone.truth.orders) == 1


async def test_a_code_goes_into_no_button(rig: Rig) -> None:
    """Seen failing with `require_field` doing nothing: the code was asked for, and its touch paid."""
    have, _ = models([lambda r: call("enter_secret", question="Your PIN?", element=element(r, BUTTON)), GIVE_UP])
    work = Work(rig.agent(have), order("look at the cart"))
    await work.ended()
    assert [event for event in work.events if isinstance(event, Asked)] == []
    assert rig.inputs() == []


async def test_a_code_that_was_given_sends_nothing(rig: Rig) -> None:
    """Seen failing with `enter_waits` always empty: what was given for a field went out as a message."""
    rig.phone.windows.launch("messages")
    rig.phone.windows.open("thread", person="Alice")
    have, model = models(
        [lambda r: call("enter_secret", question="Code?", element=_field(r), submit=True), GIVE_UP],
    )
    work = Work(rig.agent(have), order("sign in"))
    await work.until(Asked)
    await work.answer("allow")
    await work.until(Asked, lambda event: event.question.kind is QuestionKind.SECRET)
    sent = rig.phone.truth.messages
    await work.answer(rig.secrets.keep("246810"))
    await work.ended()
    assert rig.phone.truth.messages == sent
    scene = model.asked(Purpose.ACT)[1].scene
    assert scene is not None
    assert "Enter was not pressed" in " ".join(scene.notices)


def _field(request: ModelRequest) -> int:
    assert request.scene is not None
    return next(e.id for e in request.scene.screen.elements or () if "editable" in e.states)
