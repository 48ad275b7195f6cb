"""The terminal: its language, columns in which a Chinese character takes the room of two letters, and a reader that
closes the pipe.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, TextIO

from agent.outcome import Outcome
from bot.logs.terminals import sanitized, write_as_it_is
from bot.texts import LANGUAGES, language_of


def cells_of(text: str) -> int:
    """How many cells of a terminal the text takes."""
    return sum(2 if unicodedata.east_asian_width(sign) in {"W", "F"} else 1 for sign in text)


def padded(text: str, width: int) -> str:
    """The text with blanks behind it up to that many cells."""
    return text + " " * max(0, width - cells_of(text))


class Style(StrEnum):
    """How a piece of text looks in a terminal that has colours, as its SGR parameters (ECMA-48)."""

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
    """Whether standard output is a terminal that is to have colours (no-color.org)."""
    return sys.stdout.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of text with the style in which a terminal with colours shows it."""

    text: str
    style: Style


def print_styled(*pieces: str | Styled) -> None:
    """Print the pieces as one line, each in its style where standard output shows colours.

    Only the styles reach a terminal as orders: the text of each piece is made harmless, as everywhere.
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
"""What a shell tells of a command that SIGPIPE has ended. Python ignores that signal and gets an error instead."""


def reader_is_gone() -> bool:
    """Whether nobody reads any more what is printed: a broken connection to somewhere else is another matter."""
    return any(_is_closed(stream) for stream in (sys.stdout, sys.stderr))


def leave_quietly() -> int:
    """Print nothing more: what is still buffered goes nowhere, else Python would complain on its way out."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if _is_closed(stream):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return CLOSED


def _is_closed(stream: TextIO) -> bool:
    """The end to write to has an error as soon as the one to read from is closed (poll(2), POLLERR)."""
    asked = select.poll()
    asked.register(stream.fileno(), select.POLLOUT)
    return any(state & select.POLLERR for _, state in asked.poll(0))


AUTO: Final = "auto"
_NONE: Final = ("C", "POSIX")
"""Locales of no language (locale(7)); they may have a codeset behind a dot."""
_TOLD_BY: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where the locale of messages stands, the first one that is set (setlocale(3))."""

_SETTING: Final = re.compile(r"^LANGUAGE=[\"']?(\w+)", re.MULTILINE)


def terminal_locale(environment: Mapping[str, str]) -> str:
    """The locale for messages, such as "zh_CN.UTF-8"; "" when it has no language.

    LANGUAGE goes first unless there is no locale at all, as GNU gettext has it: a list, the best language first.
    """
    locale = next((environment[name] for name in _TOLD_BY if environment.get(name)), "")
    if locale.partition(".")[0] in {"", *_NONE}:
        return ""
    first = environment.get("LANGUAGE", "").partition(":")[0]
    return locale if first in {"", AUTO} else first


def terminal_language(setting: str, environment: Mapping[str, str]) -> str:
    """A language of the catalogue. `setting` is one of them, or anything else to follow the terminal."""
    return setting if setting in LANGUAGES else language_of(AUTO, terminal_locale(environment).partition(".")[0])


def wished(environment: Mapping[str, str], env_file: Path) -> str:
    """LANGUAGE as the settings will have it; looked up before they are read, since they can be wrong."""
    if (value := environment.get("LANGUAGE", "").strip()) in {AUTO, *LANGUAGES}:
        return value
    try:
        found = _SETTING.findall(env_file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return ""
    return str(found[-1]) if found else ""
