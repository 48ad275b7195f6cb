"""The `opengui backup` command: copies all data into one file, also while the service runs."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.cli.exits import OK
from bot.cli.written import written_files, written_lines
from bot.config.record import record_url
from bot.config.settings import Settings
from bot.config.settings_file import SETTINGS_NAME
from bot.store.backup import back_up
from bot.texts import say


async def backup(options: argparse.Namespace, settings: Settings) -> int:
    """Write the backup and print what it contains. Returns the exit code. Raises StoreError and SettingsError."""
    file = Path(options.file)
    written = await asyncio.to_thread(written_files, settings)
    async with _record(settings) as record:
        copied = await asyncio.to_thread(
            back_up,
            settings.data_dir,
            file,
            frames=options.frames,
            settings=SETTINGS_NAME if options.settings else "",
            written=written,
            record=record,
        )
    print(say("cli.restore.brings", file=file))
    print(f"  {say('cli.backup.databases')}")
    for key, lines in written_lines(copied.written, settings.data_dir):
        names = "" if key == "documents" or not lines else f" ({', '.join(lines)})"
        print(f"  {say(f'cli.restore.part.{key}', number=len(lines))}{names}")
    print(f"  {say('cli.backup.pictures', number=copied.frames) if options.frames else say('cli.backup.no_pictures')}")
    print(f"  {say('cli.backup.settings') if options.settings else say('cli.backup.no_settings')}")
    print(say("cli.backup.done"))
    return OK


@asynccontextmanager
async def _record(settings: Settings) -> AsyncIterator[Path | None]:
    """Yield a folder with a copy of the record from PostgreSQL, or None if the record is in the data directory."""
    if not (url := record_url(settings)):
        yield None
        return
    from bot.store.postgresql.copying import copy_out  # noqa: PLC0415 - an extra

    with TemporaryDirectory(prefix="opengui-backup-") as folder:
        await copy_out(url, Path(folder))
        yield Path(folder)
