"""Processor time and memory of other processes, as Linux tells them (proc(5))."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_AFTER_NAME = 2
"""The first field behind the name in brackets is number 3; processor time in user mode is 14, in the kernel 15."""
_USER, _KERNEL = 14 - _AFTER_NAME - 1, 15 - _AFTER_NAME - 1


@dataclass(frozen=True)
class Process:
    """One process by its number."""

    pid: int

    @property
    def seconds(self) -> float:
        """Processor time so far, all threads together, in user mode and in the kernel."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[_USER]) + int(fields[_KERNEL])) / _TICKS

    @property
    def peak_megabytes(self) -> float:
        """The most memory that it has held at any time (VmHWM)."""
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
        raise RuntimeError(f"process {self.pid} tells no memory")


def with_words(words: str, *, program: str = "", parent: int | None = None) -> Process:
    """The process with these words behind a program of this name, `parent`'s own if given. Raises LookupError."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            above = int((entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended meanwhile
        if words in line and program in line.partition(" ")[0] and parent in {None, above}:
            return Process(int(entry.name))
    raise LookupError(words)
