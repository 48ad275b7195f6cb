"""Prevents control characters in texts from people or phones from reaching a terminal."""

from __future__ import annotations

import io
import re
import sys
from typing import Final, TextIO

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters of both sets (ISO 6429; terminals may treat 0x9b like ESC and a bracket) except tab and newline,
other line separators, and the characters that change the direction of text.
"""


def sanitized(text: str) -> str:
    """Return the text with each control character replaced by a visible one."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def sanitize_terminals() -> None:
    """Make standard output and error print only sanitized text to terminals; files and pipes are unaffected."""
    sys.stdout, sys.stderr = sanitize_stream(sys.stdout), sanitize_stream(sys.stderr)


def sanitize_stream(stream: TextIO) -> TextIO:
    """Return the stream, or a sanitizing replacement if it is a terminal; the original cannot be used afterwards."""
    if not isinstance(stream, io.TextIOWrapper) or not stream.isatty():
        return stream
    form, errors = stream.encoding, stream.errors
    return _Sanitized(stream.detach(), encoding=form, errors=errors, line_buffering=True)


class _Sanitized(io.TextIOWrapper):
    def write(self, text: str, /) -> int:
        super().write(sanitized(text))
        return len(text)


def write_as_it_is(stream: TextIO, text: str) -> None:
    """Write text that contains our own control characters. Any text from others in it must have been
    sanitized before.
    """
    write = super(_Sanitized, stream).write if isinstance(stream, _Sanitized) else stream.write
    write(text)
