"""The gate before the hands, over labels as apps really write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent import actions as act
from agent.guards.policy import Policy, PolicyError
from devices.geometry import Bounds
from devices.inputs import Key
from devices.phone import Element

HERE = act.PointTarget(x=1, y=1)
TAP = act.Tap(target=HERE)


def button(text: str = "", description: str = "") -> Element:
    return Element(Bounds(0, 0, 9, 9), text=text, description=description, clickable=True)


def verdict(action: act.Action, target: Element | None = None, around: tuple[Element, ...] = ()) -> str:
    return Policy.default().gate(action, package="com.example", target=target, around=around).verdict


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
    """Seen failing with the loop over the rules in `Policy._approval` taken out."""
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
    """Seen failing with the check of `packages` in `Policy.gate` taken out."""
    policy = Policy({"approve": {}, "refuse": {"packages": ["com.bank"]}})
    assert policy.gate(TAP, package="com.bank", target=None, around=()).verdict == "refuse"
    home = policy.gate(act.PressKey(key=Key.HOME), package="com.bank", target=None, around=())
    assert home.verdict == "allow"


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[approve.x]\nlabels = 3\n", encoding="utf-8")
    with pytest.raises(PolicyError, match=r"policy\.toml.*labels|policy\.toml.*reason"):
        Policy.load(file)
    with pytest.raises(PolicyError, match="missing"):
        Policy.load(tmp_path / "missing")
    file.write_text('[approve.x]\nreason = "r"\nlabels = ["go"]\n', encoding="utf-8")
    gate = Policy.load(file).gate(TAP, package="", target=button("Go"), around=())
    assert (gate.verdict, gate.reason) == ("approve", "r")
