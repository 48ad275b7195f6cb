"""Exit codes, which encode a task's outcome, and the errors that end a command."""

from __future__ import annotations

from typing import Final

from agent.run import Outcome

OK: Final = 0
USAGE: Final = 64
"""The command line or a setting is wrong (EX_USAGE in sysexits.h)."""
UNAVAILABLE: Final = 69
"""Something that the command needs is not available (EX_UNAVAILABLE in sysexits.h)."""

FAULT: Final = 70
"""The program itself has a fault (EX_SOFTWARE in sysexits.h)."""

OF_OUTCOME: Final = {
    Outcome.SUCCEEDED: 0,
    Outcome.UNVERIFIED: 2,
    Outcome.BLOCKED: 3,
    Outcome.FAILED: 4,
    Outcome.CANCELLED: 5,
    Outcome.ANSWERED: 6,
    Outcome.DECLINED: 7,
}


class Refused(Exception):
    """A command cannot be carried out as it was given; the text says why."""


class ServiceGone(Exception):
    """The running service went away, or gave an unexpected response."""
