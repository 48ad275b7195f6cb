"""A table of presses as phones have them: the consequential ones wait, the ordinary ones do not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agent import actions as act
from agent.guards.hit_test import TouchTarget
from agent.guards.policy import Policy
from devices.geometry import Bounds, Point, Size
from devices.phone import Element

TABLE = tomllib.loads(Path(__file__).with_name("presses.toml").read_text(encoding="utf-8"))
SIZE = Size(1080, 2400)
NEEDLESS_SHARE = 0.02
"""Of the ordinary presses: more than these would have people allow everything."""
HERE = act.PointTarget(x=1, y=1)
WAYS: dict[str, act.Action] = {
    "tap": act.Tap(target=HERE),
    "scroll": act.Scroll(direction="right"),
    "swipe": act.Swipe(start=HERE, end=HERE),
    "drag": act.Drag(start=HERE, end=HERE),
}


def screen(case: dict[str, Any]) -> tuple[Element, ...]:
    """The window of a case, laid out as Android does: text, rows that take a touch, buttons beside each other."""
    dialog = case.get("window") == "dialog"
    left, right, top, height = (80, 1000, 800, 60) if dialog else (0, 1080, 80, 100)
    package = case.get("package", "com.example")
    found: list[Element] = []

    def add(box: Bounds, text: str = "", role: str = "android.widget.TextView", **more: Any) -> None:
        role = case.get("roles", {}).get(text, role)
        more["checkable"] = role.endswith("Switch") or text in case.get("checked", ())
        more["checked"] = text in case.get("checked", ())
        identifier = case.get("ids", {}).get(text, "")
        found.append(Element(box, text=text, class_name=role, package=package, resource_id=identifier, **more))

    def holding(box: Bounds, words: list[str], role: str) -> None:
        if len(words) == 1:
            add(box, words[0], role, clickable=True)
            return
        add(box, role=role, clickable=True)
        part = (box.bottom - box.top) // len(words)
        for number, word in enumerate(words):
            add(Bounds(box.left + 20, box.top + part * number, box.right - 20, box.top + part * (number + 1)), word)

    if not dialog:
        found.append(Element(Bounds(0, 0, 1080, 2400), package=package, scrollable=True))
        add(Bounds(0, 80, 120, 180), "Navigate up", "android.widget.ImageButton", clickable=True)
        left = 0
    for text in (case.get("title", ""), *case.get("texts", ()), *case.get("plain", ())):
        if text:
            add(Bounds(left + 130, top, right - 20, top + height), text)
            top += height + 10
    for words in case.get("rows", ()):
        holding(Bounds(left, top, right, top + 120), words, "android.widget.LinearLayout")
        top += 120
    buttons = [[each] if isinstance(each, str) else each for each in case.get("buttons", ())]
    width = (right - left) // max(1, len(buttons))
    top = top + 20 if dialog else max(top, 2200)
    for number, words in enumerate(buttons):
        box = Bounds(left + width * number, top, left + width * (number + 1), top + 120)
        holding(box, words, "android.widget.Button")
    return tuple(found)


def presses(kind: str) -> list[tuple[dict[str, Any], str]]:
    """Each press of the table by itself; "*" stands for every word of the window's rows and buttons."""
    made: list[tuple[dict[str, Any], str]] = []
    for case in TABLE[kind]:
        press = case["press"]
        if press == "*":
            rows = [*case.get("rows", ()), *([each] for each in case.get("buttons", ()))]
            press = [word for words in rows for word in words]
        made += [(case, word) for word in ([press] if isinstance(press, str) else press)]
    return made


def verdict(case: dict[str, Any], press: str) -> str:
    around = screen(case)
    target = next(e for e in around if e.text == press)
    start, end = target.bounds.centre, None
    way = case.get("way", "tap")
    if way == "drag":
        end = next(e for e in around if e.text == case["onto"]).bounds.centre
    elif way != "tap":
        end = Point(min(SIZE.width - 1, start.x + 600), start.y)
    spot = TouchTarget(
        case.get("package", "com.example"),
        target,
        around,
        start,
        end,
        activity=case.get("activity", ""),
        size=SIZE,
    )
    return Policy.default().gate(WAYS[way], spot).verdict


@pytest.mark.parametrize(("case", "press"), presses("held"), ids=[press for _, press in presses("held")])
def test_what_has_a_consequence_waits(case: dict[str, Any], press: str) -> None:
    """Seen failing before for each of them: a statement needed a question mark, a consent English words, a button its
    words in one node, and of a move only the button at its start was looked at.
    """
    assert verdict(case, press) == "approve"


def test_ordinary_presses_are_not_asked_about() -> None:
    made = presses("free")
    asked = [(case.get("title"), press) for case, press in made if verdict(case, press) != "allow"]
    assert len(asked) <= len(made) * NEEDLESS_SHARE, asked
