"""The `opengui completion` command: prints the script with which bash or zsh completes commands and options."""

from __future__ import annotations

import argparse

from bot.cli.exits import OK
from bot.cli.options import parser
from bot.config.settings import Settings


async def completion(options: argparse.Namespace, settings: Settings) -> int:  # noqa: ARG001 - it needs none
    """Print the completion script, which is generated from the parser. Returns the exit code."""
    import shtab  # noqa: PLC0415 - for this command alone

    print(shtab.complete(parser(), shell=options.shell))
    return OK
