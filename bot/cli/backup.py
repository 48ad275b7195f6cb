"""`opengui backup`: a copy of everything, also while the service runs."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from bot.cli.exits import OK
from bot.config.settings import Settings
from bot.config.settings_file import SETTINGS_NAME
from bot.store.backup import back_up
from bot.texts import say


async def backup(options: argparse.Namespace, settings: Settings) -> int:
    """Write the backup and say what is in it."""
    file = Path(options.file)
    copied = await asyncio.to_thread(
        back_up, settings.data_dir, file, frames=options.frames, settings=SETTINGS_NAME if options.settings else ""
    )
    pictures = say("cli.backup.pictures", number=copied.frames) if options.frames else say("cli.backup.no_pictures")
    print(say("cli.backup.done", file=file, pictures=pictures))
    return OK
