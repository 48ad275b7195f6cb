"""What others have written reaches a terminal as text alone."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.logs.lines import sanitize_stream
from tests.bot.world import ANNA, Clock, a_world
from tests.fixtures.databases import database_url

ORDERS = "\x1b]0;owned\x07\x9b31m\x08 open\tsettings"


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """A terminal: the end of who looks at it, and the end of who writes."""
    master, slave = os.openpty()
    yield master, slave
    os.close(master)


def test_a_terminal_gets_no_orders(ends: tuple[int, int]) -> None:
    """Seen failing with `_Sanitized` writing what it is given."""
    master, slave = ends
    with sanitize_stream(os.fdopen(slave, "w", encoding="utf-8")) as stream:
        assert stream.isatty()
        print(f"{ORDERS}\nsecond", file=stream)
        shown = ""
        while not shown.endswith("second\r\n"):  # a terminal hands on what has come so far
            shown += os.read(master, 4096).decode()
    assert shown.replace("\N{REPLACEMENT CHARACTER}", "") == "]0;owned31m open\tsettings\r\nsecond\r\n"


def test_a_file_gets_what_was_written(tmp_path: Path) -> None:
    with (tmp_path / "lines").open("w", encoding="utf-8") as stream:
        assert sanitize_stream(stream) is stream


@pytest.mark.slow
async def test_the_command_line_sanitizes_its_terminal(tmp_path: Path, ends: tuple[int, int]) -> None:
    """Seen failing without `sanitize_terminals` in `_run`: the window was then called "owned"."""
    async with a_world(tmp_path, clock=Clock(time.time())) as world:
        await world.end(await world.working(person=replace(ANNA, name=ORDERS)))
    master, slave = ends
    environment = {
        "PATH": os.environ["PATH"],
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": database_url(tmp_path),
        "LANGUAGE": "en",
    }
    line = [sys.executable, "-m", "bot.cli", "usage", "--by", "person"]
    try:
        run = await asyncio.create_subprocess_exec(*line, stdout=slave, stderr=slave, env=environment)
        async with asyncio.timeout(60):
            assert await run.wait() == 0
    finally:
        os.close(slave)
    shown = os.read(master, 8192).decode()
    assert "owned" in shown
    assert not {"\x1b", "\x07", "\x9b", "\x08"} & set(shown)


@pytest.mark.slow
async def test_what_is_printed_in_colours_gives_no_other_orders(tmp_path: Path, ends: tuple[int, int]) -> None:
    """Seen failing: the colours of the command line itself came to its terminal as signs in their place."""
    async with a_world(tmp_path, clock=Clock(time.time())) as world:
        await world.end(await world.working(text=f"first{ORDERS}\n  1/30 sent it\u202e"))
    master, slave = ends
    environment = {
        "PATH": os.environ["PATH"],
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": database_url(tmp_path),
        "LANGUAGE": "en",
        "TERM": "xterm",
    }
    try:
        run = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot.cli", "show", stdout=slave, stderr=slave, env=environment
        )
        async with asyncio.timeout(60):
            assert await run.wait() == 0
    finally:
        os.close(slave)
    shown = os.read(master, 8192).decode()
    assert re.search("\x1b\\[32m[^\x1b]+\x1b\\[0m", shown.splitlines()[0])
    assert not {"\x07", "\x9b", "\x08", "\u202e", "\N{REPLACEMENT CHARACTER}"} & set(shown)
    assert "]0;owned" in shown.splitlines()[1]
    assert shown.splitlines()[1].endswith("1/30 sent it")
