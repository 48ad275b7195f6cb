"""Exit codes, which tell the outcome, and what can go wrong for a command."""

from __future__ import annotations

from typing import Final

from agent.outcome import Outcome

OK: Final = 0
USAGE: Final = 64
"""EX_USAGE of sysexits.h: the command line or a setting is wrong."""
UNAVAILABLE: Final = 69
"""EX_UNAVAILABLE of sysexits.h: something that is needed is not there."""

FAULT: Final = 70
"""EX_SOFTWARE of sysexits.h: a fault in the program itself."""

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
    """What was asked for cannot be done as it was asked."""


class ServiceGone(Exception):
    """The running service went away, or answers what it should not."""
