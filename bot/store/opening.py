"""Opens the database that the settings name: SQLite files in the data directory, or a PostgreSQL server."""

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
    """Open the store's database: an SQLite file in `directory`, or, if `url` is given, a PostgreSQL database.

    `owns` makes this process the only service that works with the PostgreSQL database; an SQLite file is owned
    together with its directory. An unreachable server, or another owner, is waited for up to `patience` seconds. With
    `stand_by` another owner is waited for without limit; the callback is called repeatedly with its name.

    Raises StoreError or a subclass.
    """
    if not url:
        return await SQLiteDatabase.open(directory / DATABASE_NAME)
    from bot.store.postgresql.database import PostgresDatabase  # noqa: PLC0415 - an extra

    files = await asyncio.to_thread(own_files_in, directory) if owns else ()
    return await PostgresDatabase.open(url, owns=owns, files=files, stand_by=stand_by, patience=patience)


async def server_of(url: str) -> tuple[str, int, tuple[str, ...]]:
    """Return facts about the PostgreSQL database at this address, as (name, size in bytes, file names).

    The file names are those that the service had in its data directory when it started (`own_files_in`). Raises
    StoreError.
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
    """Return a context manager that opens the checkpoints next to the store; arguments as in `open_database`. Entering
    it raises StoreError or a subclass.
    """
    if not url:
        from bot.store.sqlite.checkpoints import open_checkpoints as open_in_files  # noqa: PLC0415 - LangGraph

        return open_in_files(directory)
    from bot.store.postgresql.checkpoints import open_checkpoints as open_in_server  # noqa: PLC0415 - an extra

    return open_in_server(url, owns=owns)
