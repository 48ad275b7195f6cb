"""A database is made and brought to a made-up next schema under kill -9: it is always of one schema, and whole."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from bot.store.sqlite.database import DATABASE_NAME
from bot.store.sqlite.schema import migrate, migrations
from tests.chaos.migrating import next_schema
from tests.chaos.records import damage, rows
from tests.chaos.test_kills import SEED, say

KILLS = int(os.environ.get("CHAOS_MIGRATION_KILLS", "30"))
"""For each schema to begin with."""
TASKS = 2000
NOTHING = 0
"""The version of a file that is still to be made."""

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(3600)]


def made(directory: Path, version: int) -> None:
    """A database of this version with tasks in it, as a program that knew no more left it."""
    directory.mkdir()
    if version == NOTHING:
        return
    path = directory / DATABASE_NAME
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        migrate(database, path, migrations())
        database.execute("BEGIN")
        for number in range(1, TASKS + 1):
            database.execute(
                "INSERT INTO tasks (text, person_platform, person_id, person_name, origin, anchor, phone,"
                " request, usage, created, changed, state) VALUES (?, 'web', '1', 'Anna', '[]', '', '', '{}', '{}',"
                " 1, 1, 'queued')",
                (f"task {number}",),
            )
        database.execute("INSERT INTO events (source, event, task, seen) SELECT 's', id, id, 1 FROM tasks")
        database.execute("COMMIT")
        migrate(database, path, tuple(each for each in next_schema() if each[0] <= version))


def schema(directory: Path) -> set[tuple[object, ...]]:
    return set(rows(directory, "SELECT type, name, tbl_name FROM sqlite_schema"))


def version_of(directory: Path) -> int:
    found = rows(directory, "PRAGMA user_version")
    return int(str(found[0][0])) if found else NOTHING


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
    *known, newest = (number for number, _ in next_schema())
    fresh = tmp_path / "fresh"
    made(fresh, newest)
    left: Counter[tuple[int, int]] = Counter()
    for version in (NOTHING, *known):
        made(tmp_path / f"{version}", version)
        longest = seconds_of(tmp_path / f"{version}")
        for attempt in range(KILLS):
            directory = tmp_path / f"{version}-{attempt}"
            made(directory, version)
            process = opening(directory)
            go(process)
            try:
                process.communicate(timeout=chance.uniform(0.0, longest))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            assert damage(directory) == []
            reached = version_of(directory)
            left[version, reached] += 1
            assert reached in {version, newest}
            if version != NOTHING:
                assert tasks_in(directory) == [(TASKS, "task 1", "task 999")]
            process = opening(directory)
            go(process)
            told, _ = process.communicate(timeout=60)
            assert told == "open\n"
            assert version_of(directory) == newest
            assert schema(directory) == schema(fresh)
            if version != NOTHING:
                assert tasks_in(directory) == [(TASKS, "task 1", "task 999")]
                assert rows(directory, "SELECT COUNT(*), SUM(told) FROM events") == [(TASKS, TASKS)]
                assert rows(directory, "SELECT COUNT(*) FROM tasks WHERE letters <> length(text)") == [(0,)]
    say(f"{sum(left.values())} kills while migrating; begun and left at version: {dict(sorted(left.items()))}")


def seconds_of(directory: Path) -> float:
    """How long it takes when nothing comes in between."""
    process = opening(directory)
    began = time.monotonic()
    go(process)
    told, _ = process.communicate(timeout=60)
    assert told == "open\n"
    return time.monotonic() - began


def tasks_in(directory: Path) -> list[tuple[object, ...]]:
    return rows(directory, "SELECT COUNT(*), MIN(text), MAX(text) FROM tasks")
