"""The programs `am` and `monkey`: starting and stopping apps, and broadcasts.

Texts: AOSP ActivityManagerShellCommand.java and frameworks/base/cmds (development/cmds/monkey, Monkey.java).
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from functools import partial

from devices.virtual_phone.apps import APPS, BY_PACKAGE, browser
from devices.virtual_phone.shell.interpreter import Call, Family
from devices.virtual_phone.state import ADB_KEYBOARD

VIEW = "android.intent.action.VIEW"
MAIN = "android.intent.action.MAIN"
HOME = "android.intent.category.HOME"
SETTINGS_ACTION = "android.settings."
SETTINGS_PAGES = {"DISPLAY_SETTINGS": "display", "DEVICE_INFO_SETTINGS": "about", "SOUND_SETTINGS": "sound"}
# Options of Intent.parseCommandArgs that take one value, and those that take two.
ONE_VALUE = {"-a", "-c", "-d", "-t", "-n", "-p", "-f", "--user", "-i", "--esn", "--display"}
# Those that are a part of Intent; the others (flags, a user) change nothing here.
INTENT_PARTS = {"-a": "action", "-d": "data", "-n": "component", "-p": "package", "--display": "display"}
TWO_VALUES = {"-e", "--es", "--ei", "--ez", "--el", "--ef", "--eu"}
# Monkey's exit code when no activity fits.
NO_ACTIVITY = 252


@dataclass(slots=True)
class Intent:
    """An Android intent, as given on a command line."""

    action: str = ""
    data: str = ""
    component: str = ""
    package: str = ""
    display: str = ""
    categories: list[str] = field(default_factory=list)
    extras: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [f"act={self.action}"] if self.action else []
        parts += [f"cat=[{','.join(self.categories)}]"] if self.categories else []
        parts += [f"dat={self.data}"] if self.data else []
        parts += [f"pkg={self.package}"] if self.package else []
        parts += [f"cmp={self.component}"] if self.component else []
        parts += ["(has extras)"] if self.extras else []
        return f"Intent {{ {' '.join(parts)} }}"


def read_intent(words: list[str]) -> Intent:
    """Parse an intent from the words after `am start`."""
    intent = Intent()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in TWO_VALUES and len(rest) >= 2:
            name, given = rest.pop(0), rest.pop(0)
            intent.extras[name] = given
        elif word in ONE_VALUE and rest:
            value = rest.pop(0)
            if word == "-c":
                intent.categories.append(value)
            elif word in INTENT_PARTS:
                setattr(intent, INTENT_PARTS[word], value)
        elif not word.startswith("-"):
            if "://" in word:
                intent.data = word
            elif "/" in word:
                intent.component = word
            else:
                intent.package = word
    return intent


def full_component(component: str) -> str:
    """Return the component with its full class name: `package/.Name` becomes `package/package.Name`."""
    package, _, name = component.partition("/")
    return f"{package}/{package}{name}" if name.startswith(".") else component


async def am(call: Call) -> int:
    """Simulate the shell command `am start|start-activity|force-stop|broadcast|get-current-user`. Returns the exit
    code.
    """
    name, *rest = call.arguments or ("help",)
    match name:
        case "start" | "start-activity":
            return _start(call, read_intent(rest))
        case "force-stop":
            app = BY_PACKAGE.get(rest[-1]) if rest else None
            if app is not None:
                call.phone.do(partial(call.phone.windows.stop, app.key))
            return 0
        case "broadcast":
            return _broadcast(call, read_intent(rest))
        case "get-current-user":
            call.say("0")
            return 0
        case _:
            return call.complain(f"Unknown command: {name}", 255)


def _start(call: Call, intent: Intent) -> int:
    call.say(f"Starting: {intent}")
    if call.phone.faults.virtual_display and intent.display != "0":
        return 0
    windows = call.phone.windows
    if intent.component:
        app = next((app for app in APPS if app.component == full_component(intent.component)), None)
        if app is None or app.package in call.phone.state.disabled:
            call.complain("Error type 3")
            return call.complain(f"Error: Activity class {{{full_component(intent.component)}}} does not exist.")
        if app.key == "browser" and intent.data:
            call.phone.do(partial(browser.open_url, windows, intent.data))
        else:
            call.phone.do(partial(windows.launch, app.key))
        return 0
    if HOME in intent.categories:
        call.phone.do(windows.home)
        return 0
    if intent.action == VIEW and intent.data.lower().startswith(("http://", "https://")):
        call.phone.do(partial(browser.open_url, windows, intent.data))
        return 0
    if intent.action.startswith(SETTINGS_ACTION):
        page = SETTINGS_PAGES.get(intent.action.removeprefix(SETTINGS_ACTION), "main")
        call.phone.do(partial(windows.show, "settings", page))
        return 0
    if intent.package in BY_PACKAGE:
        call.phone.do(partial(windows.launch, BY_PACKAGE[intent.package].key))
        return 0
    return call.complain(f"Error: Activity not started, unable to resolve {intent}")


def _broadcast(call: Call, intent: Intent) -> int:
    """ADBKeyboard's actions (github.com/senzhk/ADBKeyBoard, AdbIME.java) work only while it is the input method."""
    call.say(f"Broadcasting: {intent}")
    phone = call.phone
    current = phone.state.settings["secure"].get("default_input_method") == ADB_KEYBOARD
    if current and phone.adb_keyboard:
        match intent.action:
            case "ADB_INPUT_B64":
                text = _decoded(intent.extras.get("msg", ""))
                phone.do(partial(phone.hand.type, text))
            case "ADB_INPUT_TEXT":
                phone.do(partial(phone.hand.type, intent.extras.get("msg", "")))
            case "ADB_CLEAR_TEXT":
                phone.do(partial(phone.hand.replace, ""))
            case "ADB_INPUT_CODE":
                code = intent.extras.get("code", "")
                phone.do(partial(phone.hand.press, int(code) if code.isdecimal() else 0))
            case "ADB_EDITOR_CODE":
                phone.do(partial(phone.hand.press, 66))
    call.say("Broadcast completed: result=0")
    return 0


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return ""


async def monkey(call: Call) -> int:
    """Simulate the shell command `monkey -p PACKAGE -c android.intent.category.LAUNCHER 1`, which opens the app as its
    icon does. Returns the exit code.
    """
    words = list(call.arguments)
    for word in words:
        call.complain(f"  bash arg: {word}")
    package = words[words.index("-p") + 1] if "-p" in words[:-1] else ""
    app = BY_PACKAGE.get(package)
    if app is None:
        call.say("** No activities found to run, monkey aborted.")
        return NO_ACTIVITY
    call.phone.do(partial(call.phone.windows.launch, app.key))
    call.say("Events injected: 1")
    call.say("## Network stats: elapsed time=18ms (0ms mobile, 0ms wifi, 18ms not connected)")
    return 0


FAMILY: Family = {"am": am, "monkey": monkey}
