"""Limits for a program written by others: its environment, and how much of the machine it may use."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from devices.environment import child_environment

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use; None is no limit.

    `memory` is in bytes and counts what a process can write to alone (RLIMIT_DATA): an interpreter that only reserves
    addresses, as Node does, still starts. `processes` counts all of the same user, so it is for a room with a user
    namespace of its own. `cpu_seconds` and `memory` hold for each process, `file_size` in bytes for each file.
    """

    memory: int | None = 256 * MEBIBYTE
    processes: int | None = None
    cpu_seconds: int | None = None
    file_size: int | None = None
    open_files: int | None = 256


class NoLimits(Exception):
    """The machine has no `prlimit` (Debian: util-linux), so nothing can be held to limits."""


def limited(command: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """The command, held to these limits from its first instruction on, with all that it starts. Raises NoLimits.

    No function between fork and exec does this: in a process with threads one of those can hang.
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


def clean_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment without any of the service's settings, and with what `more` names for this program alone."""
    return child_environment(more=more)
