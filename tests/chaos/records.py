"""What is left behind, read from the database itself, whatever the service says."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.fixtures.databases import ON_POSTGRESQL, database_url


@dataclass(frozen=True)
class TaskRow:
    """A task as the database has it."""

    number: int
    text: str
    state: str
    started: float | None
    outcome: str


def rows(data: Path, sql: str) -> list[tuple[object, ...]]:
    """What a statement finds in the task database; nothing while there is none."""
    if ON_POSTGRESQL:
        from tests.fixtures.postgresql import rows_of  # noqa: PLC0415 - an extra

        return rows_of(database_url(data), sql)
    path = data / "opengui.sqlite3"
    if not path.exists():
        return []
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        return list(connection.execute(sql))


def change(data: Path, sql: str) -> bool:
    """Whether a statement has changed anything in the task database."""
    if ON_POSTGRESQL:
        return bool(rows(data, f"{sql} RETURNING 1"))
    with closing(sqlite3.connect(data / "opengui.sqlite3", timeout=10)) as connection, connection:
        return connection.execute(sql).rowcount > 0


def tasks(data: Path) -> list[TaskRow]:
    """All tasks, in the order of acceptance."""
    found = rows(data, "SELECT id, text, state, started, COALESCE(outcome, '') FROM tasks ORDER BY id")
    return [
        TaskRow(int(str(number)), str(text), str(state), started if isinstance(started, float) else None, str(outcome))
        for number, text, state, started, outcome in found
    ]


def damage(data: Path) -> list[str]:
    """What SQLite complains about, in every database of the directory."""
    told: list[str] = []
    for path in sorted(data.glob("*.sqlite3")):
        with closing(sqlite3.connect(path, timeout=10)) as connection:
            told += [f"{path.name}: {row[0]}" for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    return told
