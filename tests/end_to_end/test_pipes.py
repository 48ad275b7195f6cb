"""Printing commands and a reader that closes the pipe, as `opengui graph | head` has it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


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


def test_a_reader_that_has_read_enough_ends_the_doctor_quietly(tmp_path: Path) -> None:
    """As `opengui doctor --json | head -1` has it: what is looked at meanwhile is let go, and nothing is complained."""
    with subprocess.Popen(
        [sys.executable, "-m", "bot.cli", "doctor", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ) | {"DATA_DIR": str(tmp_path)},
    ) as ended:
        assert ended.stdout is not None
        assert ended.stderr is not None
        first = json.loads(ended.stdout.readline())
        ended.stdout.close()
        complaint = ended.stderr.read().decode()
        assert (ended.wait(60), complaint) == (141, "")
    assert first["verdict"] == "good"
