"""A test that starts programs, uses the network or waits by the clock says so: else it fails."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = """
import asyncio
import os
import socket
import subprocess

import pytest


def test_program():
    subprocess.run(["true"], check=True)


async def test_program_of_the_loop():
    await (await asyncio.create_subprocess_exec("true")).wait()


def test_fork():
    if not (child := os.fork()):
        os._exit(0)
    os.waitpid(child, 0)


async def test_server():
    (await asyncio.start_server(print, "127.0.0.1", 0)).close()


async def test_request_in_a_thread():
    with socket.socket() as one, pytest.raises(OSError):
        await asyncio.to_thread(one.connect, ("127.0.0.1", 1))


async def test_sleep():
    await asyncio.sleep(0.3)


@pytest.fixture
async def pause():
    yield
    await asyncio.sleep(0.3)


async def test_pause_afterwards(pause):
    pass


def test_nothing():
    pass


async def test_many_turns():
    one, other = socket.socketpair()
    one.close(), other.close()
    for _ in range(9):
        await asyncio.sleep(0.001)


@pytest.mark.usefixtures("virtual_time")
async def test_virtual_time():
    await asyncio.sleep(60)


@pytest.mark.slow
def test_marked():
    subprocess.run(["true"], check=True)


@pytest.fixture
def program(real_world):
    subprocess.run(["true"], check=True)


def test_fixture(program):
    pass
"""
MARKED = {"test_marked", "test_fixture"}
BAD = {
    *("test_program", "test_program_of_the_loop", "test_fork", "test_server", "test_request_in_a_thread"),
    *("test_sleep", "test_pause_afterwards"),
}

pytestmark = pytest.mark.slow


def ran(folder: Path, *arguments: str) -> tuple[set[str], set[str]]:
    """The names of the tests that passed and of those in which something went wrong."""
    sample = folder / "test_sample.py"
    sample.write_text(SAMPLE, encoding="utf-8")
    plugins = ("-p", "tests.fixtures.outside", "-p", "tests.fixtures.rigs", "-p", "no:cacheprovider")
    output = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-rA", "-c", ROOT / "pyproject.toml", *arguments, sample],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    wrong = {*re.findall(r"^(?:ERROR|FAILED) \S*::(\w+)", output, re.MULTILINE)}
    return {*re.findall(r"^PASSED \S*::(\w+)", output, re.MULTILINE)} - wrong, wrong


def test_who_is_not_marked_and_leaves_the_process_fails(tmp_path: Path) -> None:
    """Seen failing without `_listen`: all pass."""
    assert ran(tmp_path) == ({"test_nothing", "test_many_turns", "test_virtual_time", *MARKED}, BAD)


def test_marked_tests_are_left_out_of_the_fast_ones(tmp_path: Path) -> None:
    passed, wrong = ran(tmp_path, "-m", "not slow")
    assert not MARKED & (passed | wrong)
    assert wrong == BAD
