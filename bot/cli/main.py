"""Reads the command line and runs the command."""

from __future__ import annotations

import argparse
import asyncio
import atexit
import gc
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from bot.chats.installed import installed, model_of
from bot.cli.exits import FAULT, UNAVAILABLE, Refused, ServiceGone
from bot.cli.options import ENV_FILE, parser
from bot.cli.terminal import complain, leave_quietly, reader_is_gone, terminal_language, wished
from bot.config.installation import places
from bot.config.settings import Settings, SettingsError, load_settings
from bot.logs.lines import sanitize_terminals
from bot.logs.setup import set_up_logs
from bot.monitoring.tracing import keep_tracing_off
from bot.part import Command as PartCommand
from bot.store.errors import StoreError
from bot.texts import say, speaking, words
from devices.wording import said, sentence_of

logger = logging.getLogger(__name__)

Command = Callable[[argparse.Namespace, Settings], Coroutine[Any, Any, int]]
_CODE: Final = {
    **dict.fromkeys(("cancel", "pause", "resume", "again"), ("control", "control")),
    **{name: ("tasks", name) for name in ("show", "usage")},
    **{name: ("people", name) for name in ("pair", "token", "tokens", "signout", "password")},
    **{name: ("phones", name) for name in ("devices", "screen", "phone")},
    **{name: ("schedules", name) for name in ("schedule", "watch")},
    **{name: ("agent", name) for name in ("tools", "graph")},
    "answer": ("questions", "answer"),
    "save": ("skill", "save"),
    "logs": ("service", "logs"),
    "restore": ("backup", "restore"),
    "open": ("people", "open_console"),
    "migrate-store": ("backup", "migrate_store"),
}
"""Module and function of each command whose module or function does not have the command's name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # Objects that are alive at the end go with the process; collecting them took a seventh of a command's time.
    atexit.register(gc.freeze)
    try:
        try:
            with speaking(terminal_language(wished(os.environ, _settings_file(arguments)), os.environ)):
                return _guarded(arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        return leave_quietly()


def _settings_file(arguments: Sequence[str] | None) -> Path:
    """Find the settings file before the line is parsed, because it sets the language of the help."""
    first, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    name, _, value = first.partition("=")
    named = (value or "".join(rest[:1])) if name == ENV_FILE else ""
    return Path(named) if named else places().settings


def _settings(named: Path | None) -> Settings:
    """Load the named settings file, or the one of this directory. Raises SettingsError, also if the named file does not
    exist.
    """
    if named is not None and not named.is_file():
        raise SettingsError(words("settings.no_file", file=named))
    return load_settings(named or places().settings, model_of(installed()))


def _guarded(arguments: Sequence[str] | None) -> int:
    """Run the command and turn errors into exit codes. Raises BrokenPipeError if the reader of the output has gone."""
    options = parser().parse_args(arguments)
    try:
        of_part: PartCommand | None = getattr(options, "of_part", None)
        if of_part is not None and of_part.is_sealed:
            # A sealed command must hold no secret, so it runs before any setting is read and loads nothing else of the
            # service.
            return int(resolve_name(of_part.code)(options))
        return _run(options, _settings(options.settings_file))
    except SettingsError as error:
        return complain(said(sentence_of(error)))
    except Refused as error:
        return complain(said(sentence_of(error)), f"opengui {options.name}")
    except (StoreError, ServiceGone) as error:
        return complain(said(sentence_of(error)), code=UNAVAILABLE)
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, BrokenPipeError) and reader_is_gone():
            raise
        # Through the log, which redacts secrets; Python's own traceback would not.
        logger.exception("opengui has stopped because of a fault in the program")
        return FAULT


def _run(options: argparse.Namespace, settings: Settings) -> int:
    sanitize_terminals()
    of_part: PartCommand | None = getattr(options, "of_part", None)
    stays = options.name == "run" if of_part is None else of_part.stays
    if stays:
        _say_what_starts(settings, options.settings_file or places().settings)
    platforms = installed()
    set_up_logs(
        settings,
        quiet=not stays,
        forms=[form for platform in platforms for form in platform.secrets],
        chatty=[name for platform in platforms for name in platform.chatty],
    )
    keep_tracing_off(os.environ)
    # Only the module of the command is loaded: a list of tasks needs no model, no graph and no adb.
    module, function = _CODE.get(options.name, (options.name, options.name))
    with _uncollected():
        command: Command = resolve_name(f"bot.cli.{module}:{function}" if of_part is None else of_part.code)
    with asyncio.Runner(loop_factory=_service_loop() if stays else None) as runner:
        return runner.run(command(options, settings))


def _say_what_starts(settings: Settings, file: Path) -> None:
    """Print a line before the slow loading, only at a terminal; elsewhere the log reports readiness."""
    if not sys.stderr.isatty():
        return
    where = {"data": settings.data_dir.absolute(), "file": file.absolute()}
    line = say("cli.starting", **where) if file.is_file() else say("cli.starting_bare", **where)
    print(line, file=sys.stderr, flush=True)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Turn the garbage collector off while modules load: they all stay, and collecting took a fifth of the start."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _service_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return the factory of libuv's event loop, which takes a twentieth less processor time per step; None on Windows,
    where it does not exist. Short commands do not load it.
    """
    if sys.platform == "win32":
        return None
    import uvloop  # noqa: PLC0415 - see above

    return uvloop.new_event_loop
