"""The `opengui screen` command: saves a phone's current screen to a file."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Final
from urllib.parse import quote

from bot.cli.control import service_of
from bot.cli.exits import OK, Refused
from bot.cli.remote import Remote
from bot.config.settings import Settings
from bot.texts import listed, say

STANDARD_OUTPUT: Final = "-"


async def screen(options: argparse.Namespace, settings: Settings) -> int:
    """Write the screenshot. Returns the exit code. Raises Refused and ServiceGone."""
    async with service_of(settings) as remote:
        phone = options.device or await _meant(remote)
        picture = await remote.screen(phone)
        now = await remote.read(f"/api/v1/phones/{quote(phone, safe='')}")
    if options.output == STANDARD_OUTPUT:
        await asyncio.to_thread(sys.stdout.buffer.write, picture)
        return OK
    try:
        await asyncio.to_thread(Path(options.output).write_bytes, picture)
    except OSError as error:
        raise Refused(say("cli.do.unread", file=options.output, reason=error.strerror)) from error
    print(say("cli.screen.written", file=options.output, shows=f"{now['name']} {now['app_name'] or now['app']}"))
    return OK


async def _meant(remote: Remote) -> str:
    """Choose the only phone, or else the latest task's. Raises Refused."""
    phones: dict[str, str] = {row["id"]: row["name"] for row in await remote.phones()}
    if not phones:
        raise Refused(say("phone.none"))
    if len(phones) == 1:
        return next(iter(phones))
    tasks = await remote.tasks()
    if tasks and tasks[0]["phone"] in phones:
        return str(tasks[0]["phone"])
    raise Refused(say("screen.which", names=listed(phones.values())))
