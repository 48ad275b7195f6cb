"""`opengui run`: the service."""

from __future__ import annotations

import argparse

from bot.cli.exits import OK
from bot.memory import keep_small
from bot.service import serve
from bot.settings import Settings


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serve until a signal. The console's address goes to standard output, for the operator to open."""
    del options
    keep_small()
    await serve(settings, announce=lambda address: print(f"Console: {address}", flush=True))
    return OK
