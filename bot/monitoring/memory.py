"""Measures how much more memory the service can use before a limit of the machine, its control group or the process is
reached.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

LITTLE: Final = 64 * 1024 * 1024
"""Bytes of free memory below which that is reported. One look at a phone of 1080×2400 takes 10.4 MB raw, 7.8 MB as a
picture and some more, and several phones are looked at concurrently.
"""
PROC: Final = Path("/proc")
GROUPS: Final = Path("/sys/fs/cgroup")
"""Where version 2 of control groups is mounted; version 1 is not considered."""


def memory_left(proc: Path = PROC, groups: Path = GROUPS) -> int | None:
    """Return the bytes until the nearest limit; None if no limit can be read. Blocks for less than a millisecond."""
    return min((*_machine(proc), *_group(proc, groups), *_process(proc)), default=None)


def _machine(proc: Path) -> Iterator[int]:
    yield from _kilobytes(proc / "meminfo", "MemAvailable:")


def _process(proc: Path) -> Iterator[int]:
    """Yield what the limits `ulimit -d` and `ulimit -v` leave."""
    for limit, used in ((resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")):
        soft, _ = resource.getrlimit(limit)
        if soft != resource.RLIM_INFINITY:
            for taken in _kilobytes(proc / "self/status", used):
                yield max(0, soft - taken)


def _group(proc: Path, groups: Path) -> Iterator[int]:
    """Yield what `MemoryHigh`, `MemoryMax` or a container's limit leave, for the process's control group and those
    around it.

    Pages of files that were not used recently are freed before memory is refused, so they do not count.
    """
    for line in _lines(proc / "self/cgroup"):
        if not line.startswith("0::/"):
            continue
        own = groups / line.removeprefix("0::/").strip()
        for group in (own, *own.parents):
            if not group.is_relative_to(groups):
                break
            used = sum(_numbers(group / "memory.current")) - sum(_stat(group, "inactive_file"))
            for name in ("memory.high", "memory.max"):
                for most in _numbers(group / name):
                    yield max(0, most - used)


def _stat(group: Path, name: str) -> Iterator[int]:
    for line in _lines(group / "memory.stat"):
        if line.startswith(f"{name} "):
            yield int(line.split()[1])


def _numbers(path: Path) -> Iterator[int]:
    """Yield the number in the file; nothing for "max"."""
    return (int(line) for line in _lines(path) if line.strip().isdecimal())


def _kilobytes(path: Path, name: str) -> Iterator[int]:
    return (int(line.split()[1]) * 1024 for line in _lines(path) if line.startswith(name))


def _lines(path: Path) -> list[str]:
    with suppress(OSError):
        return path.read_text(encoding="ascii").splitlines()
    return []
