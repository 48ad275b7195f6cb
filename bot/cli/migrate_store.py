"""The `opengui migrate-store` command: moves a stopped service's record (its stored data) from its SQLite files to
PostgreSQL.
"""

from __future__ import annotations

import argparse

from bot.cli.exits import OK, Refused
from bot.config.record import record_url
from bot.config.settings import Settings
from bot.store.directory import DataDirectory
from bot.store.errors import StoreError
from bot.store.sqlite.database import DATABASE_NAME
from bot.texts import say, words


async def migrate_store(options: argparse.Namespace, settings: Settings) -> int:
    """Copy the record (the service's stored data) and print the number of rows per table. The SQLite files are not
    changed. Returns the exit code. Raises Refused if no PostgreSQL address is set; also SettingsError and StoreError.
    """
    del options
    url = record_url(settings)
    if not url:
        raise Refused(words("cli.migrate_store.nowhere"))
    from bot.store.postgresql.copying import THREADS, copy_in  # noqa: PLC0415 - an extra

    with DataDirectory(settings.data_dir):
        if not (settings.data_dir / DATABASE_NAME).is_file():
            raise StoreError(words("backup.missing", name=DATABASE_NAME, path=settings.data_dir))
        counts = await copy_in(settings.data_dir, url)
    for table, rows in counts.items():
        if rows:
            print(f"  {table if table != THREADS else say('cli.migrate_store.checkpoints')}: {rows:,}")
    print(say("cli.migrate_store.done", path=settings.data_dir / DATABASE_NAME))
    return OK
