"""Starts a workshop under the limits of its unit or of a container; root alone can set these up.

`python -m tests.workshop.confined KIND SOCKET UID`.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

from bot.workshop import seccomp
from bot.workshop.__main__ import serve

_NEW_MOUNTS = 0x20000
_NO_NEW_PRIVILEGES = 38
_SECCOMP, _FILTER = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def main(kind: str, path: str, uid: str) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    if kind in {"unit", "container"}:
        # Both lay something over parts of /proc: a room can then have no /proc of its own.
        assert libc.unshare(_NEW_MOUNTS) == 0
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "--bind", "/dev/null", "/proc/cpuinfo"], check=True)
        subprocess.run(["mount", "--bind", "/proc/sys", "/proc/sys"], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", "/proc/sys"], check=True)
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    assert libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    if kind == "filtered":
        # As RestrictNamespaces of the service's unit and Docker's own filter: neither unshare nor mount.
        lines = seccomp.program()
        assert libc.prctl(_SECCOMP, _FILTER, ctypes.byref(_Program(len(lines) // 8, lines)), 0, 0) == 0
    return serve(argparse.Namespace(socket=Path(path), user=uid, child=kind != "filtered"))


if __name__ == "__main__":
    os.environ.pop("NOTIFY_SOCKET", None)
    sys.exit(main(*sys.argv[1:]))
