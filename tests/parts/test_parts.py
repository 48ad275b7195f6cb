"""The program does without any of its parts: what is left imports, starts and works."""

from __future__ import annotations

import os
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from tests.parts.copies import PARTS, WITHOUT, command, without

SAMPLE = (
    *("tests/parts/in_a_copy.py", "tests/bot/config/test_places.py", "tests/bot/cards/test_cards.py"),
    *("tests/agent/dialects/test_cases.py", "tests/devices/test_recent.py"),
)
"""All fast tests run with `make test-parts`, without one part at a time."""
TOGETHER = (
    ("bot.fleet", "bot.mcp_servers", "bot.triggers"),
    ("bot.workshop", "bot.webhooks", "devices.virtual_phone", "agent.offline"),
)
"""The parts that are missing at once. Those of different folders import nothing of each other (a contract of
import-linter), so what is left cannot lean on one of a group through another."""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("parts", TOGETHER, ids=",".join)
def test_the_program_works_without(parts: tuple[str, ...], tmp_path: Path) -> None:
    """Seen failing with `from bot.fleet.messages import HOST_NAME` in `bot/checks/service.py`."""
    copy = without(parts, tmp_path / "copy")
    sample = [path for path in SAMPLE if (copy / path).exists()]
    ran = subprocess.run(
        command("pytest", "-q", "-x", "-p", "no:cacheprovider", *sample),
        cwd=copy,
        env={**os.environ, WITHOUT: ",".join(parts)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]


def test_each_part_is_taken_away() -> None:
    assert {*chain(*TOGETHER), *chain(*(PARTS[part] for part in chain(*TOGETHER)))} == {*PARTS}
