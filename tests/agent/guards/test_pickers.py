"""What holds a value is known by the structure of the tree.

The trees follow dumps and tests in public repositories in their ids, classes, words and order: pickers of AOSP on a
tablet, wheels of One UI, a wheel of hours of an app's own, and the pages of Material Components.
"""

from __future__ import annotations

import math

import pytest

from agent.actions import PointTarget, Tap
from agent.guards.pickers import (
    calendar_in,
    clock_in,
    is_part_of_picker,
    only_sets_value,
    sliders_in,
    time_fields,
    wheels_in,
)
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from agent.told_values import ToldDate, bare_date, date_in
from devices.adb.ui_tree import parse
from devices.geometry import Bounds, Point, Size
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


CHARGED = ("Your card will be charged $420.00", "Ihre Karte wird mit 420,00 € belastet", "将从您的银行卡扣款 ¥420.00")
QUESTION = "Do you want to delete this account?"
BELOW, HEAD, TITLE = (600, 1650, 1000, 1770), (820, 760, 940, 860), (60, 200, 1000, 300)


def verdict_of(around: tuple[Element, ...], touched: Element) -> str:
    at = touched.bounds.centre
    tap = Tap(target=PointTarget(x=at.x, y=at.y))
    return Policy.default().gate(tap, TouchTarget("a.b", touched, around, at, size=SIZE)).verdict


def dialog(said: str, *nodes: str) -> tuple[Element, ...]:
    title = node("android.widget.TextView", TITLE, text=said, name="android:id/alertTitle")
    return tree(title, *nodes)


def button(
    box: tuple[int, int, int, int], text: str = "", *, say: str = "", name: str = "", kind: str = "Button"
) -> str:
    return node(f"android.widget.{kind}", box, text=text, say=say, name=name, clickable="true")


@pytest.mark.parametrize("said", CHARGED)
@pytest.mark.parametrize(
    "label",
    [
        "Confirm 24 December",
        "Yes, 24 December",
        "Book 24 Dec",
        "Continue to 24 December",
        "确认 12月24日",
        "Set 2 alarms",
        "Check out 1 item",
        "24 December",
        "Reservieren: 24. Dezember",
        "Réserver le 24 décembre",
        "24 de marzo, adelante",
        "予約 12月24日",
        "12월 24일 예약",
        "Забронировать 24 декабря",
        "Mar 3 of 4",
        "24",
    ],
)
@pytest.mark.parametrize("described", [False, True])
def test_what_names_a_day_outside_of_the_grid_is_no_day_of_it(said: str, label: str, described: bool) -> None:
    cells = days("android.view.View", say="{:02} December 2026")
    end = button(BELOW, "" if described else label, say=label if described else "")
    around = dialog(said, *cells, end)
    assert not is_part_of_picker(around[-1], around)
    assert verdict_of(around, around[-1]) == "approve"
    assert verdict_of(around, around[5]) == "allow"
    shown = calendar_in(around)
    assert shown is not None
    assert shown.cell(24) is around[24]


def test_a_day_is_found_although_its_like_comes_first_or_last() -> None:
    odd = button((600, 1650, 720, 1770), "24")
    shown = calendar_in(tree(odd, *days("android.view.View"), button((600, 500, 720, 620), "24", say="24")))
    assert shown is not None
    found = shown.cell(24)
    assert found is not None
    assert found.bounds.top == 900 + 24 // 7 * 120


@pytest.mark.parametrize("label", ["24", "24 December 2026"])
@pytest.mark.parametrize("other", ["Confirm 24 December", "Weiter", "24 guests"])
def test_a_cell_is_one_by_its_text_and_by_its_description(label: str, other: str) -> None:
    cells = days("android.view.View", say="{:02} December 2026")
    box = (100 + 24 % 7 * 120, 900 + 24 // 7 * 120, 220 + 24 % 7 * 120, 1020 + 24 // 7 * 120)
    for text, say in ((label, other), (other, label)):
        cells[23] = button(box, text, say=say, kind="View")
        around = dialog(CHARGED[0], *cells)
        assert not is_part_of_picker(around[24], around)


@pytest.mark.parametrize(
    "label", ["Next", "Next month", "Previous", "Nächster Monat", "下个月", "Mois suivant", "다음 달"]
)
@pytest.mark.parametrize("said", [CHARGED[0], QUESTION])
def test_what_pages_a_calendar_is_in_its_head(label: str, said: str) -> None:
    cells = days("android.view.View", say="{:02} December 2026")
    below, head = dialog(said, *cells, button(BELOW, label)), dialog(said, *cells, button(HEAD, say=label))
    assert not is_part_of_picker(below[-1], below)
    assert is_part_of_picker(head[-1], head)
    assert verdict_of(head, head[-1]) == "allow"


@pytest.mark.parametrize(
    "label",
    ["Next: pay", "Weiter zum nächsten Schritt", "Next month free", "Confirm December 2026", "Yes, 2026", "下一步"],
)
@pytest.mark.parametrize("name", ["", "a:id/next", "a:id/month_toggle"])
@pytest.mark.parametrize("described", [False, True])
def test_what_says_more_in_a_head_is_no_part_of_it(label: str, name: str, described: bool) -> None:
    cells = days("android.view.View", say="{:02} December 2026")
    top = button(HEAD, "" if described else label, say=label if described else "", name=name)
    around = dialog(CHARGED[0], *cells, top)
    assert not is_part_of_picker(around[-1], around)


@pytest.mark.parametrize("label", ["OK", "32", "Pay", "Weiter", "31 items", "May"])
def test_beside_a_bare_wheel_only_values_as_wide_are_its_rows(label: str) -> None:
    value = node("android.widget.EditText", (100, 1050, 500, 1250), text="31", name="a:id/numberpicker_input")
    wide = button((150 if label == "32" else 100, 1250, 450 if label == "32" else 500, 1400), label)
    around = dialog(CHARGED[0], value, wide)
    (wheel,) = wheels_in(around)
    assert (wheel.before, wheel.after) == (None, None)
    assert verdict_of(around, around[-1]) == "approve"


def test_no_button_is_a_row_of_the_wheel_that_holds_it() -> None:
    inside = [button((0, 900 + 150 * n, 1000, 1050 + 150 * n), text) for n, text in enumerate(("2026", "2027", "确定"))]
    box = node("com.bigkoo.pickerview.PickerView", (0, 900, 1000, 1350))
    (wheel,) = wheels_in(tree(box[:-2] + f">{''.join(inside)}</node>"))
    assert wheel.before is not None
    assert wheel.after is None


@pytest.mark.parametrize("label", ["5 tickets", "Pay 5", "5 €", "5 bestätigen"])
def test_numbers_of_a_clock_say_nothing_else_and_are_at_their_place(label: str) -> None:
    places = [
        (n, round(500 + 300 * math.sin(n * math.pi / 6)), round(1200 - 300 * math.cos(n * math.pi / 6)))
        for n in range(1, 13)
    ]
    face = [button((x - 40, y - 40, x + 40, y + 40), str(n), kind="TextView") for n, x, y in places]
    around = dialog(CHARGED[0], *face, button((460, 1160, 540, 1240), label), button((460, 1600, 540, 1680), "5"))
    shown = clock_in(around)
    assert shown is not None
    assert len(shown.numbers) == 12
    assert is_part_of_picker(around[5], around)
    assert not any(is_part_of_picker(each, around) for each in around[-2:])
    for odd in ("bought", "5 for you"):
        named = (*around[:-1], *tree(button((800, 1600, 900, 1680), odd, name="android:id/hours")))
        assert not is_part_of_picker(named[-1], named)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Thursday, 24 December 2026", ToldDate(2026, 12, 24)),
        ("quinta-feira, 24 de dezembro de 2026", ToldDate(2026, 12, 24)),
        ("czwartek, 24 grudnia 2026", ToldDate(2026, 12, 24)),
        ("24 दिसंबर 2026", ToldDate(2026, 12, 24)),
        ("2026년 12월 24일 목요일", ToldDate(2026, 12, 24)),
        ("24.12.2026", ToldDate(2026, 12, 24)),
        ("Sept. 2026", ToldDate(2026, 9, None)),
        ("$24 Dec", ToldDate()),
        ("24 December, 2 guests", ToldDate()),
        ("Out of 1", ToldDate()),
        ("Decide 24", ToldDate()),
        ("Mayor 3", ToldDate()),
    ],
)
def test_a_bare_date_is_all_that_is_said(text: str, told: ToldDate) -> None:
    assert bare_date(text) == told


@pytest.mark.parametrize("word", ["Decide 24", "Mayor 3", "Junk 4", "Offset 2", "Sepal 5", "Marketplace 2"])
def test_a_month_is_no_beginning_of_a_word(word: str) -> None:
    assert date_in(word).month is None


@pytest.mark.parametrize("day", ["24.12.2026", "rytoj", "24 December", "2026-12-24"])
@pytest.mark.parametrize(
    "said",
    [
        "Nuo jūsų sąskaitos bus nuskaityti pinigai {}",
        "Tililtäsi veloitetaan rahaa {}",
        "Fizetés történik a számlájáról {}",
    ],
)
def test_a_sentence_in_a_language_without_a_table_counts_with_a_date_in_it(said: str, day: str) -> None:
    around = tree(
        node("android.widget.TextView", (100, 1000, 900, 1100), text=said.format(day), name="android:id/alertTitle"),
        button((600, 1200, 900, 1300), "OK", name="android:id/button1"),
    )
    assert verdict_of(around, around[-1]) == "approve"


def _year_rows(*labels: str) -> tuple[Element, ...]:
    """A list of years as AOSP shows it: each text inside a row that is touched."""
    rows = []
    for n, label in enumerate(labels):
        top = 400 + 120 * n
        inner = node("android.widget.TextView", (0, top + 20, 1080, top + 100), text=label, name="android:id/text1")
        row = node("android.widget.LinearLayout", (0, top, 1080, top + 120), clickable="true")
        rows.append(row[:-2] + f">{inner}</node>")
    return tree(*rows)


def test_rows_of_a_list_of_years_set_a_value_only_with_a_year_alone() -> None:
    around = _year_rows("2025", "2026", "2027", "Delete 2028", "2029 €")
    rows = [each for each in around if each.clickable]
    assert [only_sets_value(each, around) for each in rows] == [True, True, True, False, False]
    assert not only_sets_value(rows[0], _year_rows("2025", "2026")[:2])


@pytest.mark.parametrize(("words", "opens"), [("Thu, Jan 1", True), ("Jan 1 · delete all", False), ("Pay", False)])
def test_the_header_of_a_calendar_sets_a_value_only_with_dates_alone(words: str, opens: bool) -> None:
    head = (
        node("android.widget.LinearLayout", (40, 140, 1040, 240), clickable="true")[:-2]
        + ">"
        + node("android.widget.TextView", (40, 145, 1040, 185), text="2026", name="android:id/date_picker_header_year")
        + node("android.widget.TextView", (40, 190, 1040, 235), text=words, name="android:id/date_picker_header_date")
        + "</node>"
    )
    days = [
        node(
            "android.view.View",
            (
                20 + 148 * ((n + 3) % 7),
                600 + 120 * ((n + 3) // 7),
                168 + 148 * ((n + 3) % 7),
                716 + 120 * ((n + 3) // 7),
            ),
            text=str(n),
            say=f"{n:02} January 2026",
            clickable="true",
        )
        for n in range(1, 32)
    ]
    around = tree(head, *days)
    shown = calendar_in(around)
    assert shown is not None
    assert shown.years is not None
    assert only_sets_value(around[0], around) is opens


def test_a_finger_on_a_slider_sets_a_value_and_one_on_a_button_there_does_not() -> None:
    bar = node("android.widget.SeekBar", (100, 800, 900, 880))
    on, off = (Point(300, 840), Point(310, 840)), (Point(300, 840), Point(310, 900))
    assert only_sets_value(None, tree(bar), on)
    assert not only_sets_value(None, tree(bar), off)
    assert not only_sets_value(None, tree(bar))
    around = tree(bar, button((280, 810, 340, 870), "Confirm"))
    assert not only_sets_value(around[1], around, on)
    assert only_sets_value(around[0], around)


def test_a_button_that_is_named_like_a_switch_to_typing_needs_a_clock() -> None:
    toggle = node("android.widget.ImageButton", (40, 1150, 160, 1280), name="android:id/toggle_mode", clickable="true")
    places = [
        (n, round(500 + 300 * math.sin(n * math.pi / 6)), round(700 - 300 * math.cos(n * math.pi / 6)))
        for n in range(1, 13)
    ]
    face = [button((x - 40, y - 40, x + 40, y + 40), str(n), kind="TextView") for n, x, y in places]
    around = tree(*face, toggle)
    assert only_sets_value(around[-1], around)
    alone = tree(toggle)
    assert not only_sets_value(alone[0], alone)
    worded = tree(*face, toggle.replace('text=""', 'text="Pay"'))
    assert not only_sets_value(worded[-1], worded)


def test_halves_of_the_day_set_a_value_only_beside_fields_of_a_time() -> None:
    fields = [
        node("android.widget.EditText", (40, 210, 270, 350), name=f"a.b:id/input_{part}") for part in ("hour", "minute")
    ]
    half = node("android.widget.RadioButton", (800, 210, 1040, 350), text="PM", clickable="true", checkable="true")
    around = tree(*fields, half, button((800, 400, 1040, 500), "OK"))
    assert [only_sets_value(each, around) for each in around[-2:]] == [True, False]
    alone = tree(half)
    assert not only_sets_value(alone[0], alone)
