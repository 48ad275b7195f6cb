"""What programs say that ask Android, while it starts: adbd and the shell are there long before its services.

Texts: AOSP frameworks/native/cmds/cmd/cmd.cpp and cmds/dumpsys/dumpsys.cpp; settings, wm, am, input and the like are
scripts that call `cmd`.
"""

from __future__ import annotations

from devices.simulator.shell.call import Call

SERVICES = {
    "am": "activity",
    "cmd": "",
    "dumpsys": "",
    "ime": "input_method",
    "input": "input",
    "monkey": "activity",
    "pm": "package",
    "settings": "settings",
    "svc": "",
    "uiautomator": "activity",
    "wm": "window",
}
NO_SERVICE = 20
"""cmd's exit code: NAME_NOT_FOUND is made that by cmdMain."""


async def none_yet(call: Call) -> int:
    """No service is registered yet."""
    name = call.words[0].rpartition("/")[2]
    service = SERVICES[name] or next(iter(call.arguments), "")
    if name == "dumpsys":
        call.complain(f"Can't find service: {service}")
        return 0
    call.complain(f"cmd: Can't find service: {service}")
    return NO_SERVICE
