"""Which of several screens a phone shows itself on: foldables have two, and `screencap` takes the first unless told."""

from __future__ import annotations

import re

from devices.adb.shell import Shell
from devices.wording import words

WARNING = b"Multiple displays were found"
"""How `screencap` begins to say so, before the picture (AOSP frameworks/base/cmds/screencap, since Android 10)."""
# AOSP DisplayViewport.toString: display 0 is the one that apps and touches are on, whichever screen shows it now.
_IN_USE = re.compile(
    r"DisplayViewport\{(?:type=\w+, )?valid=true, (?:isActive=true, )?displayId=0, uniqueId='local:(\d+)'"
)


async def in_use(shell: Shell) -> str:
    """The number by which `screencap -d` knows that screen, empty when the phone does not tell it.

    Raises as `Shell.run`.
    """
    told = await shell.run("dumpsys display | grep 'DisplayViewport{'", doing=words("phone.doing.picture"))
    found = _IN_USE.search(told.out)
    return found.group(1) if found else ""
