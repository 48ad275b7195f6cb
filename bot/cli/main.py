"""Reads the command line and hands over to the command."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from bot.cli.errors import ServiceGone
from bot.cli.exits import FAULT, UNAVAILABLE, USAGE
from bot.cli.pipes import leave_quietly, reader_is_gone
from bot.logs import set_up_logs
from bot.settings import Settings, SettingsError, load_settings
from bot.store.errors import StoreError
from bot.watching.tracing import keep_tracing_off
from devices.simulator.options import add_options as add_phone_options

logger = logging.getLogger(__name__)

Command = Callable[[argparse.Namespace, Settings], Awaitable[int]]


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint ends with the exit code for wrong usage."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        try:
            return _guarded(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return leave_quietly()


def _guarded(arguments: Sequence[str] | None) -> int:
    """The exit code, also of what went wrong. Raises BrokenPipeError when nobody reads what is printed."""
    options = _parser().parse_args(arguments)
    try:
        return _run(options, load_settings())
    except SettingsError as error:
        print(f"opengui: {error}", file=sys.stderr)
        return USAGE
    except (StoreError, ServiceGone) as error:
        print(f"opengui: {error}", file=sys.stderr)
        return UNAVAILABLE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, BrokenPipeError) and reader_is_gone():
            raise
        # Through the log, which covers secrets; Python's own trace would not.
        logger.exception("opengui has stopped because of a fault in the program")
        return FAULT


def _run(options: argparse.Namespace, settings: Settings) -> int:
    set_up_logs(settings, quiet=options.name != "run")
    keep_tracing_off(os.environ)
    # Only the command that runs is loaded: a list of tasks needs no model, no graph and no adb.
    command: Command = getattr(import_module(f"bot.cli.{options.name}"), options.name)
    return asyncio.run(_awaited(command(options, settings)))


async def _awaited(work: Awaitable[int]) -> int:
    return await work


def _number(text: str) -> int:
    """A number from 1. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError("a number from 1 is expected")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="opengui", description="Hand a task to an Android phone.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="name", parser_class=_Parser)

    def add(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text)

    add("run", "Start the service: chats, web console and phones.")
    one = add("do", "Do one task and show its steps. The exit code tells the outcome.")
    one.add_argument("task", metavar="TASK", help="what is to be done, in your own words")
    one.add_argument(
        "--device", default="", metavar="NAME", help="the phone, by name, id or serial; several as a,b, or all"
    )
    one.add_argument(
        "--file",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="a file that goes to the phone with the task; may be given several times",
    )
    one.add_argument("--quick", action="store_true", help="straight to the phone, without intent and plan")
    one.add_argument("--json", action="store_true", help="one JSON object per line")
    one.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="TEXT",
        help="the answer to the next question (allow or deny for an approval); may be given several times",
    )
    listed = add("tasks", "List recent tasks.")
    listed.add_argument("--json", action="store_true", help="one JSON object per line")
    listed.add_argument("--limit", type=_number, default=20, metavar="N", help="how many (20)")
    attached = add("devices", "List the phones.")
    attached.add_argument("--json", action="store_true", help="one JSON object per line")
    waiting = add("pair", "List who waits to be let in, or let one in by the code; the service must run.")
    waiting.add_argument("code", nargs="?", default="", metavar="CODE", help="the code that the person was given")
    used = add("usage", "Sum up what tasks took.")
    used.add_argument(
        "--by", choices=("day", "person", "phone", "model"), default="day", help="what is summed up by (day)"
    )
    used.add_argument("--days", type=_number, default=30, metavar="N", help="how many days back, with today (30)")
    used.add_argument("--json", action="store_true", help="one JSON object per line")
    planned = add("schedules", "List what is given again at set times.")
    planned.add_argument("--json", action="store_true", help="one JSON object per line")
    add_phone_options(add("phone", "Start virtual phones to try things on, until Ctrl-C."))
    add("password", "Make what CONSOLE_PASSWORD is set to, from a password that you choose or a new one.")
    add("signout", "End every session of the web console; the service must run.")
    add("setup", "Ask for what is needed, try each answer, and write .env.")
    add("graph", "Print the agent's graphs as Mermaid.")
    looked = add("doctor", "Check everything and say how to mend what is wrong.")
    looked.add_argument("--json", action="store_true", help="one JSON object per line")
    looked.add_argument("--mend", action="store_true", help="put back what a crashed run left on phones")
    saved = add("backup", "Copy tasks and checkpoints into one file; the service may run meanwhile.")
    saved.add_argument("file", metavar="FILE", help="the file to write; it must not be there yet")
    saved.add_argument("--frames", action="store_true", help="screenshots and files too")
    made = add("service", "Make this program a service of this machine (systemd), or take that back.")
    made.add_argument("what", choices=("install", "uninstall"), help="tell what is to be done")
    made.add_argument("--apply", action="store_true", help="do it")
    made.add_argument("--root", default="/", metavar="DIR", help="another root than this machine's, for packages")
    made.add_argument("--overwrite", action="store_true", help="replace files that differ; they are kept as NAME.old")
    put_back = add("restore", "Put a backup in the place of what is there. The service must be stopped.")
    put_back.add_argument("file", metavar="FILE", help="what `opengui backup` has written")
    return parser
