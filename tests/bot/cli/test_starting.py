"""What is said before a command does anything: the first line of a start, and the nearest command to a wrong one."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from bot.cli.exits import UNAVAILABLE, USAGE
from bot.cli.main import main
from bot.store.directory import DataDirectory

LIMIT = 60.0


async def _start(data: Path, *, stderr: int) -> int:
    """`opengui run` with this data directory, which somebody else has; its exit code."""
    environment = {"PATH": os.environ["PATH"], "DATA_DIR": str(data), "LC_ALL": "C.UTF-8"}
    with DataDirectory(data):
        run = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot.cli", "run"), stdout=stderr, stderr=stderr, env=environment
        )
        return await asyncio.wait_for(run.wait(), LIMIT)


@pytest.mark.slow
async def test_a_start_at_a_terminal_says_at_once_what_starts_and_where_its_data_is(tmp_path: Path) -> None:
    master, slave = os.openpty()
    try:
        assert await _start(tmp_path / "data", stderr=slave) == UNAVAILABLE
        first, second = os.read(master, 4096).decode().splitlines()[:2]
    finally:
        os.close(slave)
        os.close(master)
    assert first.startswith(f"Starting; this takes a few seconds. Data: {tmp_path / 'data'}. ")
    assert "in use by another process" in second


@pytest.mark.slow
async def test_a_journal_gets_no_line_for_a_terminal(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("w", encoding="utf-8") as file:
        assert await _start(tmp_path / "data", stderr=file.fileno()) == UNAVAILABLE
    assert said.read_text(encoding="utf-8").startswith("opengui: The data directory")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("tsks", 'There is no command "tsks". Did you mean "tasks"? All commands: opengui --help'),
        ("frobnicate", 'There is no command "frobnicate". All commands: opengui --help'),
    ],
)
def test_a_command_that_is_not_there_is_answered_with_the_nearest(
    typed: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([typed])
    assert ended.value.code == USAGE
    assert capsys.readouterr().err.endswith(f"\nopengui: {told}\n")


def test_a_wrong_line_says_where_its_examples_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["answer"])
    assert ended.value.code == USAGE
    assert capsys.readouterr().err.endswith("Examples and all options: opengui answer --help\n")
