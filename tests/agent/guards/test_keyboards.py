"""A touch of the keyboard on the screen meets what its keys meet."""

from __future__ import annotations

from typing import Any

import pytest

from agent import actions as act
from agent.guards.gate import Gate
from agent.guards.policy import Policy
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds, Point
from devices.phone import Element
from tests.agent.guards.screens import HERE, SIZE

TAP = act.Tap(target=HERE)
ENTER = Point(1010, 2180)
"""Where the key stands that ends the line, below and to the right on every keyboard."""
LETTER = Point(300, 1900)
KEYBOARDS = [
    "com.google.android.inputmethod.latin",
    "com.samsung.android.honeyboard",
    "com.touchtype.swiftkey",
    "com.android.inputmethod.latin",
    "com.sohu.inputmethod.sogou",
    "com.baidu.input_huawei",
    "com.android.adbkeyboard",
    "helium314.keyboard",
]


def at(left: int, top: int, right: int, bottom: int, **more: Any) -> Element:
    return Element(Bounds(left, top, right, bottom), **{"package": "org.chat", **more})


PAGE = at(0, 0, 1080, 1500, scrollable=True)
FIELD = at(130, 1380, 950, 1490, text="I'll be late", hint="Message", editable=True, clickable=True, focused=True)
SEND = at(960, 1380, 1080, 1490, clickable=True, class_name="android.widget.ImageView", description="Send")
SEARCH = at(130, 80, 950, 180, text="shoes", hint="Search", editable=True, clickable=True, focused=True)


def keyboard(package: str, **key: Any) -> tuple[Element, ...]:
    """A keyboard with the key that ends the line, and a letter."""
    window = at(0, 1500, 1080, 2260, package=package)
    line = at(920, 2110, 1080, 2250, package=package, clickable=True, **key)
    return window, at(250, 1850, 350, 1950, package=package, text="q", clickable=True), line


def gate(finger: Point, *around: Element, shown: bool = True) -> Gate:
    spot = TouchTarget("org.chat", None, (PAGE, *around), finger, size=SIZE, keyboard=shown)
    return Policy.default().gate(TAP, spot)


@pytest.mark.parametrize("package", KEYBOARDS)
@pytest.mark.parametrize("key", [{"description": "Enter"}, {"description": "换行"}, {"description": "Envoyer"}, {}])
def test_the_key_that_ends_the_line_sends_as_enter_does(package: str, key: dict[str, str]) -> None:
    """Seen failing before: a tap there met no rule, whatever the field was for."""
    held = gate(ENTER, FIELD, SEND, *keyboard(package, **key))
    assert (held.verdict, held.consequence) == ("approve", "send")
    assert gate(ENTER, SEARCH, *keyboard(package, description="Search")).verdict == "allow"
    assert gate(LETTER, FIELD, SEND, *keyboard(package, **key)).verdict == "allow"


def test_a_keyboard_of_which_only_its_window_is_told() -> None:
    """AOSP's draws its keys in one view. Seen failing before."""
    window = at(0, 1500, 1080, 2260, package="com.android.inputmethod.latin")
    assert gate(ENTER, FIELD, SEND, window).verdict == "approve"
    assert gate(LETTER, FIELD, SEND, window).verdict == "allow"


def test_a_keyboard_of_which_nothing_is_told_but_that_it_is_shown() -> None:
    """`uiautomator dump` tells of the app's window alone. Seen failing before."""
    assert gate(ENTER, FIELD, SEND).verdict == "approve"
    assert gate(LETTER, FIELD, SEND).verdict == "allow"
    assert gate(ENTER, FIELD, SEND, shown=False).verdict == "allow"


def test_the_key_is_known_by_its_id_wherever_it_stands() -> None:
    """A keyboard for one hand, or one that is split. Seen failing before."""
    google = "com.google.android.inputmethod.latin"
    key = at(400, 2000, 500, 2100, package=google, clickable=True, resource_id=f"{google}:id/key_pos_ime_action")
    assert gate(Point(450, 2050), FIELD, SEND, *keyboard(google), key).verdict == "approve"


def test_what_its_own_key_says_counts_where_the_app_has_no_button() -> None:
    """The field's action is *send*: the keyboard writes it on the key. Seen failing for languages but English."""
    for word in ("Send", "发送", "Senden", "送信"):
        assert gate(ENTER, FIELD, *keyboard(KEYBOARDS[0], description=word)).consequence == "send"


def test_a_keyboard_below_hides_no_button_that_ends_a_payment() -> None:
    """Seen failing before: its keys stood below the button, so that this was not the last."""
    pay = at(0, 1380, 1080, 1490, text="Go on", clickable=True, class_name="android.widget.Button")
    total = at(0, 900, 1080, 1000, text="$49.99")
    held = gate(Point(500, 1450), total, pay, *keyboard(KEYBOARDS[0]))
    assert (held.verdict, held.consequence) == ("approve", "pay")
