"""The gate before the hands, over labels as apps really write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent import actions as act
from agent.guards.policy import Policy, PolicyError
from agent.guards.reading import is_press
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds, Point
from devices.inputs import Key
from devices.phone import Element

HERE = act.PointTarget(x=1, y=1)
TAP = act.Tap(target=HERE)


class Knock(act.Action):
    """A touch that stands in no list."""

    kind: Literal["knock"] = "knock"
    target: act.Target


def button(text: str = "", description: str = "") -> Element:
    return Element(Bounds(0, 0, 9, 9), text=text, description=description, clickable=True)


def verdict(action: act.Action, target: Element | None = None, around: tuple[Element, ...] = ()) -> str:
    return Policy.default().gate(action, TouchTarget("com.example", target, around)).verdict


@pytest.mark.parametrize(
    "label",
    [
        "Send",
        "SEND",
        " send ",
        "Pay $12.90",
        "Place order",
        "Delete note",
        "Install",
        "Uninstall",
        "Post",
        "Buy now",
        "发送",
        "立即购买",
        "删除",
        "确认付款",
        "允许",
        "Sign out",
        "Send to Anna",
        "Transfer",
    ],
)
def test_what_cannot_be_taken_back_waits_for_a_person(label: str) -> None:
    """Seen failing with the loop over the rules in `Policy._first` taken out."""
    assert verdict(TAP, button(label)) == "approve"
    assert verdict(act.LongPress(target=HERE), button(description=label)) == "approve"


@pytest.mark.parametrize(
    "label", ["Search", "OpenGUI", "Settings", "Sender address", "Poster", "Payments are safe here, read on and on"]
)
def test_other_words_pass(label: str) -> None:
    assert verdict(TAP, button(label)) == "allow"


def test_a_point_without_an_element_passes_but_a_sensitive_tap_does_not() -> None:
    """Seen failing with the check of `sensitive` in `Policy.gate` taken out."""
    assert verdict(TAP) == "allow"
    assert verdict(act.Tap(target=HERE, sensitive="pays")) == "approve"


def test_enter_presses_the_button_beside_the_field() -> None:
    """Seen failing with `_presses_enter` always saying no."""
    send = (button("Send"),)
    assert verdict(act.Type(text="hello", submit=True), None, send) == "approve"
    assert verdict(act.Type(text="hello\n"), None, send) == "approve"
    assert verdict(act.PressKey(key=Key.ENTER), None, send) == "approve"
    assert verdict(act.Type(text="hello"), None, send) == "allow"
    assert verdict(act.Type(text="hello", submit=True), None, (button("Search"),)) == "allow"
    assert verdict(act.PressKey(key=Key.BACK), None, send) == "allow"


def test_a_closed_app_is_refused_but_may_be_left() -> None:
    """Seen failing with the check of `_is_closed` in `Policy.gate` taken out."""
    policy = Policy({"approve": {}, "refuse": {"packages": ["com.bank"]}})
    assert policy.gate(TAP, TouchTarget("com.bank")).verdict == "refuse"
    assert policy.gate(act.EnterSecret(question="?"), TouchTarget("com.bank")).verdict == "refuse"
    home = policy.gate(act.PressKey(key=Key.HOME), TouchTarget("com.bank"))
    assert home.verdict == "allow"


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[approve.x]\nlabels = 3\n", encoding="utf-8")
    with pytest.raises(PolicyError, match=r"policy\.toml.*labels|policy\.toml.*reason"):
        Policy.load(file)
    with pytest.raises(PolicyError, match="missing"):
        Policy.load(tmp_path / "missing")
    file.write_text('[approve.x]\nreason = "r"\nlabels = ["go"]\n', encoding="utf-8")
    gate = Policy.load(file).gate(TAP, TouchTarget("", button("Go")))
    assert (gate.verdict, gate.reason) == ("approve", "r")


@pytest.mark.parametrize(
    "label",
    [
        "Order history",
        "Payment methods",
        "Post office",
        "Update history",
        "Don't allow",
        "Do not send",
        "How to pay",
        "Delivery",
        "发送记录",
        "支付方式",
        "不允许",
        "取消支付",
        "發送記錄",
        "支付設定",
        "不允許",
        "拒絕授權",
        "Отправитель",
    ],
)
def test_buttons_that_only_sound_like_it_pass(label: str) -> None:
    assert verdict(TAP, button(label)) == "allow"


@pytest.mark.parametrize(
    "label",
    [
        *("Confirm and pay", "➤ Send", "Yes, delete", "ＰＡＹ", "S\u200bend", "Pay now!", "Pay\u2800now"),
        *("P\ufe0fay now", "S\u034fend", "P\u3164ay", "Pa\u0323y", "S e n d", "P.A.Y", "𝐏𝐚𝐲", "🅟🅐🅨", "ᴘᴀʏ now"),
        *(
            "\u0420\u0430\u0443 now",
            "\u0405\u0435nd",
            "Instа\u04cf\u04cf",
            "\u03a1ay now",
            "\ua4d3elete",
            "\u13a0elete",
        ),
        *(
            "支 付",
            "確認付款",
            "刪除",
            "發送",
            "安裝",
            "允許",
            "購買",
            "轉帳",
            "傳送",
            "解除安裝",
            "登出",
            "重設密碼",
            "刪　除",
        ),
    ],
)
def test_words_in_disguise(label: str) -> None:
    """Seen failing with `folded` doing no more than `casefold`."""
    assert verdict(TAP, button(label)) == "approve"


def at(left: int, top: int, right: int, bottom: int, **more: Any) -> Element:
    return Element(Bounds(left, top, right, bottom), **more)


PAGE = at(0, 0, 1000, 2000)


def test_what_lies_under_the_finger_counts_whatever_is_named() -> None:
    """Seen failing with `words_under` returning the target's words alone."""
    harmless = at(0, 0, 1000, 200, text="Nice picture", clickable=True)
    over_it = at(450, 90, 550, 110, text="Pay", clickable=True)
    assert verdict(TAP, harmless, (PAGE, harmless, over_it)) == "approve"
    wrapper = at(0, 300, 400, 400, clickable=True)
    caption = at(100, 320, 300, 380, text="Place order")
    assert verdict(TAP, wrapper, (PAGE, wrapper, caption)) == "approve"


def test_a_nameless_place_on_a_screen_about_money_waits() -> None:
    """Seen failing with `_blind` always allowing."""
    policy = Policy.default()
    total = at(0, 900, 200, 950, text="Total")

    def gate(*around: Element) -> str:
        return policy.gate(TAP, TouchTarget("com.example", None, around, Point(500, 1500))).verdict

    assert gate(PAGE, total) == "approve"
    assert gate(PAGE) == "allow"


def test_ok_means_what_the_question_asks() -> None:
    """Seen failing with `_confirmed` always allowing."""
    ok = at(700, 1200, 900, 1300, text="OK", clickable=True)
    assert verdict(TAP, ok, (PAGE, ok, at(100, 1000, 900, 1100, text="Delete this note?"))) == "approve"
    assert verdict(TAP, ok, (PAGE, ok, at(100, 1000, 900, 1100, text="确定要删除吗？"))) == "approve"
    assert verdict(TAP, ok, (PAGE, ok, at(100, 1000, 900, 1100, text="Shall we go on?"))) == "allow"


@pytest.mark.parametrize(
    ("package", "identifier", "expected"),
    [
        ("com.whatsapp", "com.whatsapp:id/send", "approve"),
        ("com.google.android.permissioncontroller", "x:id/permission_allow_button", "approve"),
        ("com.example", "com.example:id/btn_send", "approve"),
        ("com.example", "com.example:id/post_image", "allow"),
        ("com.google.android.gm", "com.google.android.gm:id/reply", "allow"),
    ],
)
def test_buttons_known_by_id(package: str, identifier: str, expected: str) -> None:
    """Seen failing with `_by_id` always finding nothing."""
    target = at(0, 0, 9, 9, resource_id=identifier, clickable=True)
    assert Policy.default().gate(TAP, TouchTarget(package, target)).verdict == expected


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        (at(0, 0, 9, 9, editable=True, password=True), "hunter2", "secret"),
        (at(0, 0, 9, 9, editable=True, hint="6-digit code"), "123456", "secret"),
        (at(0, 0, 9, 9, editable=True, hint="验证码"), "123456", "secret"),
        (at(0, 0, 9, 9, editable=True, hint="ZIP code"), "12345", "allow"),
        (at(0, 0, 9, 9, editable=True, hint="Promo code"), "SPRING", "allow"),
        (at(0, 0, 9, 9, editable=True, hint="Message"), "hello", "allow"),
    ],
)
def test_codes_are_for_people_to_type(field: Element, text: str, expected: str) -> None:
    """Seen failing with `_is_secret` always saying no."""
    assert verdict(act.Type(text=text, target=HERE), field) == expected


def test_a_finger_that_stays_on_a_button_presses_it() -> None:
    """Android presses what the finger is on when it leaves, however it moved there. Seen failing without
    `stays_on_button`.
    """
    pay = at(100, 1800, 900, 1950, text="Pay $9.50", clickable=True)
    around = (PAGE, pay)

    def gate(action: act.Action, start: Point, end: Point) -> str:
        return Policy.default().gate(action, TouchTarget("com.example", pay, around, start, end)).verdict

    swipe, drag = act.Swipe(start=HERE, end=HERE), act.Drag(start=HERE, end=HERE)
    assert gate(swipe, Point(150, 1850), Point(850, 1850)) == "approve"
    assert gate(swipe, Point(500, 1850), Point(500, 1790)) == "approve"
    assert gate(swipe, Point(500, 1850), Point(500, 900)) == "allow"
    assert gate(drag, Point(500, 1850), Point(500, 900)) == "approve"


def test_keys_press_the_button_that_has_the_focus() -> None:
    """Seen failing with `focused_button` finding none, and with `moved` always False."""
    delete = at(0, 100, 300, 200, text="Delete", clickable=True)
    focused = at(0, 100, 300, 200, text="Delete", clickable=True, focused=True)
    field = at(0, 300, 300, 400, editable=True, focused=True)
    enter = act.PressKey(key=Key.ENTER)
    assert verdict(enter, None, (PAGE, focused)) == "approve"
    assert verdict(act.Type(text=" "), None, (PAGE, focused)) == "approve"
    assert verdict(act.Type(text="x"), None, (PAGE, focused)) == "allow"
    assert verdict(enter, None, (PAGE, delete, field)) == "allow"
    assert verdict(act.Type(text="two words\n"), None, (PAGE, delete, field)) == "allow"
    assert verdict(act.Type(text="a\t\t\n"), None, (PAGE, delete, field)) == "approve"
    assert verdict(act.Type(text="a\t "), None, (PAGE, delete, field)) == "approve"
    assert verdict(act.Type(text="a\tb"), None, (PAGE, delete, field)) == "allow"


def test_keys_reach_a_button_that_means_what_stands_above_it() -> None:
    """Seen failing before: only the buttons' own words were looked at."""
    ok = at(700, 1200, 900, 1300, text="OK", clickable=True)
    field = at(100, 1100, 900, 1180, editable=True, focused=True)
    about = at(100, 1000, 900, 1100, text="This file will be permanently deleted")
    focused = at(700, 1200, 900, 1300, text="OK", clickable=True, focused=True)
    assert verdict(act.Type(text="a\t\t\n"), None, (PAGE, about, field, ok)) == "approve"
    assert verdict(act.PressKey(key=Key.ENTER), None, (PAGE, about, focused)) == "approve"
    assert verdict(act.Type(text="a\t\t\n"), None, (PAGE, field, ok)) == "allow"


def test_a_touch_that_stands_in_no_list_is_one() -> None:
    """Seen failing with a list of what touches, in the policy and for the reader."""
    knock = Knock(target=HERE)
    pay, nothing = button("Pay"), TouchTarget("com.example")
    assert verdict(knock, pay) == "approve"
    assert is_press(knock, TouchTarget("com.example", pay))
    assert is_press(knock, TouchTarget("com.example", point=Point(1, 1)))
    assert not is_press(act.OpenApp(name="Shop"), nothing)
    assert verdict(act.OpenApp(name="Shop")) == "allow"


def test_what_is_typed_into_a_button_touches_it() -> None:
    """Seen failing with `press_gate` looking at the keys alone."""
    send, message = button("Send"), at(0, 0, 9, 9, editable=True, clickable=True, hint="Send a message")
    assert verdict(act.Type(text="x", target=HERE), send) == "approve"
    assert verdict(act.Type(text="x", target=HERE), message) == "allow"
    assert verdict(act.EnterSecret(question="?", target=HERE), send) == "approve"
    assert verdict(act.EnterSecret(question="?", target=HERE), message) == "allow"


def test_addresses_that_do_more_than_show_a_page() -> None:
    assert verdict(act.OpenUrl(url="upi://pay?am=5")) == "approve"
    assert verdict(act.OpenUrl(url="https://example.org/pay")) == "allow"


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_text_makes_the_gate_fall(label: str, typed: str) -> None:
    """Whatever stands on the screen or is typed, Send stays gated and nothing raises."""
    send = at(0, 500, 100, 600, text="Send", clickable=True)
    note = at(0, 0, 1000, 100, text=label)
    assert verdict(TAP, send, (PAGE, note, send)) == "approve"
    verdict(act.Type(text=typed, submit=True), note, (PAGE, note, send))
    verdict(TAP, at(0, 0, 9, 9, text=label, clickable=True), (PAGE, note))
