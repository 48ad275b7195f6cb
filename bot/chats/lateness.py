"""Decides whether a message arrives too late to be acted on without asking. The rules are the same on every
platform.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bot.domain.incoming import orders_work

STALE_SECONDS: Final = 300.0
"""Age in seconds at which a message (sent while the service or connection was down) is listed instead of executed;
our choice. Longer than a restart or an update takes, shorter than people wait before they do it on the phone
themselves.
"""

_DOUBT_SECONDS: Final = 1.0
"""Uncertainty of a message's time: some platforms give whole seconds."""


class Lateness:
    """Judges messages by their age, and by when this process began to listen. `clock` returns Unix seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._began = clock()

    def is_late(self, written: float) -> bool:
        """Return whether a message written at this time (Unix seconds) is too old to be acted on without asking."""
        return self._clock() - written > STALE_SECONDS

    def is_stale(self, written: float, command: str | None) -> bool:
        """Return whether a person must confirm the message before it is acted on: because it is too old, or because it
        was written before this process began. `command` is the command in it, None for other text.

        An earlier process may have acted on such a message and been killed before it could confirm that to the
        platform. Only the command `do`, which starts a task, is exempt: a repeated one is recognised by its event id.
        """
        return self.is_late(written) or (written + _DOUBT_SECONDS < self._began and not orders_work(command))
