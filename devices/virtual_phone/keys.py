"""Android's key codes, by number and by name (AOSP android.view.KeyEvent)."""

from __future__ import annotations

from enum import IntEnum


class KeyCode(IntEnum):
    """The keys that this phone reacts to, besides those for digits and letters. The codes of other keys are accepted
    and do nothing.
    """

    HOME = 3
    BACK = 4
    DPAD_UP = 19
    DPAD_DOWN = 20
    DPAD_LEFT = 21
    DPAD_RIGHT = 22
    VOLUME_UP = 24
    VOLUME_DOWN = 25
    POWER = 26
    A = 29
    TAB = 61
    SPACE = 62
    ENTER = 66
    DEL = 67
    MENU = 82
    NOTIFICATION = 83
    SEARCH = 84
    ESCAPE = 111
    FORWARD_DEL = 112
    CTRL_LEFT = 113
    CTRL_RIGHT = 114
    MOVE_HOME = 122
    MOVE_END = 123
    APP_SWITCH = 187
    SLEEP = 223
    WAKEUP = 224


DIGIT_CODES = {code: str(code - 7) for code in range(7, 17)}
LETTER_CODES = {code: chr(ord("a") + code - 29) for code in range(29, 55)}
# KEYCODE_ names go up to this number in Android 14; a higher number is no key.
LAST_CODE = 316


def key_code(text: str) -> int | None:
    """Return the code of a key given as `66`, `ENTER` or `KEYCODE_ENTER`; None if there is no such key, or if it is
    named and this phone does not react to it.
    """
    if text.isdecimal():
        return int(text) if 0 < int(text) <= LAST_CODE else None
    name = text.upper().removeprefix("KEYCODE_")
    if name in KeyCode.__members__:
        return KeyCode[name]
    if len(name) == 1 and name.isalnum() and name.isascii():
        return ord(name) - ord("0") + 7 if name.isdigit() else ord(name) - ord("A") + 29
    return None
