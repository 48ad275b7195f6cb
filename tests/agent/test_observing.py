"""One picture size, one numbered list, one space for points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.listing import MAX_TOKENS_ALONE
from agent.observing import ScreenView, screen_of
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation
from devices.pictures import Jpeg

SCREEN = Size(1080, 2400)
SPACE = Size(706, 1568)


def seen(*elements: Element) -> Observation:
    return Observation(SCREEN, Image.new("RGB", (1080, 2400)), elements)


def test_the_picture_is_the_one_that_was_seen() -> None:
    jpeg = Jpeg.of(Image.new("RGB", (1080, 2400)), SPACE)
    image = screen_of(Observation(SCREEN, None, (), jpeg=jpeg), SPACE)[0].image
    assert image is not None
    assert (image.data, image.media_type, image.size) == (jpeg.data, "image/jpeg", SPACE)
    assert screen_of(Observation(SCREEN, None, ()), SPACE)[0].image is None


def test_the_list_leaves_out_what_helps_nobody() -> None:
    button = Element(Bounds(0, 100, 100, 200), text="Go", class_name="android.widget.Button", clickable=True)
    same_words = Element(Bounds(0, 100, 100, 200), text="Go")
    outside = Element(Bounds(0, 2500, 100, 2600), text="Below", clickable=True)
    empty = Element(Bounds(0, 0, 1080, 2400), class_name="android.widget.FrameLayout")
    screen, targets = screen_of(seen(empty, button, same_words, outside), SPACE)
    assert targets == (button,)
    assert screen.elements is not None
    assert screen.elements[0].line == "[0] button 'Go' (33,98)"


def test_no_list_is_told_as_none() -> None:
    look = Observation(SCREEN, None, None, secure=True)
    screen, targets = screen_of(look, SPACE)
    assert screen.elements is None
    assert screen.secure
    assert targets == ()


@pytest.mark.slow
@given(x=st.integers(0, SPACE.width - 1), y=st.integers(0, SPACE.height - 1))
def test_points_of_the_picture_are_points_of_the_phone(x: int, y: int) -> None:
    look = seen()
    sight = ScreenView(look, screen_of(look, SPACE)[0], ())
    point = sight.native(Point(x, y))
    assert SCREEN.holds(point)
    assert abs(point.x / SCREEN.width - x / SPACE.width) < 1 / SPACE.width


def test_the_list_alone_is_longer_and_names_what_has_no_words_by_its_id() -> None:
    many = [
        Element(Bounds(0, 10 * n, 50, 10 * n + 9), resource_id=f"app:id/button_{n}", clickable=True) for n in range(90)
    ]
    beside, _ = screen_of(seen(*many), SPACE)
    alone, _ = screen_of(seen(*many), SPACE, tokens=MAX_TOKENS_ALONE)
    assert beside.elements is not None
    assert alone.elements is not None
    lines = [sum(each.place == "line" for each in elements) for elements in (beside.elements, alone.elements)]
    assert lines[0] < lines[1] == 90
    assert alone.elements[3].name == "button_3"


@pytest.mark.parametrize(
    ("package", "of", "other"),
    [
        ("com.example.bank", ["com.android.systemui"], "com.android.systemui"),
        ("NotificationShade", ["com.android.systemui", ""], "com.android.systemui"),
        ("com.example.bank", ["com.example.bank", "com.android.systemui"], ""),
        ("com.example.bank", ["", ""], ""),
        ("", ["com.example.bank"], ""),
        ("com.example.bank", [], ""),
    ],
    ids=["fingerprint mark", "shade", "status bar", "not told", "no app", "empty"],
)
def test_elements_of_another_window_are_known_as_such(package: str, of: list[str], other: str) -> None:
    """What they say of themselves is told all the same, also where the status bar would be left out."""
    elements = tuple(Element(Bounds(0, 9 * n, 50, 9 * n + 8), f"W{n}", package=each) for n, each in enumerate(of))
    screen, _ = screen_of(Observation(SCREEN, None, elements, package=package), SPACE)
    assert screen.other_window == other
    assert screen.elements is not None
    assert other != "com.android.systemui" or all(each.place == "line" for each in screen.elements)
