"""`opengui restore`: a backup becomes what the service goes on with."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from bot.cli.exits import OK
from bot.settings import Settings
from bot.store.restore import restore as put_back
from bot.texts import say


async def restore(options: argparse.Namespace, settings: Settings) -> int:
    """Put the backup in place and say where the former databases are."""
    copied, aside = await asyncio.to_thread(put_back, settings.data_dir, Path(options.file))
    print(say("cli.restore.done", path=settings.data_dir, number=copied.frames))
    if aside is not None:
        print(say("cli.restore.aside", path=aside))
    return OK
