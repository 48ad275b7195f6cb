"""What holds a value is known by the structure of the tree.

The trees follow dumps and tests in public repositories in their ids, classes, words and order: pickers of AOSP on a
tablet, wheels of One UI, a wheel of hours of an app's own, and the pages of Material Components.
"""

from __future__ import annotations

import pytest

from agent.actions import PointTarget, Tap
from agent.guards.pickers import calendar_in, clock_in, is_part_of_picker, sliders_in, time_fields, wheels_in
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.months import ToldDate, date_in
from devices.adb.ui_tree import parse
from devices.geometry import Bounds, Size
from devices.phone import Element

SIZE = Size(1080, 2400)


def tree(*nodes: str) -> tuple[Element, ...]:
    return parse(f"<hierarchy rotation='0'>{''.join(nodes)}</hierarchy>", SIZE)


def node(
    kind: str, box: tuple[int, int, int, int], *, text: str = "", say: str = "", name: str = "", **more: str
) -> str:
    left, top, right, bottom = box
    others = " ".join(f'{key}="{value}"' for key, value in more.items())
    return (
        f'<node class="{kind}" text="{text}" content-desc="{say}" resource-id="{name}" package="a.b" {others} '
        f'bounds="[{left},{top}][{right},{bottom}]"/>'
    )


def column(left: int, right: int, *values: str, kind: str = "android.widget.Button") -> str:
    """A wheel with three values, as its tree has it."""
    boxes = ((900, 1050), (1050, 1250), (1250, 1400))
    kinds = (kind, "android.widget.EditText", kind)
    inside = "".join(
        node(each, (left, top, right, bottom), text=value)
        for each, value, (top, bottom) in zip(kinds, values, boxes, strict=True)
    )
    return node("android.widget.NumberPicker", (left, 900, right, 1400), scrollable="true")[:-2] + f">{inside}</node>"


def test_wheels_of_one_ui_in_any_order() -> None:
    found = wheels_in(tree(column(700, 1000, "1999", "2000", "2001"), column(100, 350, "2", "3", "4")))
    assert [(wheel.text, wheel.number, wheel.row) for wheel in found] == [("3", 3, 175), ("2000", 2000, 175)]
    assert found[0].before is not None
    assert found[0].after is not None
    assert (found[0].before.text, found[0].after.text) == ("2", "4")


def test_a_wheel_that_goes_round_and_one_at_its_end() -> None:
    (hours,) = wheels_in(tree(column(100, 500, "22", "23", "00")))
    assert hours.number == 23
    field = node("android.widget.EditText", (100, 1050, 500, 1250), text="AM", name="a:id/numberpicker_input")
    (half,) = wheels_in(tree(field, node("android.widget.Button", (100, 1250, 500, 1400), text="PM", clickable="true")))
    assert (half.period, half.before, half.after is not None) == ("am", None, True)


def days(kind: str, *, say: str = "", text: bool = True) -> list[str]:
    return [
        node(
            kind,
            (100 + n % 7 * 120, 900 + n // 7 * 120, 220 + n % 7 * 120, 1020 + n // 7 * 120),
            text=str(n) if text else "",
            say=say.format(n) if say else "",
            clickable="true",
        )
        for n in range(1, 31)
    ]


def test_the_month_of_a_tablet() -> None:
    head = node("android.widget.TextView", (504, 820, 612, 874), text="2026", name="android:id/date_picker_header_year")
    box = (900, 760, 1000, 860)
    turn = node("android.widget.ImageButton", box, say="Naslednji", name="android:id/next", clickable="true")
    shown = calendar_in(tree(head, turn, *days("android.view.View", say="{:02} September 2026")))
    assert shown is not None
    assert (shown.year, shown.month, shown.before) == (2026, 9, None)
    assert shown.next is not None
    assert shown.years is not None
    assert shown.years.text == "2026"


def test_the_month_of_material_in_german() -> None:
    name = "a:id/month_navigation_fragment_toggle"
    toggle = node("android.widget.Button", (100, 700, 500, 800), text="März 2027", name=name, clickable="true")
    shown = calendar_in(tree(toggle, *days("android.widget.TextView", say="Montag, {}. März 2027")))
    assert shown is not None
    assert (shown.year, shown.month) == (2027, 3)
    assert shown.cell(30) is not None
    assert shown.cell(31) is None


def test_a_keypad_and_a_list_of_prices_are_no_calendar() -> None:
    places = [(0, 100 * n, 90, 100 * n + 90) for n in range(10)]
    pad = [node("android.widget.Button", box, text=str(n), clickable="true") for n, box in enumerate(places)]
    prices = [node("android.widget.TextView", (0, 50 * n, 90, 50 * n + 40), text=f"${n}.99") for n in range(40)]
    assert calendar_in(tree(*pad, *prices)) is None
    assert clock_in(tree(*pad)) is None


def test_a_slider_that_is_not_called_clickable_is_told() -> None:
    """As a real phone tells it: no words, no use. Seen failing where such nodes are left out of the tree."""
    (slider,) = sliders_in(tree(node("android.widget.SeekBar", (0, 0, 210, 105), clickable="false", focusable="true")))
    assert slider.track.bounds == Bounds(0, 0, 210, 105)


def test_fields_for_a_time() -> None:
    names = ("android:id/input_hour", "android:id/input_minute")
    fields = [
        node("android.widget.EditText", (100 + 200 * n, 500, 250 + 200 * n, 600), text="7", name=name)
        for n, name in enumerate(names)
    ]
    assert time_fields(tree(*fields)) is not None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Sat, Sep 5", ToldDate(None, 9, 5)),
        ("mar., 3 mars 2026", ToldDate(2026, 3, 3)),
        ("2026年9月5日 星期六", ToldDate(2026, 9, 5)),
        ("9월 2026", ToldDate(2026, 9, None)),
        ("5 сентября 2026 г.", ToldDate(2026, 9, 5)),
        ("12/2026", ToldDate(2026, 12, None)),
        ("Room 5", ToldDate(None, None, 5)),
    ],
)
def test_dates_in_words(text: str, told: ToldDate) -> None:
    assert date_in(text) == told


@pytest.mark.parametrize("word", ["Delete", "Pay $20", "Send"])
def test_what_calls_itself_something_else_in_a_calendar_is_held(word: str) -> None:
    """A part of a picker is only spared the words around it, never its own."""
    title = "android:id/alertTitle"
    dialog = node("android.widget.TextView", (100, 500, 900, 600), text="Delete the file?", name=title)
    cells = days("android.view.View", say="{:02} September 2026")
    odd = node("android.view.View", (820, 1380, 940, 1500), text=word, clickable="true", name="android:id/next")
    around = tree(dialog, *cells, odd)
    policy = Policy.default()

    def verdict(element: Element) -> str:
        at = element.bounds.centre
        tap = Tap(target=PointTarget(x=at.x, y=at.y))
        return policy.gate(tap, TouchTarget("a.b", element, around, at, size=SIZE)).verdict

    assert is_part_of_picker(around[5], around)
    assert verdict(around[5]) == "allow"
    assert verdict(around[-1]) == "approve"
