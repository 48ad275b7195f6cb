"""Recorded skills replayed on the phones of other makers, by the shapes that real trees have: rows whose words are a
view inside them, controls of Compose and Flutter, other ids, other orders and other languages.

`.venv/bin/python -m tests.agent.recorded.foreign_phones` prints the table: of each skill on each phone, the steps that
code did, those left to a model, and those that touched something else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from agent.graph.executor.follower import Follower
from agent.graph.executor.state import PastData
from agent.observing import ScreenView, screen_of
from agent.recorded_skills.anchors import folded
from agent.recorded_skills.recording import recorded
from agent.recorded_skills.skill_file import RecordedSkill, Source
from agent.recorded_skills.step_record import RecordedAction
from devices.geometry import Bounds, Size
from devices.phone import Element, Observation

SCREEN: Final = Size(1080, 2400)
TEXT, LAYOUT, VIEW = "android.widget.TextView", "android.widget.LinearLayout", "android.view.View"
SWITCH: Final = "android.widget.Switch"


@dataclass(frozen=True)
class Control:
    """One thing that can be touched on a page: "row", "switch", "tab", "icon", "button" or "field"."""

    kind: str
    words: str
    more: str = ""
    """A second line, of a row; of a tab its badge."""
    id: str = ""


@dataclass(frozen=True)
class Page:
    """One page of an app, and the words of the control that the skill touches on it."""

    title: str
    controls: tuple[Control, ...]
    target: str
    types: str = ""
    """What is typed there."""


@dataclass(frozen=True)
class Recorded:
    """A skill as it is recorded, page by page."""

    name: str
    package: str
    pages: tuple[Page, ...]


def rows(*titles: str) -> tuple[Control, ...]:
    """Rows of settings; what is behind a bar is their second line."""
    return tuple(Control("row", title, more) for title, _, more in (each.partition("|") for each in titles))


def tabs(*names: str) -> tuple[Control, ...]:
    """The bar at the bottom of an app."""
    return tuple(Control("tab", name, more) for name, _, more in (each.partition("|") for each in names))


_SETTINGS = rows(
    "Network & internet|Mobile, Wi-Fi, hotspot",
    "Connected devices|Bluetooth, pairing",
    "Apps|Assistant, recent apps, default apps",
    "Notifications|Notification history, conversations",
    "Battery|87 %",
    "Storage|41 % used",
    "Display|Dark theme, font size, brightness",
)
_CHATS = (*rows("Alice|See you soon", "Bob|Thanks", "Carol|Photo"), *tabs("Chats", "Contacts", "Discover", "Me"))
_SHOP = (*rows("Blue mug|12.00", "Red mug|11.00", "Umbrella|19.00"), *tabs("Home", "Categories", "Cart", "Account"))
SKILLS: Final = (
    Recorded(
        "wifi",
        "com.android.settings",
        (
            Page("Settings", _SETTINGS, "Network & internet"),
            Page("Network & internet", rows("Internet|Home", "Calls & SMS|Verizon", "SIMs|1", "VPN|None"), "Internet"),
        ),
    ),
    Recorded(
        "dark",
        "com.android.settings",
        (
            Page("Settings", _SETTINGS, "Display"),
            Page(
                "Display",
                (*rows("Brightness level|60 %", "Lock screen"), Control("switch", "Dark theme"), *rows("Font size")),
                "Dark theme",
            ),
        ),
    ),
    Recorded("storage", "com.android.settings", (Page("Settings", _SETTINGS, "Storage"),)),
    Recorded(
        "new-friends",
        "com.tencent.mm",
        (
            Page("Chats", _CHATS, "Contacts"),
            Page("Contacts", (*rows("New Friends", "Group Chats", "Tags"), *_CHATS[-4:]), "New Friends"),
        ),
    ),
    Recorded(
        "cart",
        "org.example.shop",
        (
            Page("Shop", _SHOP, "Cart"),
            Page("Cart", (Control("button", "Checkout", id="checkout"), *_SHOP[-4:]), "Checkout"),
        ),
    ),
    Recorded(
        "product",
        "org.example.shop",
        (
            Page("Shop", _SHOP, "Red mug"),
            Page("Red mug", (Control("button", "Add to cart", id="add"), Control("button", "Buy now", id="buy")),
                 "Add to cart"),
        ),
    ),
    Recorded(
        "note",
        "org.example.notes",
        (
            Page("Notes", (*rows("Groceries", "Ideas", "Diary"), Control("icon", "New note", id="fab")), "New note"),
            Page("Note", (Control("field", "Title", id="title_field"), Control("icon", "Save")), "Title", "Milk"),
            Page("Note", (Control("field", "Title", id="title_field"), Control("icon", "Save")), "Save"),
        ),
    ),
    Recorded(
        "alarm",
        "com.google.android.deskclock",
        (
            Page("Clock", tabs("Clock", "Alarm", "Timer", "Stopwatch"), "Alarm"),
            Page("Alarm", (*tabs("Clock", "Alarm", "Timer", "Stopwatch"), Control("icon", "Add alarm", id="fab")),
                 "Add alarm"),
        ),
    ),
)  # fmt: skip

CHINESE: Final = {
    "Settings": "设置", "Network & internet": "网络和互联网", "Connected devices": "已连接的设备", "Apps": "应用",
    "Notifications": "通知", "Battery": "电池", "Storage": "存储", "Display": "显示", "Internet": "互联网",
    "Calls & SMS": "通话和短信", "SIMs": "SIM 卡", "VPN": "虚拟专用网", "Brightness level": "亮度",
    "Lock screen": "锁定屏幕", "Dark theme": "深色主题", "Font size": "字体大小", "Chats": "微信", "Contacts": "通讯录",
    "Discover": "发现", "Me": "我", "New Friends": "新的朋友", "Group Chats": "群聊", "Tags": "标签", "Shop": "商店",
    "Home": "首页", "Categories": "分类", "Cart": "购物车", "Account": "我的", "Checkout": "结算",
    "Blue mug": "蓝色杯子",
    "Red mug": "红色杯子", "Umbrella": "雨伞", "Add to cart": "加入购物车", "Buy now": "立即购买", "Notes": "便签",
    "Groceries": "购物清单", "Ideas": "想法", "Diary": "日记", "New note": "新建便签", "Note": "编辑", "Title": "标题",
    "Save": "保存", "Clock": "时钟", "Alarm": "闹钟", "Timer": "计时器", "Stopwatch": "秒表", "Add alarm": "添加闹钟",
}  # fmt: skip


_NAMES: Final = {folded(word): now for word, now in CHINESE.items()}


@dataclass(frozen=True)
class Maker:
    """A phone: how it builds controls, in which order it lists rows, and what it calls things."""

    name: str
    build: Callable[[Control, str, Bounds], list[Element]]
    order: int = 0
    """How far rows are moved on."""
    words: Mapping[str, str] | None = None
    badges: bool = False
    known: bool = False
    """Whether what things are called there was learned in a former run."""

    def show(self, page: Page, package: str) -> tuple[Observation, Element]:
        """The page there, and the element that takes the touch of its target."""
        listed = [each for each in page.controls if each.kind in {"row", "switch"}]
        moved = [*listed[self.order % max(1, len(listed)) :], *listed[: self.order % max(1, len(listed))]]
        elements = [Element(Bounds(40, 120, 700, 220), self._said(page.title), class_name=TEXT, package=package)]
        target = None
        for control in (*moved, *(each for each in page.controls if each not in listed)):
            here = replace(control, words=self._said(control.words), more=self._more(control))
            built = self.build(here, package, self._place(control, page, moved))
            elements += [replace(each, package=package) for each in built]
            if control.words == page.target:
                target = elements[-len(built)]
        assert target is not None
        return Observation(SCREEN, None, tuple(elements), package=package, activity=f"{package}.Main"), target

    def _said(self, words: str) -> str:
        return (self.words or {}).get(words, words)

    def _more(self, control: Control) -> str:
        if control.kind == "tab":
            return "3" if self.badges and control.words in {"Cart", "Contacts"} else ""
        return control.more if self.words is None else ""

    @staticmethod
    def _place(control: Control, page: Page, moved: list[Control]) -> Bounds:
        if control in moved:
            top = 300 + 220 * moved.index(control)
            return Bounds(0, top, 1080, top + 200)
        alike = [each for each in page.controls if each.kind == control.kind]
        number, width = alike.index(control), 1080 // len(alike)
        top = {"tab": 2200, "icon": 1950, "button": 2000, "field": 300}[control.kind]
        return Bounds(number * width, top, (number + 1) * width, top + 180)


def _inside(box: Bounds, line: int, words: str, name: str = "") -> Element:
    top = box.top + 20 + 70 * line
    at = Bounds(box.left + 60, top, box.right - 200, top + 60)
    return Element(at, words, class_name=TEXT, resource_id=name)


def android(control: Control, package: str, box: Bounds) -> list[Element]:
    """As AOSP and Material build it."""
    own = f"{package}:id/{control.id}" if control.id else ""
    match control.kind:
        case "button":
            return [Element(box, control.words, class_name="android.widget.Button", resource_id=own, clickable=True)]
        case "field":
            kind = "android.widget.EditText"
            return [Element(box, hint=control.words, class_name=kind, resource_id=own, clickable=True, editable=True)]
        case "icon":
            kind = "android.widget.ImageButton"
            return [Element(box, description=control.words, class_name=kind, resource_id=own, clickable=True)]
        case "tab":
            said = f"{control.words}, {control.more} new notifications" if control.more else control.words
            kind, label = "android.widget.FrameLayout", f"{package}:id/navigation_bar_item_small_label_view"
            return [
                Element(box, description=said, class_name=kind, clickable=True),
                _inside(box, 1, control.words, label),
            ]
        case _:
            row = Element(box, class_name=LAYOUT, clickable=True)
            lines = [_inside(box, 0, control.words, "android:id/title")]
            lines += [_inside(box, 1, control.more, "android:id/summary")] if control.more else []
            return [row, *lines, *_switch(control, box, SWITCH, "android:id/switch_widget")]


def _switch(control: Control, box: Bounds, kind: str, name: str) -> list[Element]:
    at = Bounds(box.right - 180, box.top + 60, box.right - 40, box.top + 140)
    return [Element(at, class_name=kind, resource_id=name, checkable=True)] if control.kind == "switch" else []


def vendor(control: Control, package: str, box: Bounds) -> list[Element]:
    """A maker's own views and ids: the value stands to the right of the title, tabs are plain layouts."""
    match control.kind:
        case "tab":
            row = Element(box, class_name="android.widget.RelativeLayout", clickable=True)
            badge = [_inside(box, 0, control.more, f"{package}:id/q0")] if control.more else []
            return [row, *badge, _inside(box, 1, control.words, f"{package}:id/icon_tv")]
        case "button":
            return [Element(box, control.words, class_name=TEXT, resource_id=f"{package}:id/k7f", clickable=True)]
        case "icon":
            kind = "android.widget.ImageView"
            name = f"{package}:id/a1b"
            return [Element(box, description=control.words, class_name=kind, resource_id=name, clickable=True)]
        case "field":  # an old phone tells the hint as the text
            kind = "android.widget.EditText"
            return [Element(box, control.words, class_name=kind, resource_id=f"{package}:id/x9", editable=True)]
        case _:
            row = Element(box, class_name="android.widget.RelativeLayout", clickable=True)
            value = Element(
                Bounds(box.right - 260, box.top + 10, box.right - 60, box.top + 70),
                control.more,
                class_name=TEXT,
                resource_id=f"{package}:id/text_right",
            )
            lines = [_inside(box, 0, control.words, f"{package}:id/title")]
            return [row, *([value] if control.more else []), *lines, *_switch(control, box, VIEW, "")]


def compose(control: Control, _package: str, box: Bounds) -> list[Element]:
    """Jetpack Compose: views without ids, the words in a text inside, the name of an icon on its picture."""
    outer = Element(box, class_name=VIEW, clickable=True)
    match control.kind:
        case "field":
            field = Element(box, class_name="android.widget.EditText", clickable=True, editable=True)
            return [field, _inside(box, 0, control.words)]
        case "icon":
            return [outer, replace(_inside(box, 0, ""), description=control.words, class_name=VIEW)]
        case "tab":
            badge = [_inside(box, 0, control.more)] if control.more else []
            return [outer, *badge, _inside(box, 1, control.words)]
        case _:
            lines = [_inside(box, 0, control.words)]
            lines += [_inside(box, 1, control.more)] if control.more else []
            checkable = replace(outer, checkable=True) if control.kind == "switch" else outer
            return [checkable, *lines]


def merged(control: Control, _package: str, box: Bounds) -> list[Element]:
    """Flutter, and Compose with merged semantics: one view that says all of its lines."""
    said = "\n".join(filter(None, (control.words, control.more)))
    kind = "android.widget.EditText" if control.kind == "field" else VIEW
    if control.kind == "field":
        return [Element(box, hint=said, class_name=kind, clickable=True, editable=True)]
    return [Element(box, description=said, class_name=kind, clickable=True, checkable=control.kind == "switch")]


def words_only(control: Control, package: str, box: Bounds) -> list[Element]:
    """The words take the touch themselves, and nothing around them does."""
    built = android(control, package, box)
    if len(built) == 1:
        return built
    named = next(each for each in built[1:] if each.text == control.words)
    return [replace(named, clickable=True), *(each for each in built[1:] if each is not named)]


HOME: Final = Maker("as recorded", android)
MAKERS: Final = (
    Maker("other order", android, order=2),
    Maker("maker's views", vendor, order=1, badges=True),
    Maker("compose", compose, order=3, badges=True),
    Maker("merged", merged, order=1, badges=True),
    Maker("words only", words_only, order=2),
    Maker("chinese", vendor, order=1, words=CHINESE),
    Maker("chinese, names known", vendor, order=1, words=CHINESE, known=True),
    Maker("chinese compose, names known", compose, order=3, words=CHINESE, known=True),
)


@dataclass(frozen=True)
class Replay:
    """One skill on one phone: how many of its steps code did right, left to a model, or did wrong."""

    skill: str
    phone: str
    right: int
    asked: tuple[str, ...]
    """The targets of steps that were left to a model."""
    wrong: tuple[str, ...]
    named: bool
    """Whether a model was asked what the recorded words are called there."""


def record(skill: Recorded, home: Maker = HOME) -> RecordedSkill:
    """The skill as a run on its first phone has recorded it."""
    steps = [RecordedAction(action={"kind": "open_app", "name": skill.name})]
    for page in skill.pages:
        seen, target = home.show(page, skill.package)
        step = recorded(_action(page), seen, _touched(page, seen, target), touches=True)
        steps.append(step.model_copy(update={"locale": "en-US"}))
    end = RecordedAction(action={"kind": "finish"}, package=skill.package)
    return RecordedSkill(
        format=1, version=1, task=skill.name, parameters=(), steps=tuple(steps), end=end, source=Source(task="7"),
    )  # fmt: skip


def replay(skill: Recorded, maker: Maker, home: Maker = HOME) -> Replay:
    """What the recording does there; a step that it leaves to a model is done as a model would."""
    recording = record(skill, home)
    known = _NAMES if maker.known else {}
    past, right, asked, wrong, named = [_past(0)], 0, list[str](), list[str](), False
    for number, page in enumerate(skill.pages, 1):
        seen, target = maker.show(page, skill.package)
        screen, targets = screen_of(seen, SCREEN)
        view = ScreenView(seen, screen, targets)
        locale = "zh-CN" if maker.words else "en-US"
        follower = Follower(recording, {}, past, view, locale=locale, known=known)
        reply = follower.reply()
        if not named and follower.needs_names(reply):
            named, known = True, _NAMES
            follower.learn(known)
            reply = follower.reply()
        how = None if reply is None else reply.memo["how"]
        if reply is None or how != "done":
            asked.append(page.target)
            past.append(_past(None, recorded(_action(page), seen, _touched(page, seen, target), touches=True)))
            continue
        fields = json.loads(reply.tool_calls[0].arguments)
        met = targets[fields["element"]] if "element" in fields else None
        fits = reply.memo["followed"] == number and met is not None and target.bounds.holds(met.bounds.centre)
        right, wrong = right + fits, wrong if fits else [*wrong, page.target]
        past.append(_past(number))
    return Replay(skill.name, maker.name, right, tuple(asked), tuple(wrong), named)


def touched_without(skill: Recorded, maker: Maker) -> list[str]:
    """What is touched on pages of that phone from which the target is gone: all of it is wrong."""
    recording, past, touched = record(skill), [_past(0)], list[str]()
    known = _NAMES if maker.words else {}
    for number, page in enumerate(skill.pages, 1):
        seen, target = maker.show(page, skill.package)
        left = tuple(e for e in seen.elements or () if not target.bounds.holds(e.bounds.centre))
        bare = replace(seen, elements=left)
        screen, targets = screen_of(bare, SCREEN)
        follower = Follower(recording, {}, past, ScreenView(bare, screen, targets), known=known)
        reply = follower.reply()
        if reply is not None and reply.memo["how"] == "done":
            touched.append(f"{page.target}: {reply.tool_calls[0].arguments}")
        past.append(_past(number))
    return touched


def replays() -> list[Replay]:
    """All of them."""
    return [replay(skill, maker) for maker in MAKERS for skill in SKILLS]


def _action(page: Page) -> dict[str, str]:
    return {"kind": "type", "text": page.types} if page.types else {"kind": "tap"}


def _touched(page: Page, seen: Observation, target: Element) -> Element:
    """What a model points at: the words."""
    inside = [e for e in seen.elements or () if target.bounds.holds(e.bounds.centre) and e.label == page.target]
    return inside[-1] if inside else target


def _past(followed: int | None, *actions: RecordedAction) -> PastData:
    memo = {} if followed is None else {"followed": followed, "how": "done", "version": 1}
    return {
        "number": 1, "reply": "", "picture_size": [1080, 2400], "model": "", "thought": "", "performed": [],
        "effects": [], "app": "", "frame": None, "status": "done", "failure": None, "memo": memo,
        "recorded_actions": [each.model_dump(mode="json") for each in actions],
    }  # fmt: skip


def main() -> None:
    """Writes the table."""
    made = replays()
    lines = [
        f"{each.phone:30} {each.skill:12} {each.right} right{' once the names were asked for' if each.named else ''},"
        f" model {list(each.asked)}, wrong {list(each.wrong)}"
        for each in made
    ]
    asked, wrong = sum(len(each.asked) for each in made), sum(len(each.wrong) for each in made)
    whole, named = sum(not (e.asked or e.wrong or e.named) for e in made), sum(e.named for e in made)
    lines.append(
        f"{len(made)} replays, {whole} without a model and {named} with one question for names;"
        f" {sum(each.right for each in made)} steps by code, {asked} left to a model, {wrong} wrong"
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
