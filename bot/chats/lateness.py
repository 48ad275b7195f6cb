"""Whether a message arrives too late to be acted on without asking; the same on every platform."""

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
        """Whether the message is too old."""
        return self._clock() - written > STALE_SECONDS

    def is_stale(self, written: float, command: str | None) -> bool:
        """Whether a person must confirm it. An earlier process may have acted on a message from before this process
        began, and been killed before it could confirm that to the platform. Only tasks are recognised by their
        event.
        """
        return self.is_late(written) or (written + _DOUBT_SECONDS < self._began and not orders_work(command))
