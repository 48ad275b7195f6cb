"""What the processes of a room use of the machine, as the kernel tells anybody: https://docs.kernel.org/filesystems/proc.html.

Control groups would count it too, but a program that a person has started by hand gets none.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_MAPPED: Final = (b"RssAnon:", b"RssShmem:", b"VmSwap:")
_SHARE: Final = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
_TABLES: Final = (b"VmPTE:",)
"""What the kernel keeps of a process's addresses: of those that were only read there is nothing else."""
_HIDDEN: Final = b"/dev/zero (deleted)"
"""Memory that processes share without a file. All of it stays while a single page is mapped, and no file says how much
that is. The filter of system calls refuses it, but for a program that maps /dev/zero itself.
"""


def processes_of(pid: int) -> list[int]:
    """The process and all below it, parents first. Each thread has children of its own; what loses its parent becomes
    a child of the room's first process.
    """
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):
            for thread in Path(f"/proc/{one}/task").iterdir():
                with contextlib.suppress(OSError, ValueError):
                    found += map(int, (thread / "children").read_bytes().split())
    return found


def takes_more_than(most: int, pids: Sequence[int]) -> bool:
    """Whether these processes have more than so many bytes of memory for themselves, swapped ones included.

    What several have in common counts once. Finding that out takes milliseconds, so it is done only where what each has
    mapped would be too much.
    """
    if any(_HIDDEN in _read(pid, "maps") for pid in pids):
        return True
    if sum(_bytes(pid, "status", (*_MAPPED, *_TABLES)) for pid in pids) <= most:
        return False
    return sum(_bytes(pid, "smaps_rollup", _SHARE) + _bytes(pid, "status", _TABLES) for pid in pids) > most


def _bytes(pid: int, name: str, wanted: tuple[bytes, ...]) -> int:
    """The sum of these lines, each of which is in kB."""
    return sum(int(line.split()[1]) * 1024 for line in _read(pid, name).splitlines() if line.startswith(wanted))


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it has ended


def entries_of(pid: int) -> int:
    """How many files and folders there are in the folder of the room of this process."""
    root = Path(f"/proc/{pid}/root")
    try:
        if root.samefile("/"):
            return 0  # the room is not there yet, and a folder of this name on the machine is none of its own
        kept = os.statvfs(root / "work")
    except OSError:
        return 0
    return kept.f_files - kept.f_ffree
