"""The program does without each of its parts: what is left imports, starts and works."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.parts.copies import PARTS, WITHOUT, command, without

SAMPLE = (
    *("tests/parts/in_a_copy.py", "tests/bot/config/test_places.py", "tests/bot/cards/test_cards.py"),
    *("tests/agent/dialects/test_cases.py", "tests/devices/test_recent.py"),
)
"""All fast tests run with `make test-parts`."""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", PARTS)
def test_the_program_works_without(part: str, tmp_path: Path) -> None:
    """Seen failing with `from bot.fleet.messages import HOST_NAME` in `bot/checks/service.py`."""
    copy = without(part, tmp_path / "copy")
    sample = [path for path in SAMPLE if (copy / path).exists()]
    ran = subprocess.run(
        command("pytest", "-q", "-x", "-p", "no:cacheprovider", *sample),
        cwd=copy,
        env={**os.environ, WITHOUT: part},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
