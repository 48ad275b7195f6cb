"""Nobody moves a terminal's cursor, or gives it orders, by what he has typed or what a phone shows."""

from __future__ import annotations

import io
import re
import sys
from typing import Final, TextIO

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters of both sets (ISO 6429; a terminal may obey 0x9b as it does ESC and a bracket) but for tab and new
line, and the signs that end a line elsewhere.
"""


def tamed(text: str) -> str:
    """The text with a visible sign in the place of each that is an order to a terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def tame_terminals() -> None:
    """From now on what is printed to a terminal is text alone. What goes into files and pipes stays as it is."""
    sys.stdout, sys.stderr = tame(sys.stdout), tame(sys.stderr)


def tame(stream: TextIO) -> TextIO:
    """The stream itself, or one in its place when it is a terminal; the given one is of no more use then."""
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    form, errors = stream.encoding, stream.errors
    return _Tamed(stream.detach(), encoding=form, errors=errors, line_buffering=True)


class _Tamed(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(tamed(text))
        return len(text)
