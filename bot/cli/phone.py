"""`opengui phone`: virtual phones of their own, for whoever wants some to try things on."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.config.settings import Settings
from bot.texts import say
from devices.virtual_phone.process import NO_FONTS, can_draw


async def phone(options: argparse.Namespace, settings: Settings) -> int:
    """Serve the phones until a signal. They are connected to the first of the adb servers, unless one was named."""
    if not can_draw():
        print(say("cli.failed", prog="opengui", why=say("cli.phone.failed", problem=NO_FONTS)), file=sys.stderr)
        return UNAVAILABLE
    from devices.virtual_phone.runner import run  # noqa: PLC0415 - it loads the fonts

    try:
        await run(options, adb=settings.adb_servers[0])
    except OSError as problem:
        print(say("cli.failed", prog="opengui", why=say("cli.phone.failed", problem=problem)), file=sys.stderr)
        return UNAVAILABLE
    return OK
