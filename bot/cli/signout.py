"""`opengui signout`: everybody who is signed in to the web console has to sign in again."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.settings import Settings


async def signout(options: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001 - it has no options
    """Ask the running service, so that open pages are cut off at once."""
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            print(f"Sessions of the console that have ended: {await remote.sign_out()}")
            return OK
    print("opengui signout: No service is running. Start it, then sign everybody out.", file=sys.stderr)
    return UNAVAILABLE
