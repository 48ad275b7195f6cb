"""Recognises touches on on-screen keyboards and number pads, and determines which button a key or a gesture presses."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from agent import actions as act
from agent.guards.amounts import has_amount
from agent.guards.lexicon import Lexicon
from agent.guards.rules import RuleName, fits
from agent.guards.touch_target import TouchTarget, is_button, pressed
from agent.guards.words import id_words
from devices.geometry import Bounds, Point
from devices.inputs import Key, keys_in
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
    finger, box = spot.finger, _window(spot)
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
    finger = spot.finger
    if finger is None:
        return None
    held = (e for e in spot.around if is_of_keyboard(e, spot) and (is_button(e) or e.label) and e.bounds.holds(finger))
    return min(held, key=lambda e: e.bounds.area, default=None)


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
    return finger.x >= box.left + box.width * RIGHT_SHARE and finger.y >= box.top + box.height * LOW_SHARE


MIN_DIGITS: Final = 9
"""A number pad has at least this many different digits; one of the ten may be hidden or unreadable."""
MIN_OPERATORS: Final = 3
"""A calculator has at least this many operators, including "="."""
KEY_SHARE: Final = 0.08
"""An element larger than this share of the screen is not a key."""
MAX_KEY_LABEL: Final = 16
"""The maximum letters on a key: "5, JKL", "Ziffer 5"."""
_WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_OPERATORS: Final = {
    **dict.fromkeys(("+", "plus", "add"), "+"),
    **dict.fromkeys(("-", "−", "–", "minus", "sub", "subtract"), "-"),
    **dict.fromkeys(("×", "x", "✕", "mul", "multiply", "times"), "×"),
    **dict.fromkeys(("÷", "/", "∕", "div", "divide"), "÷"),
    **dict.fromkeys(("=", "eq", "equal", "equals"), "="),
}


def entered(spot: TouchTarget, fields: Iterable[Element], lexicon: Lexicon) -> RuleName | None:
    """Return the rule for what the digit under the finger enters: an amount to pay or a secret. None if it is not a key
    of a number pad, or if nothing on the screen says what it enters. Amounts say nothing at a calculator, a dialer or a
    keyboard.

    `fields` are the secret fields on the screen.
    """
    touched = pressed(spot)
    if touched is None or touched.editable or _digit(touched, spot.around) is None:
        return None
    most = spot.area * KEY_SHARE
    keys = [e for e in spot.around if e.bounds.area <= most and not e.editable and (e.label or e.resource_id)]
    digits = {id(e): digit for e in keys if (digit := _digit(e, spot.around)) is not None}
    if len(set(digits.values())) < MIN_DIGITS or any(map(_is_larger_number, keys)):
        return None
    told = [e for e in spot.around if id(e) not in digits and not e.editable]
    labels = [label for e in told for label in (e.text, e.description) if label]
    secret = any(fields) or any(lexicon.read(label).secret for label in labels)
    signs = {sign for e in keys if (sign := _operator(e))}
    dials = {"*", "#"} <= {label.strip() for label in labels}
    reckons = "=" in signs or len(signs) > 1
    shown = [*labels, *(e.text for e in spot.around if e.editable)]
    if not (dials or reckons or is_of_keyboard(touched, spot)) and any(map(has_amount, shown)):
        return RuleName.PAY
    return RuleName.ACCOUNT if secret else None


def is_calculator_key(touched: Element, spot: TouchTarget) -> bool:
    """Whether this is a digit or operator of a calculator: a pad with all digits, "=" and other operators."""
    most = spot.area * KEY_SHARE
    keys = [e for e in spot.around if e.bounds.area <= most and not e.editable and (e.label or e.resource_id)]
    digits = {digit for e in keys if (digit := _digit(e, spot.around)) is not None}
    signs = {sign for e in keys if is_button(e) and (sign := _operator(e))}
    if len(digits) < MIN_DIGITS or "=" not in signs or len(signs) < MIN_OPERATORS:
        return False
    own = _digit(touched, spot.around) is not None or bool(_operator(touched))
    return own and is_button(touched) and not touched.editable and touched.bounds.area <= most


def _digit(element: Element, around: tuple[Element, ...]) -> int | None:
    """Return the digit of a key by its words, the words inside it, or its id."""
    label = element.text or element.description
    if not label and is_button(element):
        inside = (e.text for e in around if e.text and e is not element and element.bounds.holds(e.bounds.centre))
        label = next(inside, "")
    label = label.strip()
    if label:
        return _read(label)
    parts = [part for part in id_words(element.resource_id) if part in _WORDS or part.isdigit()]
    if len(parts) != 1 or (parts[0].isdigit() and len(parts[0]) > 1):
        return None
    return int(parts[0]) if parts[0].isdigit() else _WORDS.index(parts[0])


def _read(label: str) -> int | None:
    if len(label) == 1:
        value = unicodedata.numeric(label, -1.0)
        return int(value) if value in range(10) else None
    digits = [sign for sign in label if sign.isdecimal()]
    if len(digits) != 1 or len(label) > MAX_KEY_LABEL:
        return None
    return unicodedata.decimal(digits[0])


def _is_larger_number(element: Element) -> bool:
    """Whether it is a day or page number: pads have no key for ten, only for "00"."""
    return len(element.text) > 1 and element.text.isdecimal() and int(element.text) > 0 and is_button(element)


def _operator(element: Element) -> str:
    label = (element.text or element.description).strip().casefold()
    parts = (label,) if label else id_words(element.resource_id)
    return next((sign for part in parts if (sign := _OPERATORS.get(part))), "")


SLOP = 32
"""How many pixels a finger may leave a button and still press it. It is Android's touch slop of 8 dp
(`ViewConfiguration.TOUCH_SLOP`) at 640 dpi, the maximum of phones.
"""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys in an action that press the focused element.

    `enter` and `space` say whether the action has these keys; a space is a mere character in a field. `moved` means
    that a tab comes before them, so that it is unknown which element has the focus.
    """

    enter: bool = False
    space: bool = False
    moved: bool = False


def keys_of(action: act.Action) -> Keys:
    """Return which of the keys that press the focused element (Enter and space) an action has, also in the text that it
    types.
    """
    match action:
        case act.PressKey(key=Key.ENTER) | act.EnterSecret(submit=True):
            return Keys(enter=True)
        case act.Type(text=text, submit=submit):
            _, tab, after = text.partition("\t")
            space = " " in text
            return Keys(
                enter=submit or Key.ENTER in keys_in(text), space=space, moved=bool(tab) and (submit or bool(after))
            )
        case _:
            return Keys()


def stays(spot: TouchTarget) -> bool:
    """Whether the finger moves so little that Android treats it as a touch."""
    start, end = spot.point, spot.end
    return start is not None and end is not None and max(abs(start.x - end.x), abs(start.y - end.y)) <= SLOP


def stays_on_button(spot: TouchTarget) -> bool:
    """Whether the finger lands on and leaves from the same button, which presses it however the finger moved in
    between.

    A list around the button might take over such a movement; that cannot be known here.
    """
    start, end = spot.point, spot.end
    if start is None or end is None:
        return False
    buttons = [e for e in spot.around if is_button(e) and not e.editable and spot.has_small(e)]
    return any(e.bounds.holds(start) and e.bounds.wider(SLOP).holds(end) for e in buttons)


def focused_button(spot: TouchTarget) -> Element | None:
    """Return the focused button, which keys press; None if nothing, a field or a whole page has the focus."""
    focused = [e for e in spot.around if e.focused and spot.has_small(e)]
    if any(e.editable for e in focused):
        return None
    return next((e for e in focused if is_button(e)), None)
