"""The sandbox ("room") of a job: bubblewrap with separate namespaces, in which only the job's folder is writable.

The folder exists only in the room's memory: files are copied in at the start, come out as an untrusted tar, and
disappear with the room. Nothing is written on the host.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agent.ports.workshop import Job
from bot.process_limits import MEBIBYTE, Limits, limited
from bot.workshop import seccomp

MEMORY: Final = 256 * MEBIBYTE
FOLDER: Final = 64 * MEBIBYTE
"""Bytes of the folder, including /tmp, which lies in it."""
LIMITS: Final = Limits(memory=MEMORY, processes=48, file_size=16 * MEBIBYTE, open_files=64)
WORK: Final = "/work"
_JOB: Final = "/job"
_PATHS: Final = "/usr/local/bin:/usr/bin:/bin"
_SHARED: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")
_RUN: Final = (
    f'{{ timeout --signal=KILL "$@"; }} >&2 </dev/null; code=$?; '
    f"cd {WORK} && tar --format=ustar --exclude=./.tmp -cf - . 2>/dev/null; exit $code"
)
"""Shell script that runs the job in the room: its output goes to standard error, its files to standard output."""


@dataclass(frozen=True, slots=True)
class Room:
    """How rooms are made on this machine. `proc` says whether each room gets its own /proc, which is not possible in a
    container.
    """

    bwrap: str
    proc: bool

    def command(self, job: Job, files: ExitStack) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Return the command that starts the job in a room, and the file descriptors that the process has to inherit;
        `files` closes these later.
        """
        passed: list[int] = []

        def given(content: bytes) -> str:
            number = os.memfd_create("workshop", 0)
            files.callback(os.close, number)
            with os.fdopen(number, "wb", closefd=False) as file:
                file.write(content)
            os.lseek(number, 0, os.SEEK_SET)
            passed.append(number)
            return str(number)

        arguments = [*self._made_of(), "--size", str(FOLDER), "--tmpfs", WORK, "--dir", f"{WORK}/.tmp"]
        arguments += ["--symlink", f"{WORK}/.tmp", "/tmp"]  # noqa: S108 - that of the room
        for file in job.files:
            arguments += ["--perms", "0644", "--file", given(file.content), f"{WORK}/{file.path}"]
        arguments += ["--perms", "0444", "--file", given(job.code.encode("utf-8", "replace")), f"{_JOB}/code"]
        arguments += ["--remount-ro", "/", "--chdir", WORK, "--seccomp", given(seccomp.program())]
        run = limited([*_interpreter(job), f"{_JOB}/code"], LIMITS)
        arguments += ["--", "sh", "-c", _RUN, "sh", str(job.seconds), *run]
        return (self.bwrap, *arguments), tuple(passed)

    def _made_of(self) -> Sequence[str]:
        arguments = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
        arguments += ["--cap-drop", "ALL", "--uid", "1000", "--gid", "1000", "--hostname", "workshop", "--clearenv"]
        for name, value in (("PATH", _PATHS), ("HOME", WORK), ("LANG", "C.UTF-8"), ("PYTHONPATH", WORK)):
            arguments += ["--setenv", name, value]
        arguments += ["--setenv", "PYTHONDONTWRITEBYTECODE", "1", "--ro-bind", "/usr", "/usr"]
        for name in ("/bin", "/sbin", "/lib", "/lib64"):
            path = Path(name)
            if path.is_symlink():
                arguments += ["--symlink", str(path.readlink()), name]
            elif path.is_dir():
                arguments += ["--ro-bind", name, name]
        for name in _SHARED:
            arguments += ["--ro-bind-try", name, name]
        if not _has_python() and os.access(sys.base_prefix, os.R_OK | os.X_OK):
            arguments += ["--ro-bind", sys.base_prefix, sys.base_prefix]
        arguments += ["--proc", "/proc"] if self.proc else []
        return [*arguments, "--dev", "/dev", "--remount-ro", "/dev"]


def _has_python() -> bool:
    return shutil.which("python3", path=_PATHS) is not None


def _interpreter(job: Job) -> Sequence[str]:
    if job.program == "python":
        return ("python3" if _has_python() else f"{sys.base_prefix}/bin/python3", "-u")
    return ("bash" if shutil.which("bash", path=_PATHS) else "sh",)
