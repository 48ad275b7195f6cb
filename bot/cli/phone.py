"""The `opengui phone` command: runs virtual phones for trying things out."""

from __future__ import annotations

import argparse
import sys

from bot.cli.exits import OK, UNAVAILABLE
from bot.config.extras import lack_of
from bot.config.settings import Settings
from bot.texts import say
from devices.extras import Extra, is_installed
from devices.virtual import ABSENT, virtual_phones
from devices.wording import said


async def phone(options: argparse.Namespace, settings: Settings) -> int:
    """Serve virtual phones until a signal, connected to the first adb server unless an option names another. Returns
    the exit code.
    """
    part = virtual_phones()
    if part is None or not is_installed(Extra.VIRTUAL_PHONE):
        why = said(lack_of(Extra.VIRTUAL_PHONE)) if part is not None else say("cli.phone.failed", problem=ABSENT)
        print(say("cli.failed", prog="opengui", why=why), file=sys.stderr)
        return UNAVAILABLE
    try:
        await part.run(options, adb=settings.adb_servers[0])
    except OSError as problem:
        print(say("cli.failed", prog="opengui", why=say("cli.phone.failed", problem=problem)), file=sys.stderr)
        return UNAVAILABLE
    return OK
