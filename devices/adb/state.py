"""Reads a phone's state in one round trip (app in front, keyboard, rotation, lock, screen, battery), and from its log
which window received an input.

The services print for people, and every Android version prints differently. So each fact has several known forms
(Android 8 to 15, AOSP `DisplayContent`, `WindowManagerService`, `PhoneWindowManager`, `KeyguardServiceDelegate`,
`InputMethodManagerService`, `PowerManagerService`), and a missing fact gets a harmless value.

Since Android 11, the input dispatcher logs which window gets the focus (`input_focus`) and, whenever another window
than before gets a touch or key, which one (`input_interaction`; AOSP InputDispatcher::updateInteractionTokensLocked).
It identifies a window by the same number as `mCurrentFocus`.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

from devices.adb.shell import Shell
from devices.errors import PhoneError
from devices.geometry import Size
from devices.wording import words

logger = logging.getLogger(__name__)


STATE_TIMEOUT = 5.0
"""Seconds for the round trip; about 0.2 s on a current phone, several on an old one under load."""

_SECTION = "@@"
# Filtered on the phone: `dumpsys window` alone can be half a megabyte.
_SECTIONS = {
    "window": (
        "dumpsys window displays | grep -E "
        "'mDisplayId=|mCurrentFocus|mFocusedApp|ResumedActivity|mCurrentRotation|mRotation=|cur=[0-9]|mAwake='"
    ),
    "windows": ("dumpsys window windows | grep -E 'mCurrentFocus|mFocusedApp|mDreamingLockscreen|mShowingLockscreen'"),
    "policy": (
        "dumpsys window policy | grep -E 'showing=|mIsShowing|isStatusBarKeyguard|mShowingLockscreen|mKeyguardShowing'"
    ),
    "power": "dumpsys power | grep -E 'mWakefulness=|Display Power: state='",
    "keyboard": "dumpsys input_method | grep -E 'mInputShown|mIsInputViewShown'",
    "battery": "dumpsys battery | grep -E 'level:|temperature:|powered: true'",
}
_CLOCK = "date +%s.%N"
_FRONT = (
    "dumpsys window displays | grep -E "
    "'mDisplayId=|mCurrentFocus|mFocusedApp|mCurrentRotation|mRotation=|cur=[0-9]|mAwake='"
)
COMMAND = "; ".join(f"echo {_SECTION}{name}; {lines}" for name, lines in _SECTIONS.items())
_BRIEF = f"echo {_SECTION}window; {_FRONT}; echo {_SECTION}keyboard; {_SECTIONS['keyboard']}"

_COMPONENT = re.compile(r"\bu\d+ ([\w.]+)/([\w.$]+)")
_WINDOW = re.compile(r"mCurrentFocus=(Window\{[^}]+\})")
_OVERLAY_FOCUS = re.compile(r"mCurrentFocus=Window\{\S+ u\d+ ([^/}]+)\}")
_ROTATION = re.compile(r"m(?:Current)?Rotation=(?:ROTATION_)?(\d+)")
_DISPLAY = re.compile(r"\s*Display: mDisplayId=(\d+)")
_SIZE = re.compile(r"\bcur=(\d+)x(\d+)")
_LOCKED = re.compile(
    r"\b(?:showing|mIsShowing|isStatusBarKeyguard|mShowingLockscreen|mKeyguardShowing|mDreamingLockscreen)=(true|false)\b"
)
_WAKEFULNESS = re.compile(r"mWakefulness=(\w+)")
_AWAKE = re.compile(r"\bmAwake=(true|false)\b")
"""AOSP DisplayPolicy.dump, listed with the displays since Android 10."""
_TIME = re.compile(r"\d+\.\d+")
_DISPLAY_POWER = re.compile(r"Display Power: state=(\w+)")
_KEYBOARD = re.compile(r"\bmInputShown=\s*(true|false)\b")
_KEYBOARD_VIEW = re.compile(r"\bmIsInputViewShown=\s*(true|false)\b")
"""The keyboard's own state, which stays true when its window closes (AOSP InputMethodService.isInputViewShown)."""
_LEVEL = re.compile(r"^\s*level:\s*(\d+)", re.MULTILINE)
_TENTHS = re.compile(r"^\s*temperature:\s*(-?\d+)", re.MULTILINE)
"""BatteryManager.EXTRA_TEMPERATURE: tenths of a degree Celsius. Phones without a sensor report zero."""


@dataclass(frozen=True, slots=True)
class State:
    """The current state of the phone.

    - `package`, `activity`: The app and activity in front, "" if unknown. If only a window of the system is known to
      have the focus, `activity` is its title and `package` is "".
    - `rotation`: In quarter turns.
    - `battery`: In percent; None if unknown.
    - `window`: Android's own name of the window that receives input, with a unique number.
    """

    package: str = ""
    activity: str = ""
    keyboard_shown: bool = False
    rotation: int = 0
    locked: bool = False
    screen_on: bool = True
    battery: int | None = None
    charging: bool = False
    temperature: float | None = None
    """The battery temperature in °C."""
    window: str = ""
    clock: float | None = None
    """The phone's own time in Unix seconds, if it was requested."""
    size: Size | None = None
    """The size that apps and touches use; it changes when a phone is folded or its resolution is set."""
    other_displays: bool = False
    """Whether there are displays besides the default one, to which keys and apps could go unless they name one. False
    before Android 10, whose `input` knows no displays.
    """

    def same_window(self, other: State) -> bool:
        """Return whether the same window receives input in both states. An unknown one, as between two windows, counts
        as the same.
        """
        return not self.window or not other.window or self.window == other.window


async def read_state(shell: Shell) -> State:
    """Read the full state. Raises PhoneGone, PhoneUnavailable, PhoneTimeout."""
    answer = await shell.run(COMMAND, timeout=STATE_TIMEOUT, doing=words("phone.doing.state"))
    return parse_state(answer.out)


async def read_front(shell: Shell, *, clock: bool = False) -> State:
    """Read only whether the screen is on, its rotation and size, the app in front, the window that receives input,
    whether there are other displays and, with `clock`, the phone's time.

    This takes a fifth of the time of the full state. Before Android 10, window and screen power are missing. Raises as
    `read_state`.
    """
    line = f"{_FRONT}; echo {_SECTION}clock; {_CLOCK}" if clock else _FRONT
    answer = await shell.run(line, timeout=STATE_TIMEOUT, doing=words("phone.doing.window"))
    return parse_state(f"{_SECTION}window\n{answer.out}")


async def read_brief(shell: Shell) -> State:
    """Read only window, app, rotation, size, screen power and keyboard.

    This takes two fifths of the time of the full state. Lock and battery are missing. Between two windows, and before
    Android 10, the full state is read. Raises as `read_state`.
    """
    answer = await shell.run(_BRIEF, timeout=STATE_TIMEOUT, doing=words("phone.doing.state"))
    brief = parse_state(answer.out)
    return brief if brief.window else await read_state(shell)


async def read_keyboard(shell: Shell) -> bool:
    """Return whether the keyboard is shown; takes a fifth of the time of the full state. Raises as `read_state`."""
    answer = await shell.run(_SECTIONS["keyboard"], timeout=STATE_TIMEOUT, doing=words("phone.doing.state"))
    return _keyboard_shown(answer.out)


async def read_package(shell: Shell) -> str:
    """Return the package of the app in front; "" if there is none. Raises as `read_state`."""
    # Before Android 10, the focused window is printed elsewhere.
    return (await read_front(shell)).package or (await read_state(shell)).package


def parse_state(output: str) -> State:
    """Parse the output of the state commands. Unknown forms give a harmless value and never an error."""
    parts = _split(output)
    displays = parts.get("window", "")
    window = _default_display(displays) + parts.get("windows", "")
    policy = parts.get("policy", "")
    package, activity = foreground(window)
    return State(
        package=package,
        activity=activity,
        keyboard_shown=_keyboard_shown(parts.get("keyboard", "")),
        rotation=_quarter_turns(window),
        locked="true" in _LOCKED.findall(policy + window),
        screen_on=_screen_on(parts.get("power", ""), window),
        battery=int(found.group(1)) if (found := _LEVEL.search(parts.get("battery", ""))) else None,
        charging="powered: true" in parts.get("battery", ""),
        temperature=_temperature(parts.get("battery", "")),
        window=found.group(1) if (found := _WINDOW.search(window)) else "",
        clock=float(found.group()) if (found := _TIME.match(parts.get("clock", ""))) else None,
        size=Size(*map(int, found.groups())) if (found := _SIZE.search(window)) else None,
        # Since Android 10, each display reports a focus of its own.
        other_displays="mCurrentFocus=" in displays and any(number != "0" for number in _DISPLAY.findall(displays)),
    )


def _default_display(window: str) -> str:
    """Return the lines about the display that people see and touch, number 0 whichever screen of a foldable is in use.
    Other displays, of a cast or a virtual display, may be listed before it (AOSP Display.DEFAULT_DISPLAY).
    """
    kept, number = [], "0"
    for line in window.splitlines(keepends=True):
        if found := _DISPLAY.match(line):
            number = found[1]
        if number == "0":
            kept.append(line)
    return "".join(kept)


def _keyboard_shown(told: str) -> bool:
    return "true" in (_KEYBOARD.findall(told) or _KEYBOARD_VIEW.findall(told))


def _temperature(battery: str) -> float | None:
    found = _TENTHS.search(battery)
    tenths = int(found.group(1)) if found else 0
    return tenths / 10 if tenths else None


def foreground(window: str) -> tuple[str, str]:
    """Return the package and activity in front, from the output of `dumpsys window`: those of the focused window,
    otherwise the focused app or the resumed activity.

    A pop-up, the notification shade or the keyguard has the focus without naming an activity. If no activity is named
    at all, the package is "", and the activity is the title of the focused window, or "".
    """
    for mark in ("mCurrentFocus", "mFocusedApp", "ResumedActivity"):
        for line in window.splitlines():
            if mark in line and (component := _COMPONENT.search(line)):
                package, activity = component.groups()
                return package, package + activity if activity.startswith(".") else activity
    overlay = _OVERLAY_FOCUS.search(window)
    return ("", overlay.group(1).strip()) if overlay else ("", "")


def _split(output: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    name = ""
    for line in output.splitlines():
        if line.startswith(_SECTION):
            name = line.removeprefix(_SECTION).strip()
        elif name:
            parts[name] = parts.get(name, "") + line + "\n"
    return parts


def _quarter_turns(window: str) -> int:
    found = _ROTATION.search(window)
    if found is None:
        return 0
    number = int(found.group(1))
    return number // 90 % 4 if number >= 90 else number % 4


def _screen_on(power: str, window: str) -> bool:
    # A phone with a lit cover or cast is awake even if its default display is dark.
    awake = _AWAKE.search(window)
    if awake is not None and awake.group(1) == "false":
        return False
    wakefulness = _WAKEFULNESS.search(power)
    if wakefulness is not None:
        return wakefulness.group(1) == "Awake"
    display = _DISPLAY_POWER.search(power)
    return display is None or display.group(1) in {"ON", "VR"}


RECEIVER_TIMEOUT = 3.0
"""Seconds for reading the log; it is read after the input, and only the next observation waits for it."""
RECEIVER_COMMAND = "logcat -b events -d -v epoch -s input_focus input_interaction"
_LINE = re.compile(r"^\s*(\d+\.\d+)\s.*?\b(input_focus|input_interaction)\s*:\s*(.*)$", re.MULTILINE)
_INPUT_WINDOW = re.compile(r"(?:entering|with:|,)\s*([0-9a-f]{1,8}) ([^\s,]+)")
_NUMBER = re.compile(r"Window\{([0-9a-f]+) ")
_TICK = 0.001
"""Seconds; the log has no finer times."""


async def read_receiver(shell: Shell, before: State) -> str:
    """Return the name of the window that received an input sent just after the state `before` was read, if it is not
    the window that was focused then.

    Returns "" if the expected window received it or it is unknown: before Android 11, without a window or clock in
    `before`, or if the log cannot be read.
    """
    number = _NUMBER.match(before.window)
    if number is None or before.clock is None:
        return ""
    try:
        answer = await shell.run(RECEIVER_COMMAND, timeout=RECEIVER_TIMEOUT, doing=words("phone.doing.window"))
    except PhoneError as error:
        logger.info("which window got an input could not be read: %s", error)
        return ""
    return other_receiver(answer.out, number.group(1), before.clock)


def other_receiver(log: str, expected: str, since: float) -> str:
    """Return the name of a window other than `expected` that received the first input after `since` (Unix seconds); ""
    if none.

    Only a window that took the focus counts. A touch may also go to a toolbar or a list of suggestions, which are next
    to the focused window and never have the focus.
    """
    focused = ""
    for at, tag, text in _LINE.findall(log):
        windows: dict[str, str] = dict(_INPUT_WINDOW.findall(text))
        if tag == "input_focus":
            focused = next(iter(windows), focused)
        elif float(at) >= since - _TICK:
            swapped = expected not in windows and focused in windows
            return windows[focused] if swapped else ""
    return ""
