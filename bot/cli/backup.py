"""`opengui backup`: a copy of everything, also while the service runs."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from bot.cli.exits import OK
from bot.settings import Settings
from bot.store.backup import back_up


async def backup(options: argparse.Namespace, settings: Settings) -> int:
    """Write the backup and say what is in it."""
    file = Path(options.file)
    copied = await asyncio.to_thread(back_up, settings.data_dir, file, frames=options.frames)
    pictures = f"{copied.frames} pictures" if options.frames else "no pictures (--frames takes them along)"
    print(
        f"{file}: tasks and checkpoints, {pictures}. Everything people asked is in it: keep it as safe as the service."
    )
    return OK
