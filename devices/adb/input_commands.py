"""Converts touches, keys and text to command lines of Android's `input` tool, or of ADBKeyboard if it is selected."""

from __future__ import annotations

import base64
import re
import unicodedata

from devices.adb.shell import command
from devices.errors import InputRejected, UntypableText
from devices.geometry import Point, Size
from devices.inputs import KEYS_IN_TEXT, MAX_SWIPE_MS, MIN_SWIPE_MS, Key, LongPress, PressKey, Swipe, Tap, as_typed
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


BROADCAST_PACKAGE = "com.android.adbkeyboard"
BROADCAST_KEYBOARD = f"{BROADCAST_PACKAGE}/.AdbIME"
"""ADBKeyboard (github.com/senzhk/ADBKeyBoard), an input method that receives its text by broadcast."""

MAX_TEXT = 10_000
"""The maximum characters of one input; no ordinary text field takes more."""

KEY_CHUNK = 160
"""Characters for one `input text`. Each character is two injected events that are waited for, so a chunk takes about a
second on a slow phone, and a cancelled text stops soon.
"""

BROADCAST_CHUNK = 2000
"""Characters for one broadcast; Android limits an intent to about 1 MB and a shell argument to 128 KiB."""

MAX_DELETES = 1000
DELETE_MARGIN = 8
"""Additional deletes beyond the known length of a field; a delete in an empty field does nothing."""
UNKNOWN_DELETES = 200
_DELETES_PER_COMMAND = 250

_KEY_SIGNS = re.compile(f"([{re.escape(''.join(KEYS_IN_TEXT))}])")


def typing_commands(text: str, *, broadcast: bool) -> tuple[str, ...]:
    """Return the command lines that type `text` into the focused field. `broadcast` says whether ADBKeyboard is
    selected.

    Raises UntypableText as `check_text`, and without ADBKeyboard if the text is not ASCII.
    """
    check_text(text)
    if broadcast:
        return tuple(_broadcast(piece) for piece in _cut(text, BROADCAST_CHUNK))
    if not text.isascii():
        raise UntypableText(words("phone.rejected.letters"))
    return tuple(line for piece in _KEY_SIGNS.split(text) for line in _keys(piece))


def check_text(text: str) -> None:
    """Raise UntypableText if a text is too long, has control characters other than newline and tab, or differs from
    what `as_typed` returns, because additional keys would not have been approved.
    """
    if len(text) > MAX_TEXT:
        raise UntypableText(words("phone.rejected.long_text", length=len(text), limit=MAX_TEXT))
    control = any(unicodedata.category(each) in {"Cc", "Cs"} and each not in KEYS_IN_TEXT for each in text)
    if control or text != as_typed(text):
        raise UntypableText(words("phone.rejected.control_text"))


def clearing_commands(length: int | None, *, broadcast: bool) -> tuple[str, ...]:
    """Return the command lines that empty the focused field of `length` characters (None: unknown). `broadcast` says
    whether ADBKeyboard is selected.

    Without it, at most `MAX_DELETES` characters are deleted, or `UNKNOWN_DELETES` if the length is unknown.
    """
    if broadcast:
        return (command("am", "broadcast", "-a", "ADB_CLEAR_TEXT", "-p", BROADCAST_PACKAGE),)
    deletes = UNKNOWN_DELETES if length is None else min(MAX_DELETES, length + DELETE_MARGIN)
    keys = ["KEYCODE_MOVE_END", *["KEYCODE_DEL"] * deletes]
    return tuple(
        command("input", "keyevent", *keys[start : start + _DELETES_PER_COMMAND])
        for start in range(0, len(keys), _DELETES_PER_COMMAND)
    )


def is_left_of(text: str, left: str) -> bool:
    """Return whether `left` is what remains of `text` after a deletion in one place, or all of it. False for an empty
    `left`.

    A field may instead show its hint, which not every phone reports as such.
    """
    ways = range(len(left) + 1)
    return bool(left) and any(text.startswith(left[:at]) and text.endswith(left[at:]) for at in ways)


def _broadcast(piece: str) -> str:
    coded = base64.b64encode(piece.encode()).decode()
    # With -p, only the keyboard gets the broadcast; otherwise any app could read what is typed.
    return command("am", "broadcast", "-a", "ADB_INPUT_B64", "-p", BROADCAST_PACKAGE, "--es", "msg", coded)


def _keys(piece: str) -> list[str]:
    if piece in KEYS_IN_TEXT:
        return [command("input", "keyevent", KEYCODES[KEYS_IN_TEXT[piece]])]
    # `input text` reads "%s" as a space (AOSP InputShellCommand.sendText), so the two are never sent together.
    parts = re.split(r"(?<=%)(?=s)", piece)
    return [command("input", "text", chunk) for part in parts for chunk in _cut(part, KEY_CHUNK)]


def _cut(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]
