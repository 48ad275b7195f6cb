"""The program `input`: touches, keys and text.

Source: AOSP frameworks/base/services/core/java/com/android/server/input/InputShellCommand.java.
"""

from __future__ import annotations

import re
from functools import partial

from devices.geometry import Point
from devices.virtual_phone.android import KeyCode, key_code
from devices.virtual_phone.shell.commands.dumpsys import numbered_window
from devices.virtual_phone.shell.interpreter import EXCEPTION, Call, Family
from devices.virtual_phone.state import ADB_KEYBOARD

SOURCES = {"touchscreen", "mouse", "keyboard", "dpad", "gamepad", "stylus", "trackball", "touchpad"}
DEFAULT_SWIPE_MS = 300
_KEYS_OF_SIGNS = {"\n": KeyCode.ENTER, "\t": KeyCode.TAB}
# What Android 14 prints for a character without a key: KeyCharacterMap.getEvents gives null.
NO_KEYS = """
Exception occurred while executing 'text':
java.lang.NullPointerException: Attempt to get length of null array
\tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:321)
\tat com.android.server.input.InputShellCommand.runText(InputShellCommand.java:291)
\tat com.android.server.input.InputShellCommand.onCommand(InputShellCommand.java:142)
\tat com.android.modules.utils.BasicShellCommandHandler.exec(BasicShellCommandHandler.java:97)
\tat android.os.ShellCommand.exec(ShellCommand.java:38)
\tat com.android.server.input.InputManagerService.onShellCommand(InputManagerService.java:2489)
\tat android.os.Binder.shellCommand(Binder.java:1068)
\tat android.os.Binder.onTransact(Binder.java:888)
\tat android.hardware.input.IInputManager$Stub.onTransact(IInputManager.java:1138)
\tat android.os.Binder.execTransactInternal(Binder.java:1344)
\tat android.os.Binder.execTransact(Binder.java:1275)"""
# AOSP InputManagerService.injectInputEventToTarget, Android 12 and later.
NO_TOUCH = (
    "java.lang.SecurityException: Injecting input events requires the caller (or the source of the instrumentation, "
    "if any) to have the INJECT_EVENTS permission."
)
_FOCUSED = {"keyevent", "keycombination", "text"}
"""Commands that go to the focused display when they name none; touches then go to the default display."""
USAGE = "Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]"


class BadArguments(Exception):
    """The arguments of `input` are wrong; the message is what it prints."""


async def run(call: Call) -> int:
    """Simulate the shell command `input [source] [-d display] command …`. Returns the exit code."""
    words = list(call.arguments)
    if words[:1] and words[0] in SOURCES:
        words.pop(0)
    display = ""
    if words[:1] == ["-d"]:
        display, words = words[1], words[2:]
    if not words:
        call.say(USAGE)
        return 0
    name, *rest = words
    if call.phone.faults.no_touch:
        return call.threw(name, NO_TOUCH)
    action = ACTIONS.get(name)
    if action is None:
        return call.complain(f"Unknown command: {name}", EXCEPTION)
    if display not in {"", "0"} or (not display and name in _FOCUSED and call.phone.faults.virtual_display):
        return 0
    if not call.phone.faults.deaf:
        call.phone.event_log.received(numbered_window(call.phone.state))
    try:
        return action(call, rest)
    except BadArguments as problem:
        return call.threw(name, f"java.lang.IllegalArgumentException: {problem}")


def _numbers(rest: list[str], least: int) -> list[int]:
    """Coordinates may be written as floats; Android cuts them when it finds the pixel."""
    try:
        numbers = [int(float(word)) for word in rest]
    except ValueError:
        raise BadArguments(f"Invalid number in {' '.join(rest)}") from None
    if len(numbers) < least:
        raise BadArguments('Argument expected after "' + (rest[-1] if rest else "") + '"')
    return numbers


def _tap(call: Call, rest: list[str]) -> int:
    x, y = _numbers(rest, 2)[:2]
    call.phone.do(partial(call.phone.hand.tap, Point(x, y)))
    return 0


def _swipe(call: Call, rest: list[str]) -> int:
    numbers = _numbers(rest, 4)
    duration = numbers[4] if len(numbers) > 4 else DEFAULT_SWIPE_MS
    call.phone.do(partial(call.phone.hand.swipe, Point(*numbers[:2]), Point(*numbers[2:4]), duration))
    return 0


def _drag(call: Call, rest: list[str]) -> int:
    numbers = _numbers(rest, 4)
    call.phone.do(partial(call.phone.hand.drag, Point(*numbers[:2]), Point(*numbers[2:4])))
    return 0


def _text(call: Call, rest: list[str]) -> int:
    """Type text: `%s` becomes a space. Only characters with keys can be typed; Enter and Tab are keys (AOSP
    `Virtual.kcm`).
    """
    if not rest:
        raise BadArguments('Argument expected after "text"')
    text = rest[0].replace("%s", " ")
    if not text.isascii() or any(not sign.isprintable() and sign not in _KEYS_OF_SIGNS for sign in text):
        return call.complain(NO_KEYS, EXCEPTION)
    own = call.phone.state.settings["secure"].get("default_input_method") != ADB_KEYBOARD
    hand = call.phone.hand
    write = hand.compose if own and call.phone.faults.composes else hand.type
    for piece in filter(None, re.split(r"([\n\t])", text)):
        code = _KEYS_OF_SIGNS.get(piece)
        call.phone.do(partial(write, piece) if code is None else partial(hand.press, code))
    return 0


def _keyevent(call: Call, rest: list[str]) -> int:
    words = [word for word in rest if not word.startswith("--")]
    codes = [key_code(word) for word in words]
    for word, code in zip(words, codes, strict=True):
        if code is None:
            raise BadArguments(f"Unknown keycode: {word}")
    if not codes:
        raise BadArguments('Argument expected after "keyevent"')

    def press() -> None:
        for code in codes:
            call.phone.hand.press(code or 0)

    call.phone.do(press)
    return 0


def _keycombination(call: Call, rest: list[str]) -> int:
    codes = {key_code(word) for word in rest if not word.startswith("-")}
    if codes & {KeyCode.CTRL_LEFT, KeyCode.CTRL_RIGHT} and KeyCode.A in codes:
        call.phone.do(call.phone.hand.select_all)
    elif codes & {KeyCode.CTRL_LEFT, KeyCode.CTRL_RIGHT} and KeyCode.MOVE_END in codes:
        call.phone.do(partial(call.phone.hand.press, KeyCode.MOVE_END))
    return 0


def _motionevent(call: Call, rest: list[str]) -> int:
    """DOWN and UP make a swipe, or a tap when the finger stayed."""
    if not rest:
        raise BadArguments('Argument expected after "motionevent"')
    action = rest[0].upper()
    if action not in {"DOWN", "UP", "MOVE", "CANCEL"}:
        raise BadArguments(f"Unknown action: {rest[0]}")
    point = Point(*_numbers(rest[1:], 2)[:2]) if action != "CANCEL" else None
    phone = call.phone
    if action == "DOWN":
        phone.finger = point
    elif action == "UP" and phone.finger is not None and point is not None:
        phone.do(partial(phone.hand.swipe, phone.finger, point, 0))
    if action in {"UP", "CANCEL"}:
        phone.finger = None
    return 0


ACTIONS = {
    "tap": _tap,
    "swipe": _swipe,
    "draganddrop": _drag,
    "text": _text,
    "keyevent": _keyevent,
    "keycombination": _keycombination,
    "motionevent": _motionevent,
}
FAMILY: Family = {"input": run}
