"""`opengui tokens`: who works with the service through a token."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.config.settings import Settings
from bot.texts import say


async def tokens(options: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001 - it has no options
    """Ask the running service, which keeps them."""
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            print((await remote.read("/api/console/tokens"))["text"])
            return OK
    print(say("cli.failed", prog="opengui tokens", why=say("cli.token.away")), file=sys.stderr)
    return UNAVAILABLE
