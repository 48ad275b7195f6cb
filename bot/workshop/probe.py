"""Tests whether a room (a sandbox) isolates: runs a job that tries to get out, and checks what the job reports."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from agent.ports.workshop import Job, Lack
from bot.workshop import seccomp
from bot.workshop.job import RoomGone, run
from bot.workshop.room import Room

_LOOK: Final = """
cat {secret} 2>/dev/null && echo leak: a file outside
(echo x > /usr/opengui-probe) 2>/dev/null && echo leak: /usr can be written
(echo x > /opengui-probe) 2>/dev/null && echo leak: / can be written
kill -0 {outside} 2>/dev/null && echo leak: a process outside
[ -n "$OPENGUI_PROBE" ] && echo leak: the environment
grep -qs '[1-9a-z]' /sys/class/net/*/address && echo leak: a network
unshare -Ur true 2>/dev/null && echo leak: new namespaces
mount -t tmpfs x /work 2>/dev/null && echo leak: mounting
echo held
"""
VERSION_S: Final = 5.0
LOOK_S: Final = 10


async def find_room() -> Room | Lack:
    """Return a kind of room that isolates on this machine, or why there is none. Takes about 50 ms; without bubblewrap
    nothing is run.
    """
    if not seccomp.known_machine():
        return Lack.MACHINE
    bwrap = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    if bwrap is None:
        return Lack.NO_BUBBLEWRAP
    if not await _fits(bwrap) or shutil.which("prlimit") is None:
        return Lack.WRONG_BUBBLEWRAP
    found: Lack = Lack.NO_NAMESPACES
    for proc in (True, False):  # containers do not allow rooms their own /proc
        room = Room(bwrap, proc)
        try:
            if await holds(room):
                return room
            found = Lack.LEAKS
        except RoomGone:
            continue
    return found


async def holds(room: Room) -> bool:
    """Return whether a program in such a room can reach nothing outside it. Raises RoomGone if no room can be made."""
    with tempfile.TemporaryDirectory(prefix="opengui-probe-") as folder:
        secret = Path(folder, "secret")
        secret.write_text("outside\n", encoding="utf-8")  # noqa: ASYNC240 - eight bytes
        os.chmod(folder, 0o755)  # noqa: PTH101, S103 - in a coroutine, and it holds nothing
        look = _LOOK.format(secret=secret, outside=os.getpid())
        result = await run(room, Job("shell", look, seconds=LOOK_S))
    return result.ending == "exit" and result.output == "held\n"


async def _fits(bwrap: str) -> bool:
    """Whether the program is bubblewrap 0.8 (as in Debian 12) or later."""
    process = None
    try:
        process = await asyncio.create_subprocess_exec(
            bwrap,
            "--version",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PATH": os.defpath},
        )
        told, _ = await asyncio.wait_for(process.communicate(), VERSION_S)
    except (OSError, TimeoutError):
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        return False
    name, _, version = told.decode("ascii", "replace").strip().partition(" ")
    numbers = version.split(".")
    return name == "bubblewrap" and all(map(str.isdigit, numbers)) and tuple(map(int, numbers)) >= (0, 8)
