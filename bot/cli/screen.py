"""`opengui screen`: what a phone shows now, as a file."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Final

from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.config.settings import Settings
from bot.texts import say

STANDARD_OUTPUT: Final = "-"


async def screen(options: argparse.Namespace, settings: Settings) -> int:
    """Write the picture. Raises Refused and ServiceGone."""
    given = {"device": options.device} if options.device else {}
    async with service_of(settings) as remote:
        said = await remote.command("screen", **given)
    if options.output == STANDARD_OUTPUT:
        await asyncio.to_thread(sys.stdout.buffer.write, said.picture)
        return OK
    try:
        await asyncio.to_thread(Path(options.output).write_bytes, said.picture)
    except OSError as error:
        raise Refused(say("cli.do.unread", file=options.output, reason=error.strerror)) from error
    print(say("cli.screen.written", file=options.output, shows=" ".join(said.text.split("\n"))))
    return OK
