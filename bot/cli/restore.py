"""`opengui restore`: a backup becomes what the service goes on with."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from bot.cli.exits import OK
from bot.settings import Settings
from bot.store.restore import restore as put_back


async def restore(options: argparse.Namespace, settings: Settings) -> int:
    """Put the backup in place and say where the former databases are."""
    copied, aside = await asyncio.to_thread(put_back, settings.data_dir, Path(options.file))
    print(f"Restored into {settings.data_dir}: tasks, checkpoints and {copied.frames} pictures.")
    if aside is not None:
        print(f"What was there before is in {aside}; delete it when you do not need it any more.")
    return OK
