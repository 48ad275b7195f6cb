"""Recognises touches on the on-screen keyboard, and which of them press Enter, whatever that key is called."""

from __future__ import annotations

from typing import Final

from agent.guards.rules import fits
from agent.guards.touch_target import TouchTarget, is_button
from agent.guards.words import id_words
from devices.geometry import Bounds, Point
from devices.phone import Element

_PACKAGES: Final = (
    *("*inputmethod*", "*keyboard*", "*.ime", "*.ime.*", "*honeyboard*", "*.adbkeyboard", "com.touchtype.swiftkey*"),
    *("com.baidu.input*", "com.tencent.qqpinyin*", "com.iflytek.*", "com.sohu.*", "com.nuance.swype*"),
    *("*.openwnn*", "com.vivo.ai.ime*", "*latinime*", "*florisboard*", "*anysoftkeyboard*"),
)
"""Package patterns of keyboards: Gboard, AOSP, Huawei, Sogou and Simeji contain "inputmethod"."""
_KEY_CLASS: Final = "Keyboard$Key"
_ENTER_IDS: Final = {"enter", "return", "search", "send", "go", "done", "extract"}
"""Parts of the ids of Enter keys, besides Gboard's `key_pos_ime_action` and the `inputExtractAction` of
wide windows.
"""
LARGEST_SHARE: Final = 0.65
"""If a keyboard's window is larger than this share of the screen, it extends behind the app, and only its
keys count.
"""
RIGHT_SHARE, LOW_SHARE = 0.78, 0.7
"""The Enter key is to the right of the first share of a keyboard's width and below the second share of its height."""
USUAL_TOP: Final = 0.6
"""Where keyboards begin if their window is not reported, as a share of the screen's height."""
BAR_SHARE: Final = 0.06
"""The height of Android's bar below a keyboard, as a share of the screen's height."""


def is_of_keyboard(element: Element, spot: TouchTarget) -> bool:
    """Whether an element belongs to a keyboard that lies over the app in front."""
    if element.class_name.endswith(_KEY_CLASS):
        return True
    return bool(element.package) and element.package != spot.package and fits(element.package, _PACKAGES)


def presses_enter(spot: TouchTarget) -> bool:
    """Whether the finger touches the Enter key. It is recognised by its id or its place, which is the same in all
    languages.

    If a keyboard is shown but its window is not reported, the usual place is assumed.
    """
    finger, box = _finger(spot), _window(spot)
    if finger is None:
        return False
    if box is None:
        return spot.keyboard and spot.size is not None and _ends_line(finger, _usual(spot))
    if not box.holds(finger):
        return False
    key = key_of(spot)
    if key is not None and key.resource_id:
        parts = id_words(key.resource_id)
        if parts[-1:] == ("ime",) or not _ENTER_IDS.isdisjoint(parts):
            return True
    return _ends_line(finger, box) and (key is None or len(key.label) != 1)


def bottom_of_page(spot: TouchTarget, height: int) -> int:
    """Return the y coordinate at which the app ends above a keyboard; the screen's `height` if no keyboard is
    reported.
    """
    box = _window(spot)
    return height if box is None else box.top


def key_of(spot: TouchTarget) -> Element | None:
    """Return the keyboard's key under the finger, or None."""
    finger = _finger(spot)
    if finger is None:
        return None
    held = (e for e in spot.around if is_of_keyboard(e, spot) and (is_button(e) or e.label) and e.bounds.holds(finger))
    return min(held, key=lambda e: e.bounds.area, default=None)


def _finger(spot: TouchTarget) -> Point | None:
    return spot.point or (spot.target.bounds.centre if spot.target is not None else None)


def _window(spot: TouchTarget) -> Bounds | None:
    """Return the keyboard's bounds: its largest part that is not too large for a keyboard, and its keys."""
    boxes = [e.bounds for e in spot.around if is_of_keyboard(e, spot) and e.bounds.area <= LARGEST_SHARE * spot.area]
    boxes = [box for box in boxes if box.area > 0]
    if not boxes:
        return None
    left, right = min(box.left for box in boxes), max(box.right for box in boxes)
    return Bounds(left, min(box.top for box in boxes), right, max(box.bottom for box in boxes))


def _usual(spot: TouchTarget) -> Bounds:
    assert spot.size is not None
    bottom = int(spot.size.height * (1 - BAR_SHARE))
    return Bounds(0, int(spot.size.height * USUAL_TOP), spot.size.width, bottom)


def _ends_line(finger: Point, box: Bounds) -> bool:
    width, height = box.right - box.left, box.bottom - box.top
    return finger.x >= box.left + width * RIGHT_SHARE and finger.y >= box.top + height * LOW_SHARE
