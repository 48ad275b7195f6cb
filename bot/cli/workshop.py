"""`opengui workshop`: the process in whose rooms shell and Python run.

It reads no settings, so that it has no secret.
"""

from __future__ import annotations

import argparse

from bot.workshop.__main__ import serve


def workshop(options: argparse.Namespace) -> int:
    """Serve until a signal; the exit code."""
    return serve(options)
