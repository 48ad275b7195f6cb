"""The program as others have it: of another version, or on a machine whose clock is wrong."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
PACKAGES = ("agent", "bot", "devices")
SPEAKS = "SPEAKS: Final = 1"


@dataclass(frozen=True)
class OtherProgram:
    """`directory` has its packages; `first` is done before any of them is loaded."""

    directory: Path
    first: str = ""

    async def begin(self, arguments: Sequence[str], environment: Mapping[str, str]) -> asyncio.subprocess.Process:
        """A process of it, with its errors among what it prints."""
        # What is run by -c finds packages in its directory before all others.
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            f"{self.first}\nfrom bot.cli.main import main\nraise SystemExit(main())",
            *arguments,
            cwd=self.directory,
            env={**environment, "PYTHONPATH": str(self.directory), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )


def of_version(number: int, directory: Path) -> OtherProgram:
    """The program as it will be when hub and hosts speak this version, in a directory of its own."""
    for package in PACKAGES:
        shutil.copytree(PROJECT / package, directory / package, ignore=shutil.ignore_patterns("__pycache__"))
    messages = directory / "bot/fleet/messages.py"
    was = messages.read_text()
    assert was.count(SPEAKS) == 1
    messages.write_text(was.replace(SPEAKS, f"SPEAKS: Final = {number}"))
    return OtherProgram(directory)


def with_clock(ahead: float) -> OtherProgram:
    """The program on a machine whose clock is ahead of this one's by so many seconds."""
    return OtherProgram(PROJECT, f"import time; right = time.time; time.time = lambda: right() + {ahead}")
