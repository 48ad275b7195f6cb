"""Printing commands and a reader that closes the pipe, as `opengui graph | head` has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("command", "buffered"), [("graph", True), ("tasks", True), ("tasks", False), ("--help", True)]
)
def test_a_closed_pipe_ends_the_command_quietly(tmp_path: Path, command: str, buffered: bool) -> None:
    """Seen failing (code 70 and a trace, or code 120 and a complaint) with the handling in `main` taken out."""
    reading, writing = os.pipe()
    os.close(reading)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    environment |= {"DATA_DIR": str(tmp_path)}
    if not buffered:
        environment["PYTHONUNBUFFERED"] = "1"
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "bot.cli", command],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr.decode()) == (141, "")
