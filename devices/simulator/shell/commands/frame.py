"""`screencap`: the frame as raw pixels or PNG. Source: AOSP frameworks/base/cmds/screencap/screencap.cpp."""

from __future__ import annotations

from devices.simulator.shell.call import Call, Family


async def screencap(call: Call) -> int:
    """`screencap [-p] [file]`; with .png in the file's name it writes PNG too."""
    target = next((word for word in call.arguments if not word.startswith("-")), "")
    as_png = "-p" in call.arguments or target.endswith(".png")
    frame = await call.phone.frame()
    data = frame.png if as_png else frame.raw
    if call.phone.faults.truncate:
        data = data[: len(data) // 2]
    if target:
        call.phone.files.write(target, data)
    else:
        call.send(data)
    return 0


FAMILY: Family = {"screencap": screencap}
