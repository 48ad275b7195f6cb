"""What is painted and has no element: caret, battery, keyboard, dock."""

from __future__ import annotations

import weakref

import pytest

from devices.geometry import Bounds, Size
from devices.virtual_phone.phone import VirtualPhone
from devices.virtual_phone.screen import fonts
from devices.virtual_phone.screen.furniture import NAVIGATION_BAR, battery_icon
from devices.virtual_phone.screen.nodes import Fill, Frost, Writing
from devices.virtual_phone.screen.widgets import Scale

CARET_WIDEST = 8


def caret(phone: VirtualPhone) -> Bounds:
    """The thin upright line of the focused field."""
    (field,) = [node for node in phone.scene().root.walk() if node.focused]
    (box,) = [
        box
        for box, paint in field.paint
        if isinstance(paint, Fill) and paint.colour == "primary" and box.right - box.left < CARET_WIDEST
    ]
    return box


def hands_on(phone: VirtualPhone, field: str, text: str, at: int) -> Bounds:
    phone.windows.focus(field)
    phone.hand.replace(text)
    phone.windows.page.caret = at
    return caret(phone)


def test_the_caret_stands_where_the_next_letter_goes() -> None:
    phone = VirtualPhone()
    phone.windows.launch("notes")
    phone.windows.open("edit")
    hint = hands_on(phone, "title", "", 0)
    first = hands_on(phone, "title", "milk", 0)
    middle = hands_on(phone, "title", "milk", 2)
    end = hands_on(phone, "title", "milk", 4)
    assert hint.left < first.left < middle.left < end.left, "in front of the hint, not on it"
    text = "one two\n\nthree " + "word " * 40
    tops = [hands_on(phone, "body", text, at).top for at in (0, 7, 8, 9, 15, len(text))]
    assert tops[0] == tops[1] < tops[2] < tops[3] == tops[4] < tops[5]
    assert hands_on(phone, "body", text, 9).left == hands_on(phone, "body", text, 0).left


def test_a_long_line_is_moved_so_that_its_caret_shows() -> None:
    phone = VirtualPhone()
    phone.windows.launch("browser")
    text = "a" * 60 + "z" * 60
    for at, shown in ((0, "a"), (120, "z")):
        box = hands_on(phone, "url_bar", text, at)
        (field,) = [node for node in phone.scene().root.walk() if node.focused]
        (writing,) = [paint for _box, paint in field.paint if isinstance(paint, Writing)]
        assert set(writing.lines[0]) == {shown}
        assert field.text == text
        assert field.bounds.left <= box.left <= field.bounds.right


@pytest.mark.parametrize(
    ("level", "charging", "icon"),
    [
        (100, False, "battery"),
        (87, False, "battery_80"),
        (15, False, "battery_10"),
        (14, False, "battery_alert"),
        (4, True, "battery_charging_10"),
        (100, True, "battery_charging_100"),
    ],
)
async def test_the_battery_shows_its_level(level: int, charging: bool, icon: str) -> None:
    assert battery_icon(level, charging=charging) == icon
    phone = VirtualPhone(size=Size(240, 426), density=120)
    phone.state.battery, phone.state.charging = level, charging
    assert (await phone.frame()).image.size == (240, 426)


@pytest.mark.parametrize("rotation", [0, 1])
@pytest.mark.parametrize("dark", [False, True])
async def test_the_last_icons_stand_in_a_dock(rotation: int, dark: bool) -> None:
    phone = VirtualPhone(dark=dark)
    phone.rotate(rotation)
    scene = phone.scene()
    (dock,) = [box for box, paint in scene.painted if isinstance(paint, Frost)]
    icons = [node.bounds for node in scene.root.walk() if node.on_tap]
    inside = [box for box in icons if dock.top <= box.top and box.bottom <= dock.bottom]
    assert len(inside) == (8 if rotation else 4)
    assert all(box.bottom < dock.top for box in icons if box not in inside)
    assert (await phone.frame()).image.size == scene.size


def test_the_keyboard_has_digits_when_the_phone_stands() -> None:
    phone = VirtualPhone()
    phone.windows.launch("account")
    phone.windows.focus("user_name")
    for rotation, there in ((0, True), (1, False)):
        phone.rotate(rotation)
        keys = [paint.lines for _box, paint in phone.scene().painted if isinstance(paint, Writing)]
        assert (("7",) in keys) is there
        assert ("q",) in keys


@pytest.mark.slow
async def test_a_stopped_phone_lets_go_of_its_pictures() -> None:
    """They are up to 80 MB, and the phone itself is a circle of objects that the garbage collector finds much later."""
    async with VirtualPhone() as phone:
        shown = weakref.ref(await phone.frame())
        assert shown() is not None
    assert shown() is None


def writings(phone: VirtualPhone) -> set[str]:
    return {line for _box, paint in phone.scene().painted if isinstance(paint, Writing) for line in paint.lines}


def test_the_shade_lies_over_the_keyboard() -> None:
    phone = VirtualPhone()
    phone.windows.launch("notes")
    phone.windows.open("edit")
    phone.windows.focus("title")
    assert {"q", "w", "e"} <= writings(phone)
    phone.state.shade = True
    assert {"q", "w", "e"}.isdisjoint(writings(phone))


@pytest.mark.parametrize("size", [Size(1080, 2400), Size(720, 1280), Size(1840, 2208), Size(2400, 1080)])
def test_the_open_apps_and_the_button_below_them_fit(size: Size) -> None:
    phone = VirtualPhone(size=size, density=320 if size.width < 1000 else 420)
    for app in ("browser", "messages", "notes", "clock", "shop", "account", "settings"):
        phone.windows.launch(app)
    phone.windows.show_recents()
    nodes = [node for node in phone.scene().root.walk() if node.on_tap]
    assert nodes[-1].text == "Clear all"
    bar = size.height - Scale(phone.state.density).px(NAVIGATION_BAR)
    assert all(node.bounds.bottom <= bar for node in nodes)
    assert any(node.description == "Settings" for node in nodes), "the latest one"


async def test_emoji_are_pictures_and_no_boxes() -> None:
    """Seen failing with the fonts of letters alone: both were the same empty box."""
    font, thumb = fonts.set_in(fonts.Script.EMOJI, "👍", size=40, weight=400)
    _, heart = fonts.set_in(fonts.Script.EMOJI, "❤️", size=40, weight=400)
    assert len(heart) == len(thumb) == 1
    assert font.getmask(thumb).getbbox() is not None
    assert bytes(font.getmask(thumb)) != bytes(font.getmask(heart))
    assert fonts.runs("a👋🏽 你") == [
        (fonts.Script.LATIN, "a"),
        (fonts.Script.EMOJI, "👋🏽"),
        (fonts.Script.LATIN, " "),
        (fonts.Script.CHINESE, "你"),
    ]
    assert fonts.width("👋🏽", 40, 400) == fonts.width("👋", 40, 400) > 0


def test_every_emoji_has_an_icon_that_is_there() -> None:
    assert [name for name in {*fonts.EMOJI_ICONS.values(), fonts.ANY_EMOJI} if not fonts.icon(name)] == []


@pytest.mark.parametrize("size", [Size(1080, 2400), Size(720, 1280)])
def test_larger_text_keeps_to_its_place(size: Size) -> None:
    phone = VirtualPhone(size=size, density=320 if size.width < 1000 else 420)
    phone.windows.launch("settings")
    before = next(node.bounds for node in phone.scene().root.walk() if node.text == "Wi-Fi")
    phone.state.settings["system"]["font_scale"] = "1.5"
    after = next(node.bounds for node in phone.scene().root.walk() if node.text == "Wi-Fi")
    assert after.bottom - after.top > 1.3 * (before.bottom - before.top)
    for app in ("browser", "messages", "notes", "clock", "shop", "account", "settings"):
        phone.windows.launch(app)
        buttons = [node.bounds for node in phone.scene().root.walk() if node.role.endswith("Button") and node.text]
        assert all(box.left >= 0 and box.right <= size.width for box in buttons)
