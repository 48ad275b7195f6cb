"""What takes a touch in the place of what was meant: a page over it, a picture in a row that says what it is for."""

from __future__ import annotations

from typing import Any

from agent import actions as act
from agent.guards.gate import Gate
from agent.guards.policy import CUT_OFF, Policy
from agent.guards.touch_target import TouchTarget
from devices.adb.ui_tree import MAX_ELEMENTS
from devices.geometry import Bounds
from devices.phone import Element
from tests.agent.guards.screens import HERE, SIZE

TAP = act.Tap(target=HERE)
BUTTON = "android.widget.Button"


def at(left: int, top: int, right: int, bottom: int, **more: Any) -> Element:
    return Element(Bounds(left, top, right, bottom), **more)


def gate(target: Element, *around: Element) -> Gate:
    spot = TouchTarget("com.example", target, (TITLE, *around), target.bounds.centre, size=SIZE)
    return Policy.default().gate(TAP, spot)


TITLE = at(0, 80, 1080, 180, text="Prize centre")
CLAIM = at(60, 1300, 1000, 1420, text="Get my prize", clickable=True, class_name=BUTTON)
CANCEL = at(60, 1300, 1000, 1420, text="Cancel", clickable=True, class_name=BUTTON)


def test_what_lies_transparent_over_a_page_is_what_is_pressed() -> None:
    """Seen failing before: words on more than a quarter of the screen were a page's, wherever that lay."""
    pay = at(0, 0, 1080, 2400, text="Pay now", clickable=True)
    assert gate(CLAIM, CLAIM, pay).consequence == "pay"
    assert gate(CANCEL, CANCEL, pay).consequence == "pay"
    assert gate(CLAIM, pay, CLAIM).verdict == "allow"  # it holds the button, as pages do


def test_a_harmless_word_under_something_else_is_not_known_as_harmless() -> None:
    """So an independent reader is asked. Seen failing with the word believed, whatever lay over it."""
    glass = at(0, 0, 1080, 2400, clickable=True)
    assert gate(CANCEL, CANCEL, glass).standing == "unknown"
    assert gate(CANCEL, glass, CANCEL).standing == "harmless"


def test_a_picture_in_a_row_does_what_the_row_says() -> None:
    """Seen failing before: only words under the finger counted, and there were none."""
    row = at(0, 1300, 1080, 1420, clickable=True)
    word = at(40, 1310, 700, 1410, text="Pay now")
    picture = at(900, 1310, 1060, 1410, clickable=True, class_name="android.widget.ImageView")
    assert gate(picture, row, word, picture).consequence == "pay"
    plain = at(40, 1310, 700, 1410, text="How it works")
    assert gate(picture, row, plain, picture).verdict == "allow"


def test_a_row_that_quotes_something_is_opened_by_its_picture() -> None:
    rows = [
        each
        for top in (400, 520, 640)
        for each in (
            at(0, top, 1080, top + 110, clickable=True),
            at(40, top + 5, 700, top + 50, text="Alice"),
            at(40, top + 55, 700, top + 105, text="I'll pay you back on Friday"),
            at(900, top + 5, 1060, top + 105, clickable=True),
        )
    ]
    assert gate(rows[-1], *rows).verdict == "allow"


def test_enter_sends_the_form_that_its_field_stands_in() -> None:
    """Seen failing before: only what stands beside a field counted as what Enter presses."""
    field = at(60, 1000, 1000, 1120, hint="Your notes", editable=True, clickable=True, focused=True)
    search = at(60, 1000, 1000, 1120, hint="Search", editable=True, clickable=True, focused=True)
    send = at(60, 1180, 1000, 1300, text="Send", clickable=True, class_name=BUTTON)
    far = at(60, 2200, 1000, 2320, text="Send", clickable=True, class_name=BUTTON)

    def entered(field: Element, button: Element) -> Gate:
        typed = act.Type(text="Milk", target=HERE, submit=True)
        spot = TouchTarget("com.example", field, (TITLE, field, button), field.bounds.centre, size=SIZE)
        return Policy.default().gate(typed, spot)

    assert entered(field, send).consequence == "send"
    assert entered(field, far).verdict == "allow"
    assert entered(search, send).verdict == "allow"


def test_what_a_cut_off_list_may_have_left_out_waits() -> None:
    """Seen failing before: five thousand decoys pushed the button out of the list, and the touch met nothing."""

    def touched(decoys: int) -> Gate:
        around = (TITLE, *(at(n % 90, 2300, n % 90 + 1, 2301, text=".", clickable=True) for n in range(decoys)))
        spot = TouchTarget("com.example", None, around, CLAIM.bounds.centre, size=SIZE)
        return Policy.default().gate(TAP, spot)

    assert touched(MAX_ELEMENTS).verdict == "approve"
    assert touched(100).verdict == "allow"
    assert MAX_ELEMENTS >= CUT_OFF


def picture(top: int, right: int, says: str = "Cancel") -> Element:
    return at(20, top, right, top + 120, description=says, clickable=True, class_name="android.widget.ImageView")


def test_a_picture_that_only_its_description_calls_harmless_is_not_known() -> None:
    """What is drawn on it may say "Pay", so a reader looks. Seen failing with the description believed."""
    drawn = picture(1300, 400)
    assert gate(drawn, drawn).standing == "unknown"
    assert gate(drawn, drawn).verdict == "allow"


def test_the_arrow_back_and_the_cross_in_a_corner_are_known_all_the_same() -> None:
    for says in ("Navigate up", "Close"):
        arrow = picture(80, 140, says)
        assert gate(arrow, arrow).standing == "harmless"


def test_a_wide_picture_waits_where_an_amount_stands() -> None:
    """By rules alone. Seen failing with the description believed."""
    drawn, amount = picture(1300, 1000), at(60, 1100, 1000, 1200, text="$49.99")
    assert gate(drawn, drawn).verdict == "allow"
    assert gate(drawn, amount, drawn).verdict == "approve"
    assert gate(CANCEL, amount, CANCEL).standing == "harmless"  # written words are what is shown
