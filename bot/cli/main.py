"""Reads the command line and hands over to the command."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module

from bot.chats.installed import installed, model_of
from bot.cli.exits import FAULT, UNAVAILABLE, USAGE, ServiceGone
from bot.cli.options import parser
from bot.cli.terminal import leave_quietly, reader_is_gone, terminal_language, wished
from bot.config.settings import Settings, SettingsError, load_settings
from bot.logs.setup import set_up_logs
from bot.logs.terminals import tame_terminals
from bot.monitoring.tracing import keep_tracing_off
from bot.store.errors import StoreError
from bot.texts import say, speaking
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

Command = Callable[[argparse.Namespace, Settings], Awaitable[int]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        try:
            with speaking(terminal_language(wished(os.environ), os.environ)):
                return _guarded(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return leave_quietly()


def _guarded(arguments: Sequence[str] | None) -> int:
    """The exit code, also of what went wrong. Raises BrokenPipeError when nobody reads what is printed."""
    options = parser().parse_args(arguments)
    try:
        if options.name == "workshop":
            # Before any setting is read: it is to have no secret. Nothing else of the service is loaded for it.
            return int(import_module("bot.cli.workshop").workshop(options))
        return _run(options, load_settings(model=model_of(installed())))
    except SettingsError as error:
        _complain(error)
        return USAGE
    except (StoreError, ServiceGone) as error:
        _complain(error)
        return UNAVAILABLE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, BrokenPipeError) and reader_is_gone():
            raise
        # Through the log, which covers secrets; Python's own trace would not.
        logger.exception("opengui has stopped because of a fault in the program")
        return FAULT


def _complain(error: Exception) -> None:
    print(say("cli.failed", prog="opengui", why=said(sentence_of(error))), file=sys.stderr)


def _run(options: argparse.Namespace, settings: Settings) -> int:
    tame_terminals()
    platforms = installed()
    set_up_logs(
        settings,
        quiet=options.name not in {"run", "host"},
        forms=[form for platform in platforms for form in platform.secrets],
        chatty=[name for platform in platforms for name in platform.chatty],
    )
    keep_tracing_off(os.environ)
    # Only the command that runs is loaded: a list of tasks needs no model, no graph and no adb.
    command: Command = getattr(import_module(f"bot.cli.{options.name}"), options.name)
    with asyncio.Runner(loop_factory=_service_loop() if options.name in {"run", "host"} else None) as runner:
        return runner.run(_awaited(command(options, settings)))


def _service_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes libuv's loop, on which a step takes a twentieth less processor time; None on Windows, which has none.

    A command that is over in a moment does not load another loop for it.
    """
    if sys.platform == "win32":
        return None
    import uvloop  # noqa: PLC0415 - see above

    return uvloop.new_event_loop


async def _awaited(work: Awaitable[int]) -> int:
    return await work
