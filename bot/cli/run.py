"""The `opengui run` command: runs the service."""

from __future__ import annotations

import argparse
import sys
from contextvars import copy_context

from bot.chats.installed import installed
from bot.cli.exits import OK, UNAVAILABLE
from bot.cli.terminal import cells_of, complain, padded
from bot.config.settings import Settings
from bot.texts import ENGLISH, say, speaking
from bot.wiring.memory import tune_malloc
from bot.wiring.service import UnreachableError, serve
from devices.wording import said, sentence_of


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Run the service until a signal. The console's address is printed to standard output for the operator to open.
    Returns the exit code.
    """
    del options
    tune_malloc()
    terminal = copy_context()
    with speaking(ENGLISH):  # texts for people set their own language; the log has one
        try:
            await serve(settings, installed(), announce=lambda address: terminal.run(_announce, address))
        except UnreachableError as error:
            return terminal.run(complain, said(sentence_of(error)), "opengui run", UNAVAILABLE)
    return OK


def _announce(address: str) -> None:
    """Print the address, on a terminal in a box, so that it stands out from the log."""
    if not sys.stdout.isatty():
        print(say("cli.console", address=address), flush=True)
        return
    lines = (say("cli.console_title"), "", address)
    width = max(map(cells_of, lines))
    edge = "─" * (width + 2)
    inside = "".join(f"│ {padded(line, width)} │\n" for line in lines)
    print(f"\n┌{edge}┐\n{inside}└{edge}┘\n", flush=True)
