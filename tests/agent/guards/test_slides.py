"""Words on, above, below and beside what is slid are judged as those of a button are, however it is moved."""

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

ORDERS = {
    "Swipe to place bid": "pay",
    "Slide to book ride": "pay",
    "Slide to transfer": "pay",
    "Drag to delete account": "delete",
    "Zum Bezahlen schieben": "pay",
    "Wischen zum Senden": "send",
    "Glisser pour payer": "pay",
    "Desliza para enviar dinero": "pay",
    "Scorri per pagare": "pay",
    "向右滑动确认付款": "pay",
    "スライドして支払う": "pay",
    "밀어서 결제": "pay",
    "Проведите, чтобы оплатить": "pay",
    "اسحب للدفع": "pay",
    "Ödemek için kaydır": "pay",
    "भुगतान करने के लिए स्लाइड करें": "pay",
}
HARMLESS = [
    "Media volume",
    "Display brightness",
    "Font size",
    "Playback position",
    "Helligkeit",
    "媒体音量",
    "Luminosité",
    "Price range",
    "Distance",
    "Year",
    "Blue light",
    "Timer",
]
PAGE = Element(Bounds(0, 0, 1080, 2400), scrollable=True)
SEEK_BAR = "android.widget.SeekBar"
TRACK = (100, 1500, 980, 1626)
MOVES = {
    "tap": (act.Tap(target=HERE), None),
    "long_press": (act.LongPress(target=HERE), None),
    "swipe": (act.Swipe(start=HERE, end=HERE), Point(900, 1563)),
    "short swipe": (act.Swipe(start=HERE, end=HERE), Point(180, 1563)),
    "drag": (act.Drag(start=HERE, end=HERE), Point(900, 1563)),
    "scroll": (act.Scroll(direction="left"), Point(900, 1563)),
}
START = Point(160, 1563)


def at(box: tuple[int, int, int, int], **more: Any) -> Element:
    return Element(Bounds(*box), **more)


def text(words: str, place: str) -> tuple[Element, ...]:
    """Words in a place of their own around the track, or on it."""
    boxes = {"above": (300, 1420, 780, 1480), "below": (300, 1646, 780, 1700), "on": (400, 1530, 700, 1596)}
    if place == "split":
        first, _, rest = words.partition(" ")
        return at((300, 1420, 500, 1480), text=first), at((510, 1420, 780, 1480), text=rest or first)
    return (at(boxes[place], text=words),)


CONTROLS: dict[str, tuple[Element, ...]] = {
    "slider": (at(TRACK, class_name=SEEK_BAR, description="0"),),
    "slider that takes a touch": (at(TRACK, class_name=SEEK_BAR, clickable=True),),
    "knob in a track": (at(TRACK, clickable=True), at((100, 1500, 226, 1626), clickable=True, description="»")),
    "track without words": (at(TRACK, clickable=True),),
}
DRAWN: dict[str, tuple[Element, ...]] = {
    "nothing that is told": (),
    "knob alone": (at((100, 1500, 226, 1626), clickable=True),),
}


def gate(way: str, *around: Element, guard: Policy | None = None) -> Gate:
    action, end = MOVES[way]
    target = min((e for e in around if e.bounds.holds(START)), key=lambda e: e.bounds.area, default=None)
    spot = TouchTarget("com.example", target, (PAGE, *around), START, end, size=SIZE)
    return (guard or Policy.default()).gate(action, spot)


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("place", ["above", "below", "on", "split"])
@pytest.mark.parametrize("way", MOVES)
def test_what_is_ordered_around_a_slider_is_held(way: str, place: str, control: str) -> None:
    """Seen passing with the words of its row alone."""
    for words, consequence in ORDERS.items():
        if place == "split" and " " not in words:
            continue
        found = gate(way, *CONTROLS[control], *text(words, place))
        assert (found.verdict, found.consequence) == ("approve", consequence), words


@pytest.mark.parametrize("control", DRAWN)
@pytest.mark.parametrize("place", ["above", "below"])
@pytest.mark.parametrize("way", ["swipe", "drag", "scroll"])
def test_a_finger_that_goes_to_the_side_under_an_order_is_held_where_nothing_else_is_told(
    way: str, place: str, control: str
) -> None:
    for words in ORDERS:
        assert gate(way, *DRAWN[control], *text(words, place)).verdict == "approve", words


@pytest.mark.parametrize("control", CONTROLS | DRAWN)
@pytest.mark.parametrize("place", ["above", "below", "on"])
@pytest.mark.parametrize("way", MOVES)
def test_a_slider_that_holds_a_value_asks_nobody(way: str, place: str, control: str) -> None:
    """Also beside buttons that do something, above and below it."""
    beside = (
        at((50, 100, 900, 200), text="Settings of this phone"),
        at((100, 1250, 500, 1400), text="Delete all", clickable=True),
        at((580, 1710, 980, 1840), text="Send", clickable=True),
    )
    for words in HARMLESS:
        found = gate(way, *(CONTROLS | DRAWN)[control], *text(words, place), *beside)
        assert found.verdict == "allow", words


@pytest.mark.parametrize("words", ["Slide to power off", "滑动关机", "Desliza para reiniciar", "Slide to adjust"])
@pytest.mark.parametrize("way", MOVES)
def test_an_order_that_no_rule_knows_counts_as_a_press(way: str, words: str) -> None:
    """It is read, or a person is asked, where that is done to presses that no rule knows."""
    found = gate(way, *CONTROLS["slider"], *text(words, "above"))
    assert (found.verdict, found.standing, found.how) == ("allow", "unknown", "slide")


def test_a_finger_that_turns_a_page_over_such_words_slides_nothing() -> None:
    """Words further away, and a finger that goes up over what was not made to be slid."""
    row = at((0, 1450, 1080, 1650), text="Anna", clickable=True)
    hint = at((100, 1380, 980, 1440), text="Swipe left to delete")
    far = at((100, 1000, 980, 1060), text="Slide to pay")
    up = TouchTarget("com.example", None, (PAGE, row, hint), START, Point(160, 700), size=SIZE)
    assert Policy.default().gate(act.Scroll(direction="down"), up).verdict == "allow"
    assert gate("tap", row, hint).verdict == "allow"
    assert gate("swipe", *CONTROLS["slider"], far).verdict == "allow"


@pytest.mark.parametrize("place", ["above", "below"])
@pytest.mark.parametrize("icon", [True, False])
@pytest.mark.parametrize(
    ("words", "consequence"), [("Delete forever", "delete"), ("卸载", "delete"), ("Send to all", "send")]
)
def test_what_is_dropped_on_a_place_that_only_words_around_it_name(
    icon: bool, place: str, words: str, consequence: str
) -> None:
    """Seen passing with the words under the end of a drag alone."""
    row = at((0, 400, 1080, 560), text="Anna", clickable=True)
    bin_ = (at((480, 1500, 600, 1620), clickable=True),) if icon else ()
    for said, verdict in ((words, "approve"), ("Later", "allow")):
        around = (PAGE, row, *bin_, *text(said, place))
        spot = TouchTarget("com.example", row, around, Point(500, 480), Point(540, 1560), size=SIZE)
        found = Policy.default().gate(act.Drag(start=HERE, end=HERE), spot)
        assert (found.verdict, found.consequence) == (verdict, consequence if verdict == "approve" else ""), said
