"""Where a touch goes that was pointed at a picture before its list was there."""

from __future__ import annotations

import pytest

from agent.actions import PointTarget, Tap
from agent.dialects.base import BadReply
from agent.graph.executor.targets import aimed
from agent.observing import ScreenView, screen_of
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

SCREEN, SPACE = Size(1000, 2000), Size(500, 1000)
SAVE = Element(Bounds(0, 0, 400, 200), text="Save", clickable=True)
DELETE = Element(Bounds(600, 0, 1000, 200), text="Delete", clickable=True)
EDIT = Element(Bounds(0, 400, 400, 600), text="Edit", clickable=True)
PAUSE = Element(Bounds(600, 1600, 1000, 1800), text="Pause", class_name="android.view.View")
EDIT_TOO = Element(Bounds(0, 800, 400, 1000), text="Edit", clickable=True)


def aim(x: int, y: int, words: str) -> tuple[int, int]:
    seen = Observation(SCREEN, None, (SAVE, DELETE, EDIT, EDIT_TOO, PAUSE))
    sight = ScreenView(seen, screen_of(seen, SPACE)[0], ())
    action = aimed(Tap(target=PointTarget(x=x, y=y)), words, sight)
    assert isinstance(action, Tap)
    assert isinstance(action.target, PointTarget)
    return action.target.x, action.target.y


@pytest.mark.parametrize(
    ("point", "words", "goes_to"),
    [
        ((90, 40), "Save", (90, 40)),
        ((390, 40), "save ", (100, 50)),
        ((450, 900), "Delete", (400, 50)),
        ((90, 290), "Edit", (90, 290)),
        ((90, 40), "", (90, 40)),
        ((90, 40), "a heart", (90, 40)),
        ((400, 850), "Pause", (400, 850)),
        ((90, 40), "pause", (400, 850)),
        ((450, 990), "", (450, 990)),
    ],
    ids=[
        "as meant",
        "on another",
        "on nothing",
        "one of two",
        "no words",
        "an icon",
        "not clickable",
        "not clickable, elsewhere",
        "drawn",
    ],
)
def test_words_decide_where_they_stand_once(point: tuple[int, int], words: str, goes_to: tuple[int, int]) -> None:
    assert aim(*point, words) == goes_to


def test_words_that_stand_in_two_other_places_touch_nothing() -> None:
    with pytest.raises(BadReply):
        aim(90, 40, "Edit")
