"""Programs for settings, properties, screen size, input methods and switches.

Texts: AOSP SettingsService.java, toolbox getprop, WindowManagerShellCommand.java,
InputMethodManagerService.ShellCommandImpl, UiModeManagerService.Shell, Svc.java.
"""

from __future__ import annotations

import re
from functools import partial

from devices.virtual_phone.android import is_on, switch
from devices.virtual_phone.happenings import reboot_soon
from devices.virtual_phone.shell.commands import notifications, packages
from devices.virtual_phone.shell.interpreter import Call, Family
from devices.virtual_phone.state import ADB_KEYBOARD, LATIN_KEYBOARD

LEAST_DENSITY = 72
"""The lowest density that `wm` accepts (WindowManagerShellCommand.runDisplayDensity)."""
TABLES = ("system", "secure", "global")
# AOSP SettingsProvider.enforceWritePermission.
NO_SETTINGS = (
    "java.lang.SecurityException: Permission denial: writing to settings "
    "requires:android.permission.WRITE_SECURE_SETTINGS"
)


async def settings(call: Call) -> int:
    """Simulate the shell command `settings get|put|delete|list TABLE NAME [VALUE]`; `--user N` is accepted anywhere.
    Returns the exit code.
    """
    words = list(call.arguments)
    if "--user" in words[:-1]:
        del words[words.index("--user") : words.index("--user") + 2]
    action, table, *rest = [*words, "", ""][: max(2, len(words))]
    if action not in {"get", "put", "delete", "list"} or table not in TABLES:
        return call.complain(f"Invalid command: {action}" if table in TABLES else f"Invalid namespace '{table}'", 255)
    if action in {"put", "delete"} and call.phone.faults.no_settings:
        return call.threw(action, NO_SETTINGS)
    values = call.phone.state.settings[table]
    if table == "system":
        values = values | {"system_locales": call.phone.state.locale} if action in {"get", "list"} else values
    if action == "list":
        for name, value in sorted(values.items()):
            call.say(f"{name}={value}")
    elif not rest or (action == "put" and len(rest) < 2):
        return call.complain("Bad arguments", 255)
    elif action == "get":
        call.say(call.phone.state.identity.android_id if rest[0] == "android_id" else values.get(rest[0], "null"))
    elif action == "put":
        values[rest[0]] = rest[1]
        if rest[0] == "user_rotation" and rest[1] in {"0", "1", "2", "3"}:
            call.phone.state.rotation = int(rest[1])
        call.phone.changed()
    else:
        call.say(f"Deleted {int(values.pop(rest[0], None) is not None)} rows")
        call.phone.changed()
    return 0


async def getprop(call: Call) -> int:
    """Simulate the shell command `getprop [NAME]`; an unknown name prints an empty line. Returns the exit code."""
    state = call.phone.state
    identity = state.identity
    values = {
        "persist.sys.locale": state.locale,
        "persist.sys.timezone": getattr(call.phone.windows.clock().tzinfo, "key", ""),
        "ro.product.locale": "en-US",
        "ro.boot.serialno": identity.serial,
        "ro.build.fingerprint": f"virtual/virtual/virtual:{identity.release}/VP1A.240101.001/1:user/release-keys",
        "ro.build.version.release": identity.release,
        "ro.build.version.sdk": str(identity.sdk),
        "ro.kernel.qemu": "",
        "ro.product.brand": "Virtual",
        "ro.product.cpu.abi": "arm64-v8a",
        "ro.product.device": "virtual",
        "ro.product.manufacturer": "Virtual",
        "ro.product.model": identity.model,
        "ro.product.name": "virtual",
        "ro.serialno": identity.serial,
        "ro.sf.lcd_density": str(state.density),
        "sys.boot_completed": "" if call.phone.starting else "1",
    }
    if call.arguments:
        call.say(values.get(call.arguments[0], call.arguments[1] if len(call.arguments) > 1 else ""))
    else:
        for name, value in values.items():
            call.say(f"[{name}]: [{value}]")
    return 0


async def setprop(call: Call) -> int:
    """Simulate the shell command `setprop persist.sys.locale zh-CN`, which changes the language. The shell user may
    set nothing else. Returns the exit code.
    """
    if call.arguments[:1] == ("persist.sys.locale",) and len(call.arguments) == 2:
        call.phone.state.locale = call.arguments[1]
        call.phone.changed()
        return 0
    return call.complain(f"Failed to set property '{' '.join(call.arguments)}'.\nSee dmesg for error reason.")


async def reboot(call: Call) -> int:
    """Simulate the shell command `reboot`: toybox passes it on to init (AOSP system/core/reboot). Other targets, such
    as the bootloader, do not exist. Returns the exit code.
    """
    if call.arguments:
        return call.complain(f"reboot: unknown target {call.arguments[0]}")
    reboot_soon(call.phone)
    return 0


async def wm(call: Call) -> int:
    """Simulate the shell command `wm size [WxH|reset]`, `wm density [N|reset]` or `wm dismiss-keyguard`. Returns the
    exit code.
    """
    if call.arguments[:1] in (("size",), ("density",)):
        return _screen(call, *call.arguments)
    if call.arguments[:1] == ("dismiss-keyguard",):
        call.phone.do(call.phone.windows.swipe_up_to_unlock)
    else:
        return call.complain(f"Unknown command: {' '.join(call.arguments)}", 255)
    return 0


def _screen(call: Call, what: str, wanted: str = "") -> int:
    """Print or change the size or density that apps are drawn for; the physical one is printed too."""
    state = call.phone.state
    width, height, density = state.built or (state.width, state.height, state.density)
    if not wanted:
        physical, now = (
            (f"{width}x{height}", f"{state.width}x{state.height}") if what == "size" else (density, state.density)
        )
        call.say(f"Physical {what}: {physical}")
        if now != physical:
            call.say(f"Override {what}: {now}")
        return 0
    state.built = width, height, density
    size = re.fullmatch(r"(\d+)x(\d+)", wanted)
    if wanted == "reset":
        state.width, state.height = (width, height) if what == "size" else (state.width, state.height)
        state.density = density if what == "density" else state.density
    elif what == "size" and size:
        state.width, state.height = int(size.group(1)), int(size.group(2))
    elif what == "density" and wanted.isdecimal() and int(wanted) >= LEAST_DENSITY:
        state.density = int(wanted)
    else:
        return call.complain(f"Error: bad {'size' if what == 'size' else 'number'} {wanted}", 255)
    call.phone.changed()
    return 0


async def ime(call: Call) -> int:
    """Simulate the shell command `ime list [-a] [-s]`, `ime enable|disable|set ID` or `ime reset`. Returns the exit
    code.
    """
    secure = call.phone.state.settings["secure"]
    installed = [LATIN_KEYBOARD, *([ADB_KEYBOARD] if call.phone.adb_keyboard else [])]
    enabled = [name for name in secure.get("enabled_input_methods", "").split(":") if name in installed]
    action, *rest = call.arguments or ("help",)
    name = rest[-1] if rest else ""
    if action in {"enable", "disable", "set", "reset"} and call.phone.faults.no_settings:
        return call.threw(action, NO_SETTINGS)
    if action == "list":
        for each in installed if "-a" in rest else enabled:
            call.say(each if "-s" in rest else f"{each}:\n  mId={each} mSettingsActivityName=null")
        return 0
    if action == "reset":
        secure["enabled_input_methods"] = secure["default_input_method"] = LATIN_KEYBOARD
        call.say("Reset current and enabled IMEs for user #0")
        call.say(f"  Newly selected IME for user #0: {LATIN_KEYBOARD}")
    elif action in {"enable", "disable", "set"} and name not in (installed if action != "set" else enabled):
        verb = "selected" if action == "set" else f"{action}d"
        return call.complain(f"Unknown input method {name} cannot be {verb} for user #0", 255)
    elif action == "enable":
        already = "already" if name in enabled else "now"
        secure["enabled_input_methods"] = ":".join(dict.fromkeys([*enabled, name]))
        call.say(f"Input method {name}: {already} enabled for user #0")
    elif action == "disable":
        secure["enabled_input_methods"] = ":".join(each for each in enabled if each != name)
        if secure.get("default_input_method") == name:
            secure["default_input_method"] = LATIN_KEYBOARD
        call.say(f"Input method {name}: now disabled for user #0")
    elif action == "set":
        secure["default_input_method"] = name
        call.say(f"Input method {name} selected for user #0")
    else:
        return call.complain(f"Unknown command: {action}", 255)
    call.phone.changed()
    return 0


async def cmd(call: Call) -> int:
    """Simulate the shell command `cmd SERVICE …` for the services package, uimode, notification and statusbar. Returns
    the exit code.
    """
    service, *rest = call.arguments or ("",)
    windows = call.phone.windows
    if service == "package":
        return packages.run(call, rest)
    if service == "uimode" and rest[:1] == ["night"]:
        if rest[1:2] in (["yes"], ["no"]):
            call.phone.do(partial(switch, call.phone.state, "dark", on=rest[1] == "yes"))
        call.say(f"Night mode: {rest[1] if rest[1:] else ('yes' if is_on(call.phone.state, 'dark') else 'no')}")
        return 0
    if service == "notification" and rest[:1] == ["list"]:
        return notifications.list_keys(call)
    if service == "statusbar" and rest[:1] in (["expand-notifications"], ["collapse"]):
        call.phone.do(partial(setattr, windows.state, "shade", rest[0] != "collapse" and not windows.state.locked))
        return 0
    return call.complain(f"cmd: Can't find service: {service}", 20)


async def svc(call: Call) -> int:
    """Simulate the shell command `svc wifi|bluetooth enable|disable` or `svc power stayon …`. Returns the exit code."""
    words = call.arguments
    if words[:1] in (("wifi",), ("bluetooth",)) and words[1:] in (("enable",), ("disable",)):
        call.phone.do(partial(switch, call.phone.state, words[0], on=words[1] == "enable"))
        return 0
    if words[:2] == ("power", "stayon"):
        return 0
    return call.complain("Available commands:\n    help\n    power\n    wifi\n    bluetooth")


FAMILY: Family = {
    "reboot": reboot,
    "settings": settings,
    "getprop": getprop,
    "setprop": setprop,
    "wm": wm,
    "ime": ime,
    "cmd": cmd,
    "svc": svc,
}
