"""A reader that has enough and closes the pipe, as `head` does: the command ends there, without a word."""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import Final, TextIO

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
