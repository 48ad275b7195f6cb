"""What helpers are held to: real programs that try to have more."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.process_limits import MEBIBYTE, Limits, limited
from devices.processes import child_environment

pytestmark = pytest.mark.slow


def run(code: str, limits: Limits, **more: str) -> subprocess.CompletedProcess[str]:
    command = limited([sys.executable, "-I", "-c", code], limits)
    return subprocess.run(
        command, env=child_environment(more=more), capture_output=True, text=True, timeout=30, check=False
    )


def test_memory_is_bounded() -> None:
    """Seen failing without `--data`: the program ends well."""
    told = run("x = bytearray(400 * 1024 * 1024)", Limits(memory=128 * MEBIBYTE))
    assert told.returncode != 0
    assert "MemoryError" in told.stderr


def test_files_are_bounded_and_no_core_is_left() -> None:
    code = "import resource as r; print(r.getrlimit(r.RLIMIT_FSIZE), r.getrlimit(r.RLIMIT_CORE))"
    assert run(code, Limits(file_size=5)).stdout == "(5, 5) (0, 0)\n"


def test_the_settings_of_the_service_stay_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen failing with `dict(os.environ)`: the token is printed."""
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "123:abc")
    monkeypatch.setenv("LANG", "C.UTF-8")
    told = run("import os; print(sorted(os.environ))", Limits(), GITHUB_TOKEN="its own").stdout
    assert "TELEGRAM_BOT_TOKEN" not in told
    assert "GITHUB_TOKEN" in told
    assert "LANG" in told
