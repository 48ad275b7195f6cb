"""`opengui password` in a process of its own, as an operator calls it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot.web.passwords import Password

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]


def made(typed: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bot.cli", "password"]
    where = {"PYTHONPATH": str(REPOSITORY), "HOME": str(directory)}
    return subprocess.run(
        command, input=typed, env=where, cwd=directory, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_chosen_password_becomes_a_hash_and_is_not_shown(tmp_path: Path) -> None:
    done = made("correct horse battery\n", tmp_path)
    name, _, value = done.stdout.strip().partition("=")
    assert (done.returncode, name) == (0, "CONSOLE_PASSWORD")
    assert Password.of(value).matches("correct horse battery")
    assert "horse" not in done.stdout + done.stderr


def test_a_new_one_is_shown_once_and_not_with_the_hash(tmp_path: Path) -> None:
    done = made("\n", tmp_path)
    shown = done.stderr.strip().rpartition(" ")[2]
    assert len(shown) == 24
    assert shown not in done.stdout
    assert Password.of(done.stdout.strip().partition("=")[2]).matches(shown)


def test_a_short_one_is_refused(tmp_path: Path) -> None:
    done = made("short\n", tmp_path)
    assert (done.returncode, done.stdout) == (64, "")
    assert "at least 12 characters" in done.stderr
