"""What is said before a command does anything: the first line of a start, and the nearest command to a wrong one."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from bot.cli.exits import UNAVAILABLE, USAGE
from bot.cli.main import main
from bot.cli.options import parser
from bot.store.directory import DataDirectory
from bot.texts import speaking

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


@pytest.mark.parametrize("command", [(), *((name,) for name in ("do", "token", "watch", "host", "restore"))])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_line_of_the_help_is_a_sentence(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...], language: str
) -> None:
    with speaking(language), pytest.raises(SystemExit):
        parser().parse_args([*command, "--help"])
    told = capsys.readouterr().out.partition("\n\n")[2]
    # A line that begins at the left is a heading or an example; one further to the right goes on with the one before.
    lines = re.split(r"\n(?= {0,4}\S|\n|$)", told)
    about = [line for line in lines if re.match(r" {2,4}(-\w, |--|[\w-]+  )", line)]
    assert about
    assert all(re.search("[.。]$", line) for line in about), about


def test_the_commands_are_listed_by_what_they_are_about(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    told = capsys.readouterr().out
    groups = re.findall(r"^  (\w+):$", told, re.MULTILINE)
    assert groups == ["tasks", "phones", "skills", "people", "service"]
    group_of = {}
    for line in told.splitlines():
        if heading := re.fullmatch(r"  (\w+):", line):
            group = heading[1]
        elif command := re.match(r"    ([a-z-]+)", line):
            group_of[command[1]] = group
    assert (group_of["show"], group_of["fleet"], group_of["skill"]) == ("tasks", "phones", "skills")
    assert (group_of["token"], group_of["run"], group_of["compare-models"]) == ("people", "service", "service")


def test_a_wrong_line_says_where_its_examples_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["answer"])
    assert ended.value.code == USAGE
    assert capsys.readouterr().err.endswith("Examples and all options: opengui answer --help\n")
