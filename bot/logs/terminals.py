"""Keeps a terminal from obeying control characters in what people have typed or a phone shows."""

from __future__ import annotations

import io
import re
import sys
from typing import Final, TextIO

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters of both sets (ISO 6429; a terminal may obey 0x9b as it does ESC and a bracket) but for tab and new
line, the signs that end a line elsewhere, and those that turn the direction of the text around them.
"""


def sanitized(text: str) -> str:
    """The text with a visible sign in the place of each that is an order to a terminal."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def sanitize_terminals() -> None:
    """From now on what is printed to a terminal is text alone. What goes into files and pipes stays as it is."""
    sys.stdout, sys.stderr = sanitize_stream(sys.stdout), sanitize_stream(sys.stderr)


def sanitize_stream(stream: TextIO) -> TextIO:
    """The stream itself, or one in its place when it is a terminal; the given one is of no more use then."""
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    form, errors = stream.encoding, stream.errors
    return _Sanitized(stream.detach(), encoding=form, errors=errors, line_buffering=True)


class _Sanitized(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(sanitized(text))
        return len(text)


def write_as_it_is(stream: TextIO, text: str) -> None:
    """Write text with control characters of our own; what it holds of others must have been sanitized."""
    write = super(_Sanitized, stream).write if isinstance(stream, _Sanitized) else stream.write
    write(text)
