"""Gives up what a workshop that the service started does not need: the network and root."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Final

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_DUMPABLE: Final = 4
"""PR_SET_DUMPABLE: without it, a process that has left root may not write the id map of its own namespace."""


def leave_network() -> None:
    """Move this process into an empty network namespace. It must have only one thread.

    Raises OSError if the kernel does not allow that.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_NETWORK if uid == 0 else _NEW_USER | _NEW_NETWORK) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    if uid != 0:
        # Ids stay the same, because the one user who may connect is recognised by them.
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")


def leave_root(uid: int) -> None:
    """Change to this user if the process runs as root; the workshop needs no privileges."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        ctypes.CDLL(None).prctl(_DUMPABLE, 1, 0, 0, 0)
