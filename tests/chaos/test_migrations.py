"""A database of each former schema is brought up to date under kill -9: it is always of one schema, and whole."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from bot.store.schema import migrations
from bot.store.store import DATABASE_NAME
from tests.chaos.records import damage, rows
from tests.chaos.test_kills import SEED, say

KILLS = int(os.environ.get("CHAOS_MIGRATION_KILLS", "3"))
"""For each former schema."""
LONGEST_S = 0.08
"""Bringing the oldest schema up to date takes about so long."""
TASKS = 200

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(3600)]


def old_database(directory: Path, version: int) -> None:
    """A database as the program of that time left it."""
    directory.mkdir()
    with closing(sqlite3.connect(directory / DATABASE_NAME, isolation_level=None)) as made:
        made.execute("PRAGMA journal_mode = WAL")
        for number, script in migrations():
            if number <= version:
                made.executescript(script)
        made.execute(f"PRAGMA user_version = {version}")
        for number in range(1, TASKS + 1):
            made.execute(
                "INSERT INTO tasks (text, person_platform, person_id, person_name, origin, anchor, phone, quick,"
                " max_steps, usage, created, changed, state) VALUES (?, 'web', '1', 'Anna', '[]', '', '', 0, 60, '{}',"
                " 1, 1, 'queued')",
                (f"task {number}",),
            )


def schema(directory: Path) -> set[tuple[object, ...]]:
    return set(rows(directory, "SELECT type, name, tbl_name FROM sqlite_schema"))


def version_of(directory: Path) -> int:
    return int(str(rows(directory, "PRAGMA user_version")[0][0]))


def opening(directory: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos.migrating", str(directory)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_a_kill_leaves_one_schema_or_the_next(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    known = [number for number, _ in migrations()]
    fresh = tmp_path / "fresh"
    old_database(fresh, known[-1])
    left: Counter[int] = Counter()
    for version in known[:-1]:
        for attempt in range(KILLS):
            directory = tmp_path / f"{version}-{attempt}"
            old_database(directory, version)
            process = opening(directory)
            go(process)
            try:
                process.communicate(timeout=chance.uniform(0.0, LONGEST_S))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            left[version_of(directory)] += 1
            assert version_of(directory) in known
            assert damage(directory) == []
            assert rows(directory, "SELECT COUNT(*) FROM tasks") == [(TASKS,)]
            process = opening(directory)
            go(process)
            told, _ = process.communicate(timeout=60)
            assert told == "open\n"
            assert version_of(directory) == known[-1]
            assert schema(directory) == schema(fresh)
            assert rows(directory, "SELECT COUNT(*), MIN(text), MAX(text) FROM tasks") == [(TASKS, "task 1", "task 99")]
    say(f"{sum(left.values())} kills while migrating; left at version: {dict(sorted(left.items()))}")
