"""What a recorded touch is found by on a phone of another maker: rows whose words are views inside them."""

from __future__ import annotations

import pytest

from agent.recorded_skills.anchors import find
from agent.recorded_skills.recording import recorded
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

SCREEN = Size(1080, 2400)
SETTINGS = "com.android.settings"
ROWS = {"Network & internet": "Mobile, Wi-Fi, hotspot", "Connected devices": "Bluetooth", "Display": "Dark theme, font"}


def row(top: int, title: str, summary: str, *, layout: str, title_id: str, words: str) -> list[Element]:
    return [
        Element(Bounds(0, top, 1080, top + 200), class_name=layout, package=SETTINGS, clickable=True),
        Element(Bounds(200, top + 40, 700, top + 100), title, class_name=words, resource_id=title_id, package=SETTINGS),
        Element(
            Bounds(200, top + 110, 800, top + 160),
            summary,
            class_name=words,
            resource_id="android:id/summary",
            package=SETTINGS,
        ),
    ]


def page(
    *,
    layout: str = "android.widget.LinearLayout",
    title_id: str = "android:id/title",
    words: str = "android.widget.TextView",
    first: int = 0,
) -> Observation:
    titles = [*ROWS][first:] + [*ROWS][:first]
    elements = [
        element
        for n, title in enumerate(titles)
        for element in row(300 + 250 * n, title, ROWS[title], layout=layout, title_id=title_id, words=words)
    ]
    other = Element(
        Bounds(0, 100, 1080, 200), "Settings", class_name="android.widget.TextView", resource_id="android:id/title"
    )
    return Observation(SCREEN, None, (other, *elements), package=SETTINGS)


def named(seen: Observation, title: str) -> Element:
    return next(e for e in seen.elements or () if e.text == title)


@pytest.mark.parametrize("title", ROWS)
@pytest.mark.parametrize(
    "foreign",
    [
        page(first=1),
        page(layout="androidx.constraintlayout.widget.ConstraintLayout", first=2),
        page(title_id="com.vendor:id/row_title", first=1),
        page(words="miui.widget.VendorText", title_id="", first=2),
    ],
    ids=["another order", "another layout", "other ids", "other views"],
)
def test_a_row_is_found_by_its_title_whatever_it_is_built_of(title: str, foreign: Observation) -> None:
    """Seen failing with the view of the words as the anchor."""
    here = page()
    anchor = recorded({"kind": "tap"}, here, named(here, title), touches=True).anchor
    assert anchor is not None
    assert anchor.role == "LinearLayout"
    found = find(anchor, foreign)
    assert found is not None
    holder = next(
        e for e in foreign.elements or () if e.clickable and e.bounds.holds(named(foreign, title).bounds.centre)
    )
    assert holder.bounds.holds(found.element.bounds.centre)


def test_words_that_are_not_the_name_of_their_row_stay_the_anchor() -> None:
    here = page()
    anchor = recorded({"kind": "tap"}, here, named(here, "Bluetooth"), touches=True).anchor
    assert anchor is not None
    assert (anchor.role, anchor.words) == ("TextView", "Bluetooth")
