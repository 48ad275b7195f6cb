"""Limits for a program written by others: how much of the machine it may use."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use; None means no limit."""

    memory: int | None = 256 * MEBIBYTE
    """Bytes of memory that each process alone can write to (RLIMIT_DATA). Interpreters that only reserve large address
    ranges, as Node does, still start.
    """
    processes: int | None = None
    """Number of processes of the same user, of all programs together; only useful in a sandbox with its own user
    namespace.
    """
    cpu_seconds: int | None = None
    """Seconds of CPU time of each process."""
    file_size: int | None = None
    """Bytes of each file that it writes."""
    open_files: int | None = 256


class NoLimits(Exception):
    """The machine has no `prlimit` program (Debian: util-linux), so limits cannot be applied."""


def limited(command: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Return the command line that runs `command` with these limits, which apply from its first instruction on and to
    all its child processes. Raises NoLimits.

    The limits are not set by a function between fork and exec: in a process with threads, such a function can hang.
    """
    program = shutil.which("prlimit")
    if program is None:
        raise NoLimits
    asked = {
        "data": limits.memory,
        "nproc": limits.processes,
        "cpu": limits.cpu_seconds,
        "fsize": limits.file_size,
        "nofile": limits.open_files,
        "core": 0,
    }
    return (program, *(f"--{name}={value}" for name, value in asked.items() if value is not None), "--", *command)
