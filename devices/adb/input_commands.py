"""Converts touches and keys to command lines of Android's `input` tool."""

from __future__ import annotations

from devices.adb.quoting import command
from devices.errors import InputRejected
from devices.geometry import Point, Size
from devices.inputs import MAX_SWIPE_MS, MIN_SWIPE_MS, Key, LongPress, PressKey, Swipe, Tap
from devices.wording import words

KEYCODES = {
    Key.HOME: "KEYCODE_HOME",
    Key.BACK: "KEYCODE_BACK",
    Key.RECENTS: "KEYCODE_APP_SWITCH",
    Key.ENTER: "KEYCODE_ENTER",
    Key.DELETE: "KEYCODE_DEL",
    Key.TAB: "KEYCODE_TAB",
    Key.ESCAPE: "KEYCODE_ESCAPE",
    Key.UP: "KEYCODE_DPAD_UP",
    Key.DOWN: "KEYCODE_DPAD_DOWN",
    Key.LEFT: "KEYCODE_DPAD_LEFT",
    Key.RIGHT: "KEYCODE_DPAD_RIGHT",
    Key.VOLUME_UP: "KEYCODE_VOLUME_UP",
    Key.VOLUME_DOWN: "KEYCODE_VOLUME_DOWN",
    Key.POWER: "KEYCODE_POWER",
    Key.WAKE: "KEYCODE_WAKEUP",
    Key.MENU: "KEYCODE_MENU",
    Key.SEARCH: "KEYCODE_SEARCH",
}
COMBINATIONS = {
    Key.SELECT_ALL: command("input", "keycombination", "KEYCODE_CTRL_LEFT", "KEYCODE_A"),
    Key.END: command("input", "keycombination", "KEYCODE_CTRL_LEFT", "KEYCODE_MOVE_END"),
}
"""Key combinations, for Android 12 and later; End alone only goes to the end of a line."""
MAX_PRESS_MS = 5000


def commands_for(what: Tap | LongPress | Swipe | PressKey, screen: Size | None) -> tuple[str, ...]:
    """Return the command lines that perform this input, in order. Raises InputRejected if it is impossible.

    `screen` is the size of the last screenshot, None if unknown. A point outside it is refused rather than moved
    inside.
    """
    match what:
        case Tap(at, times):
            if times not in {1, 2}:
                raise InputRejected(words("phone.rejected.times", times=times))
            return (command("input", "tap", *_inside(at, screen)),) * times
        case LongPress(at, duration_ms):
            x, y = _inside(at, screen)
            if not MIN_SWIPE_MS <= duration_ms <= MAX_PRESS_MS:
                low, high = MIN_SWIPE_MS, MAX_PRESS_MS
                raise InputRejected(words("phone.rejected.press_time", low=low, high=high, value=duration_ms))
            return (command("input", "swipe", x, y, x, y, duration_ms),)
        case Swipe(start, end, duration_ms, hold):
            line = (*_inside(start, screen), *_inside(end, screen))
            if not MIN_SWIPE_MS <= duration_ms <= MAX_SWIPE_MS:
                low, high = MIN_SWIPE_MS, MAX_SWIPE_MS
                raise InputRejected(words("phone.rejected.swipe_time", low=low, high=high, value=duration_ms))
            return (command("input", "draganddrop" if hold else "swipe", *line, duration_ms),)
        case PressKey(Key.NOTIFICATIONS):
            return ("cmd statusbar expand-notifications",)
        case PressKey(key) if key in COMBINATIONS:
            return (COMBINATIONS[key],)
        case PressKey(key):
            return (command("input", "keyevent", KEYCODES[key]),)


def _inside(at: Point, screen: Size | None) -> tuple[int, int]:
    if at.x < 0 or at.y < 0 or (screen is not None and not screen.holds(at)):
        if screen is None:
            raise InputRejected(words("phone.rejected.outside", x=at.x, y=at.y))
        raise InputRejected(
            words("phone.rejected.outside_of", x=at.x, y=at.y, width=screen.width, height=screen.height)
        )
    return at.x, at.y
