"""Where the graphs keep their checkpoints: a SQLite file of their own, beside the store's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from bot.store.errors import StoreCorrupt, StoreError

CHECKPOINTS_NAME = "checkpoints.sqlite3"
BUSY_MS = 15_000
"""Milliseconds to wait for another writer; the saver sets none, and a backup may hold the file for seconds."""


@asynccontextmanager
async def open_checkpoints(directory: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """The saver on `directory`/checkpoints.sqlite3. Raises StoreCorrupt when that file is damaged or none of SQLite's,
    and StoreError when it cannot be used; it is then as it was.
    """
    path = directory / CHECKPOINTS_NAME
    try:
        # Tried out first: aiosqlite leaves a thread behind when SQLite cannot open the file.
        await asyncio.to_thread(_touch, path)
    except OSError as error:
        raise _unusable(path, str(error.strerror)) from error
    async with aiosqlite.connect(path) as connection:
        # Only plain data and LangGraph's own types are read. LANGGRAPH_STRICT_MSGPACK says the same, but counts only
        # where it was set before anything imported LangGraph.
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        try:
            # Looked at before anything is written: a damaged file is left alone.
            found = next(iter(await connection.execute_fetchall("PRAGMA quick_check(1)")))[0]
            if found != "ok":
                raise _damaged(path)
            await saver.setup()
            await connection.execute_fetchall(f"PRAGMA busy_timeout={BUSY_MS}")
            await connection.execute_fetchall("PRAGMA synchronous=NORMAL")
        except aiosqlite.OperationalError as error:
            raise _unusable(path, str(error)) from error
        except aiosqlite.DatabaseError as error:
            raise _damaged(path) from error
        yield saver
        # A cancelled graph can leave its write open; nobody else could write then.
        async with saver.lock:
            await connection.commit()


def _touch(path: Path) -> None:
    """Open the file for writing, and leave it as it is."""
    path.open("ab").close()


def _unusable(path: Path, reason: str) -> StoreError:
    return StoreError(f"The file {path} could not be used ({reason}). Check disk space and file rights.")


def _damaged(path: Path) -> StoreCorrupt:
    return StoreCorrupt(
        f"The file {path} is damaged or no SQLite database. Nothing in it was changed. "
        "Move it away and start again: unfinished tasks then begin anew."
    )
