"""`opengui pair`: who waits to be let in, and letting one in by the code."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.config.settings import Settings
from bot.texts import say


async def pair(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service: codes are in its memory alone."""
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            path = "/api/console/pairing"
            told = await (remote.send(path, code=options.code) if options.code else remote.read(path))
            print(told["text"])
            return OK
    print(say("cli.failed", prog="opengui pair", why=say("cli.pair.away")), file=sys.stderr)
    return UNAVAILABLE
