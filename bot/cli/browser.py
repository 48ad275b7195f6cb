"""The `opengui open` command: opens the web console in this machine's browser, signed in."""

from __future__ import annotations

import argparse
import asyncio
import html
import webbrowser
from pathlib import Path
from typing import Final

from bot.cli.exits import OK, UNAVAILABLE, ServiceGone
from bot.config.settings import Settings
from bot.texts import say
from bot.web import handover
from devices.atomic_file import write_atomically

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
