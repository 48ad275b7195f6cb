"""The `opengui password` command: creates the hash to set as CONSOLE_PASSWORD."""

from __future__ import annotations

import argparse
import getpass
import secrets
import sys

from bot.cli.exits import OK, USAGE
from bot.config.settings import Settings
from bot.texts import say
from bot.web.passwords import Password, UnfitPassword
from devices.wording import said, sentence_of

NEW_BYTES = 18
"""Bytes of a generated password: 24 characters, too many to guess."""


async def password(options: argparse.Namespace, settings: Settings) -> int:
    """Ask for a password, or generate one and show it once; print the setting with its hash to standard output. Returns
    the exit code.
    """
    del options, settings
    chosen = _asked(f"{say('cli.password.ask')} ")
    if not chosen:
        chosen = secrets.token_urlsafe(NEW_BYTES)
        print(say("cli.password.made", password=chosen), file=sys.stderr)
    elif sys.stdin.isatty() and _asked(f"{say('cli.password.again')} ") != chosen:
        print(say("cli.failed", prog="opengui", why=say("cli.password.differ")), file=sys.stderr)
        return USAGE
    try:
        kept = Password.of(chosen)
    except UnfitPassword as error:
        why = say("cli.password.unfit", why=said(sentence_of(error)))
        print(say("cli.failed", prog="opengui", why=why), file=sys.stderr)
        return USAGE
    print(f"CONSOLE_PASSWORD={kept}")
    return OK


def _asked(prompt: str) -> str:
    """Read a password without echo; from a pipe, its first line."""
    return getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
