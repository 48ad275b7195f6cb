"""The programs `screencap` and `uiautomator`: the screen as a picture and as elements.

Sources: AOSP frameworks/base/cmds/screencap/screencap.cpp; frameworks/base/cmds/uiautomator, DumpCommand.java (its
spelling of "hierchary" is Android's own).
"""

from __future__ import annotations

import contextlib

from devices.virtual_phone.files import FileRefused
from devices.virtual_phone.shell.interpreter import SCREENS, Call, Family
from devices.virtual_phone.state import PhoneState
from devices.virtual_phone.uiautomator_server import REGISTERED

DEFAULT_DUMP = "/sdcard/window_dump.xml"
DISPLAYS = ("4619827551948147201", "4619827259835644672")
"""Ids of the screens in SurfaceFlinger: of the folded phone, which is listed first, and of the unfolded one."""
SEVERAL = """\
[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display found, \
however this default is not guaranteed to be consistent across captures. A display id should be specified.
A display ID can be specified with the [-d display-id] option.
See "dumpsys SurfaceFlinger --display-id" for valid display IDs."""


def in_use(state: PhoneState) -> str:
    """Return the id of the screen in use."""
    return DISPLAYS[0 if state.folded else 1]


async def screencap(call: Call) -> int:
    """Simulate the shell command `screencap [-p] [-d display] [file]`. It writes PNG with -p, or if the file's name
    ends with .png. Returns the exit code.
    """
    words = list(call.arguments)
    display = ""
    if "-d" in words[:-1]:
        display = words[words.index("-d") + 1]
        del words[words.index("-d") : words.index("-d") + 2]
    two = call.phone.faults.two_displays
    now = in_use(call.phone.state)
    if display and display not in (DISPLAYS if two else {now}):
        return call.complain(f"Display Id '{display}' is not valid.")
    if two and not display:
        call.complain(SEVERAL)
    target = next((word for word in words if not word.startswith("-")), "")
    as_png = "-p" in words or target.endswith(".png")
    other = two and (display or DISPLAYS[0]) != now
    data = await call.phone.encoded(png=as_png, other=other)
    if call.phone.faults.truncate:
        data = data[: len(data) // 2]
    if not target:
        call.send(data)
        return 0
    try:
        call.phone.files.write(target, data)
    except FileRefused as problem:
        return call.complain(f"Error opening file: {target} ({problem})")
    return 0


async def uiautomator(call: Call) -> int:
    """Simulate the shell command `uiautomator dump [--compressed] [file]`. Other sub-commands do not exist. Returns
    the exit code.
    """
    words = call.arguments
    if words[:1] != ("dump",):
        return call.complain(f"Unsupported command: {words[0] if words else 'help'}")
    phone = call.phone
    if phone.uiautomator.running:
        return call.complain(REGISTERED)
    if phone.faults.no_tree:
        return call.complain("ERROR: could not get idle state.", 0)
    if not phone.state.awake:
        return call.complain("ERROR: null root node returned by UiTestAutomationBridge.", 0)
    target = next((word for word in words[1:] if not word.startswith("--")), DEFAULT_DUMP)
    document = phone.elements(compressed="--compressed" in words).encode("utf-8", "surrogateescape")
    if target in SCREENS:
        call.send(document)
    else:
        # AccessibilityNodeInfoDumper logs the error, and DumpCommand reports success all the same.
        with contextlib.suppress(FileRefused):
            phone.files.write(target, document)
    call.say(f"UI hierchary dumped to: {target}")
    return 0


FAMILY: Family = {"screencap": screencap, "uiautomator": uiautomator}
