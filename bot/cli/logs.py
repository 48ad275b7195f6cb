"""The `opengui logs` command: prints the latest lines of the running service's log."""

from __future__ import annotations

import argparse
import sys

from bot.cli.control import service_of
from bot.cli.exits import OK
from bot.config.settings import Settings


async def logs(options: argparse.Namespace, settings: Settings) -> int:
    """Print the lines; with --follow, continue until Ctrl-C or the service stops. Returns the exit code. Raises
    ServiceGone.
    """
    async with service_of(settings) as remote:
        async for line in remote.log(options.lines, follow=options.follow):
            sys.stdout.write(line)
            sys.stdout.flush()
    return OK
