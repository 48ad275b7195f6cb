"""`opengui pair`: who waits to be let in, and letting one in by the code."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.settings import Settings


async def pair(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service: codes are in its memory alone."""
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            print(await remote.command("pair", code=options.code))
            return OK
    print("opengui pair: No service is running, so nobody waits: codes end with it.", file=sys.stderr)
    return UNAVAILABLE
