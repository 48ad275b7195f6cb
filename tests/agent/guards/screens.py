"""Windows of the tables of presses, laid out as Android does it."""

from __future__ import annotations

from typing import Any, Final

from agent import actions as act
from agent.guards.touch_target import TouchTarget
from devices.geometry import Bounds, Point, Size
from devices.inputs import Key
from devices.phone import Element

SIZE: Final = Size(1080, 2400)
HERE: Final = act.PointTarget(x=1, y=1)
WAYS: Final[dict[str, act.Action]] = {
    "tap": act.Tap(target=HERE),
    "scroll": act.Scroll(direction="right"),
    "scroll_down": act.Scroll(direction="down"),
    "swipe": act.Swipe(start=HERE, end=HERE),
    "drag": act.Drag(start=HERE, end=HERE),
    "enter": act.PressKey(key=Key.ENTER),
    "submit": act.Type(text="I'll be late", target=HERE, submit=True),
}
_TEXT: Final = "android.widget.TextView"
_IMAGE: Final = "android.widget.ImageView"
_FIELD: Final = "android.widget.EditText"


class _Window:
    """What stands in one window so far."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.package = case.get("package", "com.example")
        self.found: list[Element] = []

    def add(self, box: Bounds, text: str = "", role: str = _TEXT, **more: Any) -> None:
        """A node with these words, as the case has it."""
        role = self.case.get("roles", {}).get(text, role)
        more["checkable"] = role.endswith("Switch") or text in self.case.get("checked", ())
        more["checked"] = text in self.case.get("checked", ())
        more.setdefault("resource_id", self.case.get("ids", {}).get(text, ""))
        self.found.append(Element(box, text=text, class_name=role, package=self.package, **more))

    def holding(self, box: Bounds, words: list[str], role: str) -> None:
        """What takes a touch, with its words below each other in it."""
        if len(words) == 1:
            self.add(box, words[0], role, clickable=True)
            return
        self.add(box, role=role, clickable=True)
        part = (box.bottom - box.top) // len(words)
        for number, word in enumerate(words):
            self.add(
                Bounds(box.left + 20, box.top + part * number, box.right - 20, box.top + part * (number + 1)), word
            )

    def icon(self, box: Bounds, icon: dict[str, str]) -> None:
        """A picture that takes a touch."""
        self.add(box, "", _IMAGE, description=icon.get("say", ""), resource_id=icon.get("id", ""), clickable=True)

    def key(self, box: Bounds, key: str) -> None:
        """A key of a pad; one that begins with # is a picture with an id."""
        if key.startswith("#") and len(key) > 1:
            self.add(box, role="android.widget.ImageButton", clickable=True, resource_id=f"{self.package}:id/{key[1:]}")
        else:
            self.add(box, key, "android.widget.Button", clickable=True)

    def composer(self, composer: dict[str, Any]) -> None:
        """A field for a message at the bottom, between pictures."""
        left, right = composer.get("left", []), composer.get("right", [])
        for number, icon in enumerate(left):
            self.icon(Bounds(120 * number, 2250, 120 * (number + 1), 2370), icon)
        box = Bounds(120 * len(left) + 10, 2250, 1080 - 120 * len(right) - 10, 2370)
        words = {"text": composer["text"], "hint": composer["hint"]}
        self.add(box, role=_FIELD, clickable=True, editable=True, focused=True, **words)
        for number, icon in enumerate(right):
            at = 1080 - 120 * (len(right) - number)
            self.icon(Bounds(at, 2250, at + 120, 2370), icon)


def screen(case: dict[str, Any]) -> tuple[Element, ...]:
    """The window of a case: text, rows that take a touch, buttons beside each other."""
    dialog = case.get("window") == "dialog"
    left, right, top, height = (80, 1000, 800, 60) if dialog else (0, 1080, 80, 100)
    window = _Window(case)
    for number in range(case.get("decoys", 0)):
        window.add(Bounds(number % 90, 3000, number % 90 + 1, 3001), f"item {number}", clickable=True)
    if not dialog:
        window.found.append(Element(Bounds(0, 0, 1080, 2400), package=window.package, scrollable=True))
        window.add(Bounds(0, 80, 120, 180), "Navigate up", "android.widget.ImageButton", clickable=True)
    for number, icon in enumerate(case.get("icons", ())):
        window.icon(Bounds(960 - 120 * number, 80, 1080 - 120 * number, 180), icon)
        top = max(top, 190)
    if hint := case.get("secret"):
        window.add(Bounds(130, 400, 950, 500), role=_FIELD, hint=hint, editable=True, password=True, focused=True)
    if hint := case.get("search"):
        window.add(Bounds(130, 80, 950, 180), role=_FIELD, hint=hint, clickable=True, editable=True, focused=True)
        top = 190
    for text in (case.get("title", ""), *case.get("texts", ()), *case.get("plain", ())):
        if text:
            window.add(Bounds(left + 130, top, right - 20, top + height), text)
            top += height + 10
    for words in case.get("rows", ()):
        window.holding(Bounds(left, top, right, top + 120), words, "android.widget.LinearLayout")
        top += 120
    for number, line in enumerate(case.get("pad", ())):
        for place, key in enumerate(line):
            window.key(Bounds(80 + 300 * place, 1100 + 150 * number, 370 + 300 * place, 1240 + 150 * number), key)
    if switch := case.get("switch"):
        window.add(Bounds(40, 900, 800, 1000), switch)
        window.add(Bounds(900, 900, 1040, 1000), role="android.widget.Switch", clickable=True, description="toggle")
    if composer := case.get("composer"):
        window.composer(composer)
    buttons = [[each] if isinstance(each, str) else each for each in case.get("buttons", ())]
    width = (right - left) // max(1, len(buttons))
    top = top + 20 if dialog else max(top, 2000 if case.get("footer") else 2200)
    for number, words in enumerate(buttons):
        box = Bounds(left + width * number, top, left + width * (number + 1), top + 120)
        window.holding(box, words, "android.widget.Button")
    for number, word in enumerate(case.get("footer", ())):
        window.add(Bounds(0, top + 140 + 60 * number, 400, top + 190 + 60 * number), word, clickable=True)
    bar = case.get("bar", ())
    for number, word in enumerate(bar):
        box = Bounds(1080 // len(bar) * number, 2200, 1080 // len(bar) * (number + 1), 2400)
        window.add(box, role="android.widget.LinearLayout", clickable=True)
        window.add(Bounds(box.left + 100, 2210, box.right - 100, 2300), role=_IMAGE)
        window.add(Bounds(box.left + 20, 2310, box.right - 20, 2390), word)
    return tuple(window.found)


def presses(case: dict[str, Any]) -> list[str]:
    """What is touched in a case, each by itself; "*" stands for every word of its rows and buttons."""
    press = case["press"]
    if press == "*":
        rows = [*case.get("rows", ()), *([each] for each in case.get("buttons", ()))]
        return [word for words in rows for word in ([words] if isinstance(words, str) else words)]
    return [press] if isinstance(press, str) else press


def touch(case: dict[str, Any], press: str) -> tuple[act.Action, TouchTarget]:
    """The action of a case and what it meets."""
    around = screen(case)

    def named(word: str) -> Element:
        if word.startswith("#") and len(word) > 1:
            return next(e for e in around if e.resource_id.endswith(f"/{word[1:]}"))
        return next(e for e in around if word in {e.text, e.description, e.hint})

    target = named(press)
    start: Point | None = target.bounds.centre
    end = None
    way = case.get("way", "tap")
    assert start is not None
    if way == "drag":
        end = named(case["onto"]).bounds.centre
    elif way == "scroll_down":
        end = Point(start.x, max(0, start.y - 600))
    elif way in {"scroll", "swipe"}:
        end = Point(min(SIZE.width - 1, start.x + 600), start.y)
    elif way == "enter":
        start = None
    aim = None if way == "enter" else target
    activity = case.get("activity", "")
    return WAYS[way], TouchTarget(window_package(case), aim, around, start, end, activity=activity, size=SIZE)


def window_package(case: dict[str, Any]) -> str:
    """The app of a case."""
    package: str = case.get("package", "com.example")
    return package
