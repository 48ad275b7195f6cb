"""Properties of the terminal: language, colours, columns (a Chinese character takes two), and a closed pipe."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TextIO

from agent.run import Outcome
from bot.cli.exits import OK, USAGE
from bot.logs.lines import sanitized, write_as_it_is
from bot.texts import LANGUAGES, language_of, say


def cells_of(text: str) -> int:
    """Return how many terminal cells the text takes; a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1 for sign in text)


def padded(text: str, width: int) -> str:
    """Return the text, padded with spaces to that many cells."""
    return text + " " * max(0, width - cells_of(text))


class Style(StrEnum):
    """Text styles of a terminal with colours, as SGR parameters (ECMA-48)."""

    DIM = "2"
    GOOD = "32"
    WARN = "33"
    SAID = "36"
    DECLINED = "35"
    BAD = "31"
    ASKS = "1;36"


STYLE_OF: Final = {
    Outcome.SUCCEEDED: Style.GOOD,
    Outcome.ANSWERED: Style.SAID,
    Outcome.UNVERIFIED: Style.WARN,
    Outcome.DECLINED: Style.DECLINED,
    Outcome.BLOCKED: Style.WARN,
    Outcome.FAILED: Style.BAD,
    Outcome.CANCELLED: Style.DIM,
}


def has_colours(environment: Mapping[str, str]) -> bool:
    """Return whether standard output is a terminal whose user wants colours (no-color.org)."""
    return sys.stdout.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of text with its style, for a terminal with colours."""

    text: str
    style: Style


def print_styled(*pieces: str | Styled) -> None:
    """Print the pieces as one line, each in its style if standard output shows colours.

    The styles are the only control sequences that reach the terminal: those in the text of the pieces are removed.
    """
    if not has_colours(os.environ):
        print(*(piece if isinstance(piece, str) else piece.text for piece in pieces), sep="", flush=True)
        return
    shown = (
        sanitized(piece) if isinstance(piece, str) else f"\x1b[{piece.style}m{sanitized(piece.text)}\x1b[0m"
        for piece in pieces
    )
    write_as_it_is(sys.stdout, "".join((*shown, "\n")))
    sys.stdout.flush()


CLOSED: Final = 128 + signal.SIGPIPE
"""The shell's exit code for a command ended by SIGPIPE, which Python ignores, so that it gets an error instead."""


def reader_is_gone() -> bool:
    """Return whether the program that reads this command's output has closed the pipe. A broken connection to anything
    else does not count.
    """
    return any(_is_closed(stream) for stream in (sys.stdout, sys.stderr))


def leave_quietly() -> int:
    """Discard the remaining buffered output, because Python would otherwise report an error at exit. Returns the exit
    code.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if _is_closed(stream):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return CLOSED


def _is_closed(stream: TextIO) -> bool:
    """Whether the reader has closed the stream: the writing end is then in error (poll(2), POLLERR)."""
    asked = select.poll()
    asked.register(stream.fileno(), select.POLLOUT)
    return any(state & select.POLLERR for _, state in asked.poll(0))


def complain(why: object, prog: str = "opengui", code: int = USAGE) -> int:
    """Print to standard error why a command could not be carried out, and return the exit code `code`."""
    print(say("cli.failed", prog=prog, why=why), file=sys.stderr)
    return code


def print_rows(
    rows: Sequence[dict[str, Any]], line: Callable[[dict[str, Any]], str], nothing: str, *, as_json: bool
) -> int:
    """Print each row, as a JSON object or as the line that `line` makes of it; without rows, and not as JSON, print
    `nothing`. Returns the exit code.
    """
    for row in rows:
        print(json.dumps(row, ensure_ascii=False) if as_json else line(row))
    if not rows and not as_json:
        print(nothing)
    return OK


AUTO: Final = "auto"
_NONE: Final = ("C", "POSIX")
"""Locales without a language (locale(7)); a codeset may follow after a dot."""
_TOLD_BY: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Variables with the locale for messages; the first one that is set counts (setlocale(3))."""

_SETTING: Final = re.compile(r"^LANGUAGE=[\"']?(\w+)", re.MULTILINE)


def terminal_locale(environment: Mapping[str, str]) -> str:
    """Return the locale for messages, such as "zh_CN.UTF-8"; "" if it has no language.

    As in GNU gettext, LANGUAGE (a list, best first) takes precedence unless the locale has no language.
    """
    locale = next((environment[name] for name in _TOLD_BY if environment.get(name)), "")
    if locale.partition(".")[0] in {"", *_NONE}:
        return ""
    first = environment.get("LANGUAGE", "").partition(":")[0]
    return locale if first in {"", AUTO} else first


def terminal_language(setting: str, environment: Mapping[str, str]) -> str:
    """Return the language to use: `setting` if the text catalogue has that language, else the terminal's."""
    return setting if setting in LANGUAGES else language_of(AUTO, terminal_locale(environment).partition(".")[0])


def wished(environment: Mapping[str, str], env_file: Path) -> str:
    """Return the value of the setting LANGUAGE from the environment or, if that has no language of this program, the
    settings file; "" if it is not set. It is read before the other settings, because those may be invalid and the error
    has to be in this language.
    """
    if (value := environment.get("LANGUAGE", "").strip()) in {AUTO, *LANGUAGES}:
        return value
    try:
        found = _SETTING.findall(env_file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return ""
    return str(found[-1]) if found else ""
