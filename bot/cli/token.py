"""`opengui token`: make a token for a program or a person, or revoke one."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from urllib.parse import quote

from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.remote import running_service
from bot.config.settings import Settings
from bot.texts import say


async def token(options: argparse.Namespace, settings: Settings) -> int:
    """Ask the running service, which keeps the tokens. The secret alone goes to standard output. Raises Refused."""
    async with running_service(settings.data_dir) as remote:
        if remote is None:
            print(say("cli.failed", prog="opengui token", why=say("cli.token.away")), file=sys.stderr)
            return UNAVAILABLE
        if options.what == "revoke":
            path = f"/api/console/tokens/{quote(options.token, safe='')}/revoke"
            print((await remote.send(path))["text"])
            return OK
        made = await remote.add_token(
            name=options.token,
            rights=options.right or ["use"],
            phones=options.phone,
            days=options.days,
            person=options.person,
            approves_by_mcp=options.approves_by_mcp,
        )
    until = f"{datetime.fromtimestamp(made['expires']).astimezone():%Y-%m-%d %H:%M}"
    print(say("cli.token.made", name=made["name"], until=until), file=sys.stderr)
    print(made["secret"])
    return OK
