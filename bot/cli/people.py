"""The commands `pair`, `token`, `tokens`, `signout`, `password` and `open`, which decide who is let in, and sign people
in to the console and out of it.

All of them ask the running service: codes and sessions are in its memory, and open pages are disconnected at once.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import html
import secrets
import sys
import webbrowser
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from bot.cli.control import service_of
from bot.cli.exits import OK, UNAVAILABLE, ServiceGone
from bot.cli.terminal import complain
from bot.config.settings import Settings
from bot.texts import say
from bot.web import handover
from bot.web.passwords import Password, UnfitPassword
from devices.atomic_file import write_atomically
from devices.wording import said, sentence_of

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
        return complain(say("cli.password.differ"))
    try:
        kept = Password.of(chosen)
    except UnfitPassword as error:
        return complain(say("cli.password.unfit", why=said(sentence_of(error))))
    print(f"CONSOLE_PASSWORD={kept}")
    return OK


def _asked(prompt: str) -> str:
    """Read a password without echo; from a pipe, its first line."""
    return getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")


PAGE: Final = "open.html"
"""Page that redirects to the console. The browser gets this file's name, because an address with the token in it would
show in the process list; only the owner can read the file.
"""


async def open_console(options: argparse.Namespace, settings: Settings) -> int:
    """Open the console, at a task's replay if one is named. Returns the exit code. Raises ServiceGone if no service has
    left its address.
    """
    note = await asyncio.to_thread(handover.read, settings.data_dir)
    if note is None:
        raise ServiceGone(say("cli.remote.none", directory=settings.data_dir))
    where = f"#task-{options.task}" if options.task else ""
    page = await asyncio.to_thread(_page, settings.data_dir, f"{note.url}/?token={note.token}{where}")
    if await asyncio.to_thread(webbrowser.open, page.as_uri()):
        print(say("cli.open.done", address=note.url))
        return OK
    print(say("cli.open.no_browser", address=note.url, file=page))
    return UNAVAILABLE


def _page(directory: Path, address: str) -> Path:
    page = (directory / PAGE).absolute()
    leads = f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(address)}"><title>opengui</title>'
    write_atomically(page, leads.encode())
    return page
