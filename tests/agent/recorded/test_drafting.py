"""What of a run is done again by code, and what is left to a model."""

from __future__ import annotations

from typing import Any

import pytest

from agent.recorded_skills.recording import DoneStep, as_scroll, proposed, steps_of, with_parameters
from agent.recorded_skills.skill_file import RecordedSkill, Source
from agent.recorded_skills.step_record import Anchor, Landmark, RecordedAction
from devices.geometry import Bounds, Point, Size
from devices.phone import Element, Observation

END = RecordedAction(action={"kind": "finish", "status": "success"}, landmarks=(Landmark(words="Done"),))
FIELD = Anchor(package="notes", role="EditText", id="notes:id/title", editable=True)


def screen(class_name: str = "androidx.recyclerview.widget.RecyclerView") -> Observation:
    """A screen with a list between a title and a bar at the bottom."""
    box = Element(Bounds(0, 100, 540, 1100), class_name=class_name, scrollable=True)
    small = Element(Bounds(0, 0, 540, 90), class_name="HorizontalScrollView", scrollable=True)
    return Observation(Size(540, 1200), None, (small, box))


@pytest.mark.parametrize(
    ("start", "end", "direction"),
    [
        ((270, 900), (270, 300), "down"),
        ((270, 300), (280, 900), "up"),
        ((500, 600), (40, 600), None),  # a row is thrown away
        ((270, 600), (100, 300), None),
        ((270, 5), (270, 900), None),  # the shade is pulled down
        ((270, 1150), (270, 300), None),  # home
    ],
)
def test_a_swipe_inside_a_list_is_done_again_as_a_scroll(
    start: tuple[int, int], end: tuple[int, int], direction: str | None
) -> None:
    assert as_scroll(Point(*start), Point(*end), screen()) == direction


def test_a_finger_on_pages_or_a_value_scrolls_nothing() -> None:
    for name in ("androidx.viewpager.widget.ViewPager", "android.widget.SeekBar"):
        assert as_scroll(Point(270, 900), Point(270, 300), screen(name)) is None


def drafted(*actions: RecordedAction, task: str = "look it up and write it down") -> RecordedSkill:
    steps, end = steps_of([DoneStep((each,), ()) for each in (*actions, END)])
    return with_parameters(task, steps, end, (), Source())


def test_what_was_looked_up_is_not_asked_for_again_and_not_typed_from_the_recording() -> None:
    """Seen failing (the old text typed) without `after_lookup`."""
    search = RecordedAction(action={"kind": "web_search", "query": "weather"}, looks_up=True)
    typed = RecordedAction(action={"kind": "type", "text": "Sunny"}, anchor=FIELD, touches=True)
    (step,) = drafted(search, typed).steps
    assert (step.action, step.anchor) == ({"kind": "type"}, None)
    (step,) = drafted(search, typed, task="write down Sunny").steps
    assert step.action["text"] == "Sunny"
    (step,) = drafted(typed).steps
    assert step.action["text"] == "Sunny"


def test_keys_scrolls_and_launches_are_done_again_and_a_tool_that_changes_something_is_not() -> None:
    kinds: list[dict[str, Any]] = [
        {"kind": "open_app", "name": "Notes"},
        {"kind": "wait", "seconds": 2},
        {"kind": "scroll", "direction": "down"},
        {"kind": "key", "key": "back"},
        {"kind": "remember", "text": "x"},
    ]
    steps = drafted(*(RecordedAction(action=each) for each in kinds)).steps
    assert [step.kind for step in steps] == ["open_app", "scroll", "key", "remember"]
    assert [step.touches for step in steps] == [False, False, False, True]


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("compose_message_text", "message"),
        ("et_search", "search"),
        ("recipientEditText", "recipient"),
        ("title", "title"),
        ("edit_text", "text"),
        ("输入", "value"),
    ],
)
def test_a_parameter_is_called_as_people_would_call_it(field: str, name: str) -> None:
    anchor = Anchor(package="app", role="EditText", id=f"app:id/{field}", editable=True)
    step = RecordedAction(action={"kind": "type", "text": "hello Bob"}, anchor=anchor)
    assert [each.name for each in proposed("write hello Bob", [step], ())] == [name]
