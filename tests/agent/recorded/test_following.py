"""What a recording does on a screen after what the run has done before."""

from __future__ import annotations

import json

import pytest

from agent.graph.executor.fitting import names_by
from agent.graph.executor.follower import Follower
from agent.graph.executor.state import PastData
from agent.observing import ScreenView, screen_of
from agent.recorded_skills.skill_file import RecordedSkill, Source
from agent.recorded_skills.step_record import Anchor, Landmark, RecordedAction
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation
from tests.fakes.scripted_model import HANG, models, text

SHOP = "org.example.shop"
SIZE = Size(400, 800)
BUTTONS = ("Add to cart", "Cart")


def test_what_the_model_has_done_on_a_page_that_stays_is_not_done_again() -> None:
    assert tapped([followed(0)]) == "Add to cart"
    assert tapped([followed(0), by_model(tap("Add to cart"))]) == "Cart"
    assert tapped([followed(0), by_model()]) == "Add to cart"


def tapped(past: list[PastData]) -> str:
    """The button that the recording taps on the page of the product."""
    elements = tuple(
        Element(Bounds(0, 100 * n, 400, 100 * n + 90), text=words, clickable=True, class_name="android.widget.Button")
        for n, words in enumerate(BUTTONS)
    )
    observation = Observation(SIZE, None, elements, package=SHOP, activity="Product")
    screen, targets = screen_of(observation, SIZE)
    opened = RecordedAction(action={"kind": "open_app", "name": "Shop"})
    skill = RecordedSkill(
        format=1,
        version=1,
        task="Open Shop, tap Add to cart, tap Cart",
        parameters=(),
        steps=(opened, *map(tap, BUTTONS)),
        end=RecordedAction(action={"kind": "finish"}, package=SHOP),
        source=Source(task="7"),
    )
    reply = Follower(skill, {}, past, ScreenView(observation, screen, targets)).reply()
    assert reply is not None
    (call,) = reply.tool_calls
    assert call.name == "tap"
    return BUTTONS[json.loads(call.arguments)["element"]]


def tap(words: str) -> RecordedAction:
    """A recorded tap on one of the buttons."""
    return RecordedAction(
        action={"kind": "tap"},
        package=SHOP,
        activity="Product",
        anchor=Anchor(package=SHOP, role="Button", words=words),
        touches=True,
        landmarks=tuple(Landmark(words=each) for each in BUTTONS),
    )


def followed(step: int) -> PastData:
    """A step of the run that was done by the recording."""
    return {**by_model(), "memo": {"followed": step, "how": "done", "version": 1}}


def by_model(*actions: RecordedAction) -> PastData:
    """A step of the run in which the model has done this."""
    touched = [each.model_dump(mode="json") for each in actions]
    return {
        "number": 1,
        "reply": "",
        "thought": "",
        "performed": [],
        "effects": [],
        "app": SHOP,
        "frame": None,
        "status": "done",
        "failure": None,
        "memo": {},
        "recorded_actions": touched,
        "model": "",
        "picture_size": [1, 1],
    }


@pytest.mark.parametrize(
    ("script", "calls"),
    [pytest.param([HANG], 1, id="time-out"), pytest.param([text("?"), text("?")], 2, id="unusable")],
)
@pytest.mark.usefixtures("virtual_time")
async def test_names_that_did_not_come_are_paid_for(script: list[object], calls: int) -> None:
    """Seen failing before with the time-out: its tokens were lost."""
    _, model = models([], summarize=script)
    names, usage = await names_by(model, ["Cart"], ["Warenkorb"], conversation="1", task="1")
    assert names == {}
    assert usage.calls == calls
    assert usage.input > 20
