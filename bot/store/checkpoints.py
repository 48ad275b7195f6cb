"""Where the graphs keep their checkpoints: a SQLite file of their own, beside the store's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bot.store.errors import StoreCorrupt

CHECKPOINTS_NAME = "checkpoints.sqlite3"
BUSY_MS = 15_000
"""Milliseconds to wait for another writer; the saver sets none, and a backup may hold the file for seconds."""


@asynccontextmanager
async def open_checkpoints(directory: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """The saver on `directory`/checkpoints.sqlite3. Raises StoreCorrupt when that file is none of SQLite's."""
    path = directory / CHECKPOINTS_NAME
    async with aiosqlite.connect(path) as connection:
        saver = AsyncSqliteSaver(connection)
        try:
            await saver.setup()
            await connection.execute_fetchall(f"PRAGMA busy_timeout={BUSY_MS}")
            await connection.execute_fetchall("PRAGMA synchronous=NORMAL")
        except aiosqlite.DatabaseError as error:
            raise StoreCorrupt(
                f"The file {path} is damaged or no SQLite database. Nothing in it was changed. "
                "Move it away and start again: unfinished tasks then begin anew."
            ) from error
        yield saver
        # A cancelled graph can leave its write open; nobody else could write then.
        async with saver.lock:
            await connection.commit()
