"""Brings a database to a made-up next schema, in a process of its own and once told to:
`python -m tests.chaos.migrating DIRECTORY`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.store.sqlite.database import DATABASE_NAME, SQLiteDatabase
from bot.store.sqlite.schema import Migrations, migrations

_NEXT = (
    # A column that is filled from others, with an index.
    """
    ALTER TABLE tasks ADD COLUMN letters INTEGER NOT NULL DEFAULT 0;
    UPDATE tasks SET letters = length(text);
    CREATE INDEX tasks_letters ON tasks (letters);
    """,
    # A table that is built anew, with a reference to another, and takes the name of the old one.
    """
    CREATE TABLE events_anew (
        source TEXT NOT NULL,
        event TEXT NOT NULL,
        task INTEGER NOT NULL REFERENCES tasks (id),
        seen REAL NOT NULL,
        told INTEGER NOT NULL CHECK (told IN (0, 1)),
        PRIMARY KEY (source, event)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO events_anew SELECT source, event, task, seen, 1 FROM events;
    DROP TABLE events;
    ALTER TABLE events_anew RENAME TO events;
    """,
)


def next_schema() -> Migrations:
    """This program's schema and two made-up ones behind it."""
    return (*migrations(), *enumerate(_NEXT, migrations()[-1][0] + 1))


async def opened(directory: Path) -> None:
    database = await SQLiteDatabase.open(directory / DATABASE_NAME, next_schema())
    await database.close()


if __name__ == "__main__":
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    asyncio.run(opened(Path(sys.argv[1])))
    sys.stdout.write("open\n")
    sys.stdout.flush()
