"""Measures what the processes in a room use, from /proc (https://docs.kernel.org/filesystems/proc.html).

Control groups would count it as well, but a program started by hand has none.
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
"""Page tables, the only trace of addresses that were only read."""
_HIDDEN: Final = b"/dev/zero (deleted)"
"""Memory that processes share without a file. All of it remains while a single page is mapped, and no file shows its
size. The system call filter refuses it, except when a program maps /dev/zero itself.
"""


def processes_of(pid: int) -> list[int]:
    """Return the ids of the process and all its descendants, parents first. A process whose parent has ended counts as
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
    """Return whether these processes together use more than `most` bytes of memory, including swap. Also True if one
    shares memory through /dev/zero, because its size cannot be found out.

    Shared memory counts once. Finding that out takes milliseconds, so it is only done if the sum of what each process
    has mapped exceeds the limit.
    """
    if any(_HIDDEN in _read(pid, "maps") for pid in pids):
        return True
    if sum(_bytes(pid, "status", (*_MAPPED, *_TABLES)) for pid in pids) <= most:
        return False
    return sum(_bytes(pid, "smaps_rollup", _SHARE) + _bytes(pid, "status", _TABLES) for pid in pids) > most


def _bytes(pid: int, name: str, wanted: tuple[bytes, ...]) -> int:
    """Sum these lines, each given in kB."""
    return sum(int(line.split()[1]) * 1024 for line in _read(pid, name).splitlines() if line.startswith(wanted))


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it has ended


def entries_of(pid: int) -> int:
    """Return the number of files and folders in the job's folder. `pid` is a process in the room. 0 if the room does
    not exist yet or is gone.
    """
    root = Path(f"/proc/{pid}/root")
    try:
        if root.samefile("/"):
            return 0  # the room does not exist yet, and this would be a folder of the host
        kept = os.statvfs(root / "work")
    except OSError:
        return 0
    return kept.f_files - kept.f_ffree
