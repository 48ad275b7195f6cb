"""The commands `pair`, `token`, `tokens` and `signout`, which decide who is let in and sign everybody out.

All of them ask the running service: codes and sessions are in its memory, and open pages are disconnected at once.
"""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from typing import Final
from urllib.parse import quote

from bot.cli.control import service_of
from bot.cli.exits import OK
from bot.config.settings import Settings
from bot.texts import say

_PAIRING: Final = "/api/console/pairing"
_TOKENS: Final = "/api/console/tokens"


async def pair(options: argparse.Namespace, settings: Settings) -> int:
    """Print who is waiting to be paired, or let in the person with the given code. Returns the exit code. Raises
    Refused and ServiceGone.
    """
    async with service_of(settings, say("cli.pair.away")) as remote:
        told = await (remote.send(_PAIRING, code=options.code) if options.code else remote.read(_PAIRING))
    print(told["text"])
    return OK


async def token(options: argparse.Namespace, settings: Settings) -> int:
    """Create or revoke an API token. Only the secret goes to standard output. Returns the exit code. Raises Refused and
    ServiceGone.
    """
    async with service_of(settings, say("cli.token.away")) as remote:
        if options.what == "revoke":
            print((await remote.send(f"{_TOKENS}/{quote(options.token, safe='')}/revoke"))["text"])
            return OK
        made = await remote.send(
            "/api/tokens",
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


async def tokens(options: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001 - it has no options
    """List the API tokens. Returns the exit code. Raises ServiceGone."""
    async with service_of(settings, say("cli.token.away")) as remote:
        print((await remote.read(_TOKENS))["text"])
    return OK


async def signout(options: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001 - it has no options
    """End all console sessions. Returns the exit code. Raises Refused and ServiceGone."""
    async with service_of(settings, say("cli.signout.away")) as remote:
        ended = (await remote.send("/api/sign-out", others=True))["ended"]
    print(say("cli.signout.done", number=ended))
    return OK
