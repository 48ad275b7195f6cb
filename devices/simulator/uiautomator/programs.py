"""Programs of the phone that uiautomator2 asks for: `toybox md5sum`."""

from __future__ import annotations

import hashlib

from devices.simulator.shell.call import Call, Family


async def toybox(call: Call) -> int:
    """`toybox md5sum file`; the other programs are called by their own names here."""
    words = call.arguments
    if len(words) != 2 or words[0] != "md5sum":
        call.complain(f"toybox: Unknown command {words[0] if words else ''}")
        return 127
    content = call.phone.files.read(words[1])
    if content is None:
        call.complain(f"md5sum: {words[1]}: No such file or directory")
        return 1
    call.say(f"{hashlib.md5(content, usedforsecurity=False).hexdigest()}  {words[1]}")
    return 0


FAMILY: Family = {"toybox": toybox}
