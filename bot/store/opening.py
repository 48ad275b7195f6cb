"""Opens the record where the settings say that it is: in SQLite's files in the data directory, or in PostgreSQL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from bot.store.connection import Database
from bot.store.directory import own_files_in
from bot.store.sqlite.database import DATABASE_NAME, SQLiteDatabase

if TYPE_CHECKING:
    from bot.store.checkpoints import Checkpoints


async def open_database(
    directory: Path,
    url: str = "",
    *,
    owns: bool = False,
    stand_by: Callable[[str], None] | None = None,
    patience: float = 0.0,
) -> Database:
    """The database of the store: a file in the directory, or the one at this address, which one service alone `owns`
    (that of a directory is owned with it). A server that is away is waited for `patience` seconds; another owner too,
    or with `stand_by`, which is told again and again what that is called, as long as there is one.

    Raises StoreError or one of its kinds.
    """
    if not url:
        return await SQLiteDatabase.open(directory / DATABASE_NAME)
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - an extra

    files = await asyncio.to_thread(own_files_in, directory) if owns else ()
    return await PostgresDatabase.open(url, owns=owns, files=files, stand_by=stand_by, patience=patience)


async def server_of(url: str) -> tuple[str, int, tuple[str, ...]]:
    """The name of the database at this address, how many bytes it takes on its disk, and what the service that works
    with it had in files when it began (`own_files_in`). Raises StoreError.
    """
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - an extra
    from bot.store.postgresql.server import Server  # noqa: PLC0415 - the same

    server = Server(url)
    database = PostgresDatabase(server)
    try:
        size = await database.size()
        is_made = await database.fetch("SELECT to_regclass('opengui_schema') IS NOT NULL")
        files = await database.fetch("SELECT files FROM opengui_schema") if is_made[0][0] else []
        return server.name, size, tuple(name for row in files for name in json.loads(row["files"]))
    finally:
        await database.close()


def open_checkpoints(directory: Path, url: str = "", *, owns: bool = False) -> AbstractAsyncContextManager[Checkpoints]:
    """The checkpoints beside it, for one that `owns` both. Opening them raises StoreError or one of its kinds."""
    if not url:
        from bot.store.sqlite.checkpoints import open_checkpoints as open_in_files  # noqa: PLC0415 - LangGraph

        return open_in_files(directory)
    from bot.store.postgresql.checkpoints import open_checkpoints as open_in_server  # noqa: PLC0415 - an extra

    return open_in_server(url, owns=owns)
