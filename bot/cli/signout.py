"""`opengui signout`: everybody who is signed in to the web console has to sign in again."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.config.settings import Settings
from bot.texts import say


async def signout(options: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001 - it has no options
    """Ask the running service, so that open pages are cut off at once."""
    async with running_service(settings.data_dir) as remote:
        if remote is not None:
            print(say("cli.signout.done", number=await remote.sign_out()))
            return OK
    print(say("cli.failed", prog="opengui signout", why=say("cli.signout.away")), file=sys.stderr)
    return UNAVAILABLE
