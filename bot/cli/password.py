"""`opengui password`: makes what CONSOLE_PASSWORD is set to."""

from __future__ import annotations

import argparse
import getpass
import secrets
import sys

from bot.chats.web.passwords import Password, UnfitPassword
from bot.cli.exits import OK, USAGE
from bot.settings import Settings

NEW_BYTES = 18
"""24 characters that nobody guesses."""


async def password(options: argparse.Namespace, settings: Settings) -> int:
    """Ask for a password, or make one and show it once; print its hash alone to standard output."""
    del options, settings
    chosen = _asked("Password for the console (empty: a new one is made): ")
    if not chosen:
        chosen = secrets.token_urlsafe(NEW_BYTES)
        print(f"The new password, shown only now: {chosen}", file=sys.stderr)
    elif sys.stdin.isatty() and _asked("Once more: ") != chosen:
        print("opengui: the two are not the same. Nothing was made.", file=sys.stderr)
        return USAGE
    try:
        kept = Password.of(chosen)
    except UnfitPassword as error:
        print(f"opengui: {error}. Nothing was made.", file=sys.stderr)
        return USAGE
    print(f"CONSOLE_PASSWORD={kept}")
    return OK


def _asked(prompt: str) -> str:
    """What is typed, unseen; from a pipe its first line."""
    return getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
